//go:build servers

package nginx

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/adaptive"
)

// limit is what nginx allows, in requests a second.
const limit = 10

const conf = `daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events {}
http {
	access_log off;
	client_body_temp_path .;
	proxy_temp_path .;
	fastcgi_temp_path .;
	uwsgi_temp_path .;
	scgi_temp_path .;
	limit_req_zone $server_name zone=all:1m rate=%dr/s;
	limit_req_status 429;
	server {
		listen %s;
		server_name limited;
		location / {
			limit_req zone=all burst=%d nodelay;
			root .;
		}
	}
}
`

// start runs nginx with a burst on a free port until the end of the test, and returns the address.
func start(t *testing.T, burst int) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../scripts/nginx").Output()
	require.NoError(t, err, "lab/scripts/nginx")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("served\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), fmt.Appendf(nil, conf, limit, address, burst), 0o600))
	nginx := exec.CommandContext(t.Context(), strings.TrimSpace(string(out)), "-p", dir, "-c", "nginx.conf") //nolint:gosec // a program of ours
	nginx.Stderr = t.Output()
	require.NoError(t, nginx.Start())
	t.Cleanup(func() { _ = nginx.Wait() }) // The end of the context of the test has killed it.
	require.Eventually(t, func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			err = conn.Close()
		}
		return err == nil
	}, 5*time.Second, 10*time.Millisecond)
	return address
}

// counting counts the answers of attempts.
type counting struct{ served, throttled atomic.Int64 }

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	switch {
	case err != nil:
	case response.StatusCode == http.StatusTooManyRequests:
		c.throttled.Add(1)
	default:
		c.served.Add(1)
	}
	return response, err
}

// TestAdaptiveModeStaysBelowTheLimitOfNginx has six workers that ask for as much as they get. After half a minute, a
// minute counts. It is not held to what it reaches on a machine with nothing else to do: a process that is held up sends in
// bursts.
func TestAdaptiveModeStaysBelowTheLimitOfNginx(t *testing.T) {
	t.Parallel()
	for _, burst := range []int{2, 20} {
		t.Run(fmt.Sprintf("burst %d", burst), func(t *testing.T) {
			t.Parallel()
			goodput, throttled := play(t, start(t, burst))
			t.Logf("%.3f R, %.2f %% throttled", goodput, 100*throttled)
			require.GreaterOrEqual(t, goodput, 0.85)
			require.LessOrEqual(t, throttled, 0.05)
		})
	}
}

func play(t *testing.T, address string) (goodput, throttled float64) {
	t.Helper()
	strategy, err := adaptive.New(adaptive.Config{})
	require.NoError(t, err)
	answers := new(counting)
	transport, err := httpretry.New(httpretry.Config{Strategy: strategy, Base: answers})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	for range 6 {
		workers.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/file", http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				if response, err := transport.RoundTrip(r); err == nil {
					_ = response.Body.Close()
				}
			}
		})
	}
	_ = clock.System{}.Sleep(ctx, 30*time.Second)
	served, refused := answers.served.Load(), answers.throttled.Load()
	_ = clock.System{}.Sleep(ctx, time.Minute)
	served, refused = answers.served.Load()-served, answers.throttled.Load()-refused
	stop()
	workers.Wait()
	return float64(served) / (limit * 60), float64(refused) / float64(served+refused)
}
