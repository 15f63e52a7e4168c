//go:build servers

package servers

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/internal/redistest"
)

// proxy is an address whose server the test chooses, as a name of a managed service is.
type proxy struct {
	addr string

	mu      sync.Mutex
	target  string
	delay   time.Duration // of each answer, and of a new connection
	swallow bool          // answers do not come
	cut     bool          // a connection is closed in the middle of an answer
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{addr: listener.Addr().String(), target: target}
	var copying sync.WaitGroup
	copying.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			server, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.target)
			delay := p.delay
			p.mu.Unlock()
			if err != nil {
				_ = client.Close()
				continue
			}
			copying.Go(func() {
				_ = clock.System{}.Sleep(t.Context(), delay)
				_, _ = io.Copy(server, client)
				_ = server.Close()
			})
			copying.Go(func() {
				p.answers(t, client, server)
				_ = client.Close()
				_ = server.Close()
			})
		}
	})
	t.Cleanup(func() { // after the fleets and before the servers, so that each connection has ended on one side
		_ = listener.Close()
		copying.Wait()
	})
	return p
}

func (p *proxy) answers(t *testing.T, client, server net.Conn) {
	t.Helper()
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		delay, swallow, cut := p.delay, p.swallow, p.cut
		p.mu.Unlock()
		_ = clock.System{}.Sleep(t.Context(), delay)
		switch {
		case swallow:
		case cut:
			_, _ = client.Write(buffer[:n/2])
			return
		default:
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
}

func (p *proxy) set(change func(p *proxy)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func TestFleetFollowsItsNameToANewMaster(t *testing.T) {
	t.Parallel()
	old, promoted := redistest.Start(t), redistest.Start(t)
	p := startProxy(t, old.Addr)
	do(t, promoted, "REPLICAOF "+hostPort(t, old.Addr))
	w := begin(t, redis.UniversalOptions{Addrs: []string{p.addr}}, false, "orders")
	w.survives(t, 3*time.Second, func() (mend func()) {
		// The old master lives on as a replica, and its connections stay open.
		do(t, promoted, "REPLICAOF NO ONE")
		do(t, old, "REPLICAOF "+hostPort(t, promoted.Addr))
		p.set(func(p *proxy) { p.target = promoted.Addr })
		return nil
	}, fleet.Lost, fleet.Back)
}

func hostPort(t *testing.T, addr string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	return host + " " + port
}

// A connection takes three round trips until the first command: TCP, HELLO and a command that the server does not know yet.
func TestFleetFarFromItsStore(t *testing.T) {
	t.Parallel()
	p := startProxy(t, redistest.Start(t).Addr)
	p.set(func(p *proxy) { p.delay = 200 * time.Millisecond })
	began := time.Now()
	w := beginWith(t, 40, 1, redis.UniversalOptions{Addrs: []string{p.addr}}, true, "orders")
	joined := func() bool {
		return !slices.ContainsFunc(w.processes, func(p *process) bool {
			members := p.fleet.Snapshot()
			return len(members) == 0 || members[0].State != fleet.Slots
		})
	}
	require.Eventually(t, joined, 10*time.Second, 10*time.Millisecond, "not all members are in the state slots")
	t.Logf("all 40 members are in slots after %v", time.Since(began).Round(10*time.Millisecond))
}
