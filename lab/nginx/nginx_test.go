//go:build servers

package nginx

import (
	"context"
	"fmt"
	"math"
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

	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// limited is a place of nginx with a limit of its own.
type limited struct {
	rate  int // requests a second
	burst int // beyond the first request
}

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
	limit_req_status 429;
%s	server {
		listen %s;
		server_name limited;
		root .;
%s	}
}
`

// start runs nginx with these places on a free port until the end of the test, and returns the URL of each.
func start(t *testing.T, places []limited) (urls []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "../scripts/nginx").Output()
	require.NoError(t, err, "lab/scripts/nginx")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	dir := t.TempDir()
	var zones, locations strings.Builder
	for i, p := range places {
		name := fmt.Sprintf("place%d", i)
		urls = append(urls, fmt.Sprintf("http://%s/%s", address, name))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("served\n"), 0o600))
		fmt.Fprintf(&zones, "\tlimit_req_zone $server_name zone=%s:1m rate=%dr/s;\n", name, p.rate)
		burst := ""
		if p.burst > 0 {
			burst = fmt.Sprintf(" burst=%d nodelay", p.burst)
		}
		fmt.Fprintf(&locations, "\t\tlocation = /%s { limit_req zone=%s%s; }\n", name, name, burst)
	}
	text := fmt.Appendf(nil, conf, zones.String(), address, locations.String())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), text, 0o600))
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
	return urls
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

// maker makes a client, which shares nothing with another, as if it were in a process of its own. It returns what makes a call.
type maker func(t *testing.T, answers *counting) func(*http.Request)

// ours is adaptive mode, with what is known of the limit.
func ours(known adaptive.SendLimit) maker {
	return func(t *testing.T, answers *counting) func(*http.Request) {
		t.Helper()
		strategy, err := adaptive.New(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return known }})
		require.NoError(t, err)
		transport, err := httpretry.New(httpretry.Config{Strategy: strategy, Base: answers})
		require.NoError(t, err)
		return func(r *http.Request) {
			if response, err := transport.RoundTrip(r); err == nil {
				_ = response.Body.Close()
			}
		}
	}
}

// plain is the SDK's loop with its adaptive mode.
func plain(_ *testing.T, answers *counting) func(*http.Request) {
	loop := awsretryer.NewAttemptMiddleware(awsretryer.NewAdaptiveMode(), func(request any) any { return request })
	return func(r *http.Request) {
		_, _, _ = loop.HandleFinalize(r.Context(), middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(
			func(context.Context, middleware.FinalizeInput) (out middleware.FinalizeOutput, m middleware.Metadata, err error) {
				response, err := answers.RoundTrip(r)
				if err == nil {
					err = response.Body.Close()
					if response.StatusCode == http.StatusTooManyRequests {
						err = &smithy.GenericAPIError{Code: "ThrottlingException"}
					}
				}
				return out, m, err
			}))
	}
}

// cell is a cell of a table: processes that share a place.
type cell struct {
	limited

	processes int
	make      maker
}

// rows are cells with as many processes: the default, then with the limit known, each process its part, then the SDK's.
func rows(limit limited, processes int) []cell {
	n := float64(processes)
	known := adaptive.SendLimit{Ceiling: ratelimit.Rate(float64(limit.rate) / n), Burst: max(1, float64(limit.burst+1)/n)}
	return []cell{{limit, processes, ours(adaptive.SendLimit{})}, {limit, processes, ours(known)}, {limit, processes, plain}}
}

// figures are shares: of what nginx allows, of the answers, and of what each process should get that of the one with least.
type figures struct{ goodput, throttled, least float64 }

func (f figures) String() string {
	return fmt.Sprintf("%.2f R, %.1f %%, %.2f", f.goodput, 100*f.throttled, f.least)
}

// TestAdaptiveModeStaysBelowTheLimitOfNginx has six workers in each process that ask for as much as they get. After half a
// minute, a minute counts. With -v it prints a table.
func TestAdaptiveModeStaysBelowTheLimitOfNginx(t *testing.T) {
	var cells []cell
	for _, burst := range []int{0, 1, 2, 20} {
		for _, processes := range []int{1, 2, 4} {
			cells = append(cells, rows(limited{10, burst}, processes)...)
		}
	}
	for i, got := range play(t, cells) {
		// It is not held to what it reaches on a machine with nothing else to do: a process that is held up sends in bursts.
		if c := cells[i]; c.burst > 1 && c.processes == 1 && i%3 < 2 {
			require.GreaterOrEqual(t, got.goodput, 0.85)
			require.LessOrEqual(t, got.throttled, 0.05)
		}
	}
}

// TestAdaptiveModeOnABusyMachine plays one process beside two that keep two processors busy.
func TestAdaptiveModeOnABusyMachine(t *testing.T) {
	keepBusy(t)
	var cells []cell
	for _, burst := range []int{0, 1, 2, 20} {
		cells = append(cells, rows(limited{10, burst}, 1)...)
	}
	play(t, cells)
}

// TestCallsAtOnceOnABusyMachine has 200 calls at once and a known limit of 20 a second with a burst of 100.
func TestCallsAtOnceOnABusyMachine(t *testing.T) {
	keepBusy(t)
	answers := new(counting)
	call := ours(adaptive.SendLimit{Ceiling: 20, Burst: 100})(t, answers)
	url := start(t, []limited{{20, 99}})[0]
	var calls sync.WaitGroup
	for range 200 {
		calls.Go(func() { call(request(t.Context(), url)) })
	}
	calls.Wait()
	require.Equal(t, int64(200), answers.served.Load())
	throttled := answers.throttled.Load()
	t.Logf("of 200 calls at once, %d throttles", throttled)
	require.LessOrEqual(t, throttled, int64(2)) // one arrives too soon after the first, which took longest to connect
}

// keepBusy runs two loops until the end of the test.
func keepBusy(t *testing.T) {
	t.Helper()
	for range 2 {
		loop := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		require.NoError(t, loop.Start())
		t.Cleanup(func() { _ = loop.Wait() })
	}
}

// play plays all cells at once and prints them, three in a row.
func play(t *testing.T, cells []cell) []figures {
	t.Helper()
	var places []limited
	for _, c := range cells {
		places = append(places, c.limited)
	}
	urls := start(t, places)
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	answers := make([][]*counting, len(cells))
	for i, c := range cells {
		for range c.processes {
			own := new(counting)
			answers[i] = append(answers[i], own)
			call := c.make(t, own)
			for range 6 {
				workers.Go(func() {
					for ctx.Err() == nil {
						call(request(ctx, urls[i]))
					}
				})
			}
		}
	}
	_ = clock.System{}.Sleep(ctx, 30*time.Second)
	before := count(answers)
	_ = clock.System{}.Sleep(ctx, time.Minute)
	after := count(answers)
	stop()
	workers.Wait()
	all := make([]figures, len(cells))
	var table strings.Builder
	table.WriteString("\n| | awsretry | the limit is known | the SDK's |\n|---|---|---|---|")
	for i, c := range cells {
		served, refused, least := 0.0, 0.0, math.Inf(1)
		for j := range c.processes {
			own := after[i][j][0] - before[i][j][0]
			served, refused, least = served+own, refused+after[i][j][1]-before[i][j][1], min(least, own)
		}
		all[i] = figures{served / float64(60*c.rate), refused / (served + refused), least * float64(c.processes) / served}
		if i%3 == 0 {
			fmt.Fprintf(&table, "\n| burst=%d, %d processes |", c.burst, c.processes)
		}
		fmt.Fprintf(&table, " %v |", all[i])
	}
	t.Log(table.String())
	return all
}

// count returns how many answers of each process are served and throttled.
func count(answers [][]*counting) [][][2]float64 {
	counts := make([][][2]float64, len(answers))
	for i, of := range answers {
		for _, a := range of {
			counts[i] = append(counts[i], [2]float64{float64(a.served.Load()), float64(a.throttled.Load())})
		}
	}
	return counts
}

func request(ctx context.Context, url string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		panic(err) // of a URL of ours
	}
	return r
}
