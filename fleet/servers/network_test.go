//go:build servers

package servers

import (
	"io"
	"net"
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

func TestFleetBehindANetwork(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault func(p *proxy)
		want  []fleet.EventKind
	}{
		"50 ms away":         {fault: func(p *proxy) { p.delay = 50 * time.Millisecond }},
		"400 ms away":        {func(p *proxy) { p.delay = 400 * time.Millisecond }, []fleet.EventKind{fleet.Lost, fleet.Back}},
		"answers are lost":   {func(p *proxy) { p.swallow = true }, []fleet.EventKind{fleet.Lost, fleet.Back}},
		"cut in mid-answer":  {func(p *proxy) { p.cut = true }, []fleet.EventKind{fleet.Lost, fleet.Back}},
		"no server any more": {func(p *proxy) { p.cut, p.target = true, "127.0.0.1:1" }, []fleet.EventKind{fleet.Lost, fleet.Back}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			p := startProxy(t, server.Addr)
			w := begin(t, redis.UniversalOptions{Addrs: []string{p.addr}}, false, "orders")
			w.warm(t)
			w.sane(t, "before", 2*time.Second)

			p.set(tt.fault)
			w.sane(t, "during", 8*time.Second) // the client is made anew in it
			p.set(func(p *proxy) { p.target, p.delay, p.swallow, p.cut = server.Addr, 0, false, false })
			rest(t, 3*time.Second)
			w.settled(t, 0, fleet.Slots)
			w.sane(t, "after", 3*time.Second)

			w.told(t, 0, tt.want...)
		})
	}
}

func TestFleetFollowsItsNameToANewMaster(t *testing.T) {
	t.Parallel()
	old, promoted := redistest.Start(t), redistest.Start(t)
	p := startProxy(t, old.Addr)
	do(t, promoted, "REPLICAOF "+hostPort(t, old.Addr))
	w := begin(t, redis.UniversalOptions{Addrs: []string{p.addr}}, false, "orders")
	w.warm(t)
	w.sane(t, "before", 2*time.Second)
	epoch := w.epoch(0)

	// The old master lives on as a replica, and its connections stay open.
	do(t, promoted, "REPLICAOF NO ONE")
	do(t, old, "REPLICAOF "+hostPort(t, promoted.Addr))
	p.set(func(p *proxy) { p.target = promoted.Addr })
	w.sane(t, "during", 3*time.Second)
	w.settled(t, 0, fleet.Slots)
	w.sane(t, "after", 3*time.Second)

	w.told(t, 0, fleet.Lost, fleet.Back)
	require.GreaterOrEqual(t, w.epoch(0), epoch)
}

func hostPort(t *testing.T, addr string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	return host + " " + port
}
