// Package redistest runs redis-server and compares the script of redisstore with [fleet.Step],
// for tests only.
package redistest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// Server is a redis-server on a free port of the loopback interface. It ends with the test.
type Server struct {
	Addr   string
	Client *redis.Client // for the test itself

	args    []string
	process *os.Process
	ended   chan struct{}
	guard   *exec.Cmd
}

// Start starts a server that keeps nothing on disk. Without redis-server it skips the test, but not
// in continuous integration.
func Start(t *testing.T, args ...string) *Server {
	t.Helper()
	s := &Server{Addr: freeAddr(t)}
	host, port, err := net.SplitHostPort(s.Addr)
	require.NoError(t, err)
	s.args = append([]string{
		Find(t), "--bind", host, "--port", port, "--dir", t.TempDir(), "--save", "", "--appendonly", "no",
		"--protected-mode", "no", "--loglevel", "warning",
	}, args...)
	s.Client = redis.NewClient(&redis.Options{Addr: s.Addr, DisableIdentity: true, MaxRetries: -1})
	t.Cleanup(func() { // also if Run fails
		s.Kill(t)
		require.NoError(t, s.Client.Close())
	})
	s.Run(t)
	return s
}

// Run starts the process, and returns when it answers.
func (s *Server) Run(t *testing.T) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(s.args[0], s.args[1:]...) //nolint:noctx // Kill ends it, after the context of the test
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	s.process, s.ended = cmd.Process, ended
	s.guard = startGuard(t, cmd.Process.Pid)
	require.Eventually(t, func() bool {
		select {
		case <-ended:
			return true
		default:
			return s.Client.Ping(t.Context()).Err() == nil
		}
	}, 10*time.Second, 10*time.Millisecond, "redis-server does not answer")
	select {
	case <-ended:
		require.FailNow(t, "redis-server has ended", out.String())
	default:
	}
}

// Kill ends the process, also one that is stopped.
func (s *Server) Kill(t *testing.T) {
	t.Helper()
	if s.guard == nil {
		return
	}
	_ = s.guard.Process.Kill()
	_ = s.guard.Wait() // says that it was killed
	s.guard = nil
	_ = s.process.Kill() // an error means that it has ended
	<-s.ended
}

// startGuard starts a process that kills another one if the test program ends before it has called
// Kill: a panic or the time limit of go test runs no Cleanup.
func startGuard(t *testing.T, pid int) *exec.Cmd {
	t.Helper()
	guard := exec.Command("sh", "-c", `read -r line; kill -9 "$1"`, "sh", strconv.Itoa(pid)) //nolint:noctx // Kill ends it
	_, err := guard.StdinPipe()                                                              // closed when this program ends
	require.NoError(t, err)
	require.NoError(t, guard.Start())
	return guard
}

// Signal sends the process a signal.
func (s *Server) Signal(t *testing.T, signal os.Signal) {
	t.Helper()
	require.NoError(t, s.process.Signal(signal))
}

func freeAddr(t *testing.T) string {
	t.Helper()
	// A cluster also needs the port that is 10,000 higher.
	for {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addr := listener.Addr().String()
		require.NoError(t, listener.Close())
		_, port, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		if n, err := strconv.Atoi(port); err == nil && n < 55000 {
			return addr
		}
	}
}

// Find returns the path of redis-server. It looks on PATH, then where lab/scripts/redis puts it.
func Find(t *testing.T) string {
	t.Helper()
	if path, err := exec.LookPath("redis-server"); err == nil {
		return path
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; ; dir = filepath.Dir(dir) {
		if path, err := exec.LookPath(filepath.Join(dir, ".bin", "redis", "redis-server")); err == nil {
			return path
		}
		if dir != filepath.Dir(dir) {
			continue
		}
		const missing = "no redis-server on PATH or in .bin/redis: run lab/scripts/redis"
		if os.Getenv("CI") == "" { //nolint:forbidigo // says where the test runs
			t.Skip(missing)
		}
		require.FailNow(t, missing)
	}
}
