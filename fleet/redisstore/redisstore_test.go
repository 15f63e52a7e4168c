package redisstore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

const key = "f2-00000000:test:orders"

var run = list("3", "100", "0", "2", "0.25", "0.01", "state")

func newStore(t *testing.T, addr string) *redisstore.Store {
	t.Helper()
	return storeOf(t, redis.UniversalOptions{Addrs: []string{addr}, ReadTimeout: time.Minute}) // for a slow machine
}

// storeOf returns a store that is closed at the end of the test.
func storeOf(t *testing.T, options redis.UniversalOptions) *redisstore.Store {
	t.Helper()
	store, err := redisstore.New(redisstore.Config{Options: &options})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// fakeServer answers EVALSHA and EVAL as the test says, and keeps the commands.
type fakeServer struct {
	addr string
	// answer returns the bytes of an answer; none closes the connection.
	answer func(command []string) string
	trip   time.Duration // how long a round trip takes

	mu       sync.Mutex
	commands []string
	opened   int
	open     map[net.Conn]struct{}
	serving  sync.WaitGroup
}

func startFake(t *testing.T, answer func(command []string) string) *fakeServer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f := &fakeServer{addr: listener.Addr().String(), answer: answer, open: map[net.Conn]struct{}{}}
	f.serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.accept(conn)
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		f.mu.Lock()
		for conn := range f.open {
			_ = conn.Close()
		}
		f.mu.Unlock()
		f.serving.Wait()
	})
	return f
}

// dial connects to the server without a network.
func (f *fakeServer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := (clock.System{}).Sleep(ctx, f.trip); err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	f.accept(far)
	return near, nil
}

func (f *fakeServer) accept(conn net.Conn) {
	f.mu.Lock()
	f.opened++
	f.open[conn] = struct{}{}
	f.mu.Unlock()
	f.serving.Go(func() {
		f.serve(conn)
		_ = conn.Close()
		f.mu.Lock()
		delete(f.open, conn)
		f.mu.Unlock()
	})
}

func (f *fakeServer) serve(conn net.Conn) {
	reader := bufio.NewReader(conn)
	for {
		command, err := readCommand(reader)
		if err != nil {
			return
		}
		f.mu.Lock()
		f.commands = append(f.commands, strings.ToUpper(command[0]))
		f.mu.Unlock()
		answer := f.reply(command)
		_ = clock.System{}.Sleep(context.Background(), f.trip)
		if answer == "" {
			return
		}
		if _, err := io.WriteString(conn, answer); err != nil {
			return
		}
	}
}

// reply answers as a cluster of one node does, and as a Sentinel of that node.
func (f *fakeServer) reply(command []string) string {
	switch strings.ToUpper(command[0]) {
	case "EVALSHA", "EVAL":
		return f.answer(command)
	case "HELLO":
		return "%1\r\n+proto\r\n:3\r\n"
	case "SENTINEL":
		if strings.EqualFold(command[1], "get-master-addr-by-name") {
			host, port, _ := net.SplitHostPort(f.addr)
			return list(host, port)
		}
		return "*0\r\n" // there are no other Sentinels
	case "ASKING":
		return "+OK\r\n"
	case "CLUSTER":
		host, port, _ := net.SplitHostPort(f.addr)
		return fmt.Sprintf("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$%d\r\n%s\r\n:%s\r\n", len(host), host, port)
	default:
		return "-ERR unknown command\r\n"
	}
}

// traffic is how many connections were opened and are open, and how often each script command came.
type traffic struct{ opened, open, evalsha, eval int }

func (f *fakeServer) counts() traffic {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := traffic{opened: f.opened, open: len(f.open)}
	for _, command := range f.commands {
		switch command {
		case "EVALSHA":
			n.evalsha++
		case "EVAL":
			n.eval++
		}
	}
	return n
}

func (f *fakeServer) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.commands)
}

func readCommand(r *bufio.Reader) ([]string, error) {
	length := func() (int, error) {
		line, err := r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	n, err := length()
	if err != nil {
		return nil, err
	}
	command := make([]string, n)
	for i := range command {
		size, err := length()
		if err != nil {
			return nil, err
		}
		text := make([]byte, size+2)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		command[i] = string(text[:size])
	}
	return command, nil
}

// list is an answer of strings.
func list(fields ...string) string {
	var answer strings.Builder
	fmt.Fprintf(&answer, "*%d\r\n", len(fields))
	for _, field := range fields {
		fmt.Fprintf(&answer, "$%d\r\n%s\r\n", len(field), field)
	}
	return answer.String()
}

const (
	far         = 200 * time.Millisecond // a round trip
	callTimeout = 250 * time.Millisecond
)

// startFar starts a server so far away, in a bubble, and a store that uses it.
func startFar(t *testing.T, trip time.Duration, answer func(command []string) string) (*fakeServer, *redisstore.Store) {
	t.Helper()
	server := &fakeServer{addr: "127.0.0.1:6379", answer: answer, trip: trip, open: map[net.Conn]struct{}{}}
	t.Cleanup(server.serving.Wait)
	return server, storeOf(t, redis.UniversalOptions{Addrs: []string{server.addr}, Dialer: server.dial, ReadTimeout: time.Minute})
}

func callFar(t *testing.T, store fleet.Store, want int) (fleet.Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
	defer cancel()
	return store.Call(ctx, key, fleet.Ask{Want: float64(want)})
}

func sleep(t *testing.T, d time.Duration) {
	t.Helper()
	_ = clock.System{}.Sleep(t.Context(), d)
}
