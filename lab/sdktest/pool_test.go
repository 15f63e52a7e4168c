//go:build long

package sdktest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
)

// counted counts the throttles of a meter.
type counted struct {
	meter

	mu        sync.Mutex
	throttles int // guarded by mu
}

func (c *counted) Do(r *http.Request) (*http.Response, error) {
	answer, err := c.meter.Do(r)
	if err == nil && answer.StatusCode != http.StatusOK {
		c.mu.Lock()
		c.throttles++
		c.mu.Unlock()
	}
	return answer, err
}

// tableCalls is what became of the calls of a table.
type tableCalls struct {
	traffic

	throttles int
}

func (s *tableCalls) failed() float64 {
	return float64(s.traffic.failed) / float64(s.traffic.failed+s.succeeded)
}

// TestHealthyTableHelpsTheThrottledOne prints a table of docs/modes.md with -v. Workers call again
// after 50 ms, in standard mode. A quota of its own alone would leave table A without retries: then nine of
// ten of its calls fail, where one of eight does with the SDK.
func TestHealthyTableHelpsTheThrottledOne(t *testing.T) {
	// The client of DynamoDB that goes with the SDK's v1.48.0 makes four attempts, and this one with that.
	t.Setenv("AWS_NEW_RETRIES_2026", "true")
	lines := []string{"| | workers of A / B | A, failed | A, succeeded/s | A, throttles/s | B, failed | B/s |", "|---|---|---|---|---|---|---|"}
	for _, load := range []struct{ a, b int }{{8, 8}, {8, 2}, {8, 0}} {
		failed := map[string]float64{}
		for _, name := range []string{"aws-sdk-go-v2", "awsretry"} {
			var a, b tableCalls
			for range 5 {
				synctest.Test(t, func(t *testing.T) {
					service := &counted{meter: meter{pair: twoTables}}
					cfg := configFor(service)
					if name == "awsretry" {
						cfg = installed(t, service, hermetic(awsretry.WithMode(awsretry.ModeStandard)))
					}
					callA, callB := twoTables.calls(cfg)
					pausing(t, callA, load.a, &a, callB, load.b, &b)
					a.throttles += service.throttles
				})
			}
			failed[name] = a.failed()
			seconds := 5 * (warmUp + measured).Seconds()
			line := fmt.Sprintf("| %s | %d / %d | %.1f %% | %.1f | %.0f |", name, load.a, load.b,
				100*a.failed(), float64(a.succeeded)/seconds, float64(a.throttles)/seconds)
			if load.b > 0 {
				line += fmt.Sprintf(" %.1f %% | %.0f |", 100*b.failed(), float64(b.succeeded)/seconds)
			} else {
				line += " - | - |"
			}
			lines = append(lines, line)
			require.Zero(t, b.traffic.failed, name)
		}
		if load.b > 0 { // else it depends on the jitter how long the tokens last
			require.Less(t, failed["awsretry"], failed["aws-sdk-go-v2"]+0.05, "%+v", load)
		}
	}
	t.Log(strings.Join(lines, "\n"))
}

// pausing lets workers of both tables make calls, with 50 ms between them.
func pausing(t *testing.T, callA func(context.Context) error, ofA int, a *tableCalls, callB func(context.Context) error, ofB int, b *tableCalls) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	start := func(workers int, call func(context.Context) error, done *tableCalls) {
		for range workers {
			all.Go(func() {
				for ctx.Err() == nil {
					work(ctx, func(ctx context.Context) error {
						defer pause(latency)
						return call(ctx)
					}, &done.traffic, time.Time{})
				}
			})
		}
	}
	start(ofA, callA, a)
	start(ofB, callB, b)
	pause(warmUp + measured)
	cancel()
	all.Wait()
}
