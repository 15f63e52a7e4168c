//go:build long

package sdktest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// The load: 50 calls a second for two minutes. A service may become slower after one.
const (
	callsPerSecond = 50
	loaded         = 2 * time.Minute
	slowFrom       = time.Minute
	settledFrom    = slowFrom + 10*time.Second
)

// proxy answers after 5 ms at the median, and 14 ms at the 99th percentile. It delays a share of the
// requests by two seconds, or becomes slower as a whole.
type proxy struct {
	began  time.Time
	share  float64 // of requests with a delay
	factor float64 // by which everything is slower after a minute

	mu       sync.Mutex // guards all below
	random   *rand.Rand
	requests []time.Duration // when each came, since the begin
}

func (p *proxy) Do(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	at := time.Since(p.began)
	p.requests = append(p.requests, at)
	took := 5 * math.Exp(0.44*p.random.NormFloat64())
	delayed := p.random.Float64() < p.share
	p.mu.Unlock()
	if at >= slowFrom {
		took *= p.factor
	}
	d := time.Duration(took * float64(time.Millisecond))
	if delayed {
		d += 2 * time.Second
	}
	if err := (clock.System{}).Sleep(r.Context(), d); err != nil {
		return nil, err
	}
	return response(200, "{}"), nil
}

// since counts the requests after an instant.
func (p *proxy) since(at time.Duration) (n int) {
	for _, request := range p.requests {
		if request >= at {
			n++
		}
	}
	return n
}

// figures are what the calls of a run took. All of a run, and those that began when it had settled.
type figures struct {
	took              []time.Duration
	failed            int
	extra, extraAfter float64 // requests above the calls, as a share of these
	calls, callsAfter int
}

func (f *figures) quantile(q float64) time.Duration {
	return f.took[int(q*float64(len(f.took)-1))]
}

func (f *figures) String() string {
	return fmt.Sprintf("%.0f ms | %.0f ms | %.1f %% | %.1f %% | %d of %d",
		f.quantile(0.5).Seconds()*1e3, f.quantile(0.99).Seconds()*1e3, 100*f.extra, 100*f.extraAfter, f.failed, f.calls)
}

// play makes the calls. A seed gives all clients the same service, as far as their requests are the same.
func (p *proxy) play(t *testing.T, config func(t *testing.T, client aws.HTTPClient) aws.Config, seed uint64) *figures {
	t.Helper()
	f := &figures{}
	synctest.Test(t, func(t *testing.T) {
		p.began, p.random = time.Now(), rand.New(rand.NewPCG(seed, 1))
		cfg := config(t, p)
		cfg.Credentials = aws.AnonymousCredentials{} // a signature takes time and says nothing here
		call := getItem(dynamodb.NewFromConfig(cfg), "orders")
		var mu sync.Mutex // guards f
		var all sync.WaitGroup
		for at := time.Duration(0); at < loaded; at += time.Second / callsPerSecond {
			sleep(context.Background(), at-time.Since(p.began))
			f.calls++
			if at >= settledFrom {
				f.callsAfter++
			}
			all.Go(func() {
				began := time.Now()
				err := call(t.Context())
				mu.Lock()
				defer mu.Unlock()
				f.took = append(f.took, time.Since(began))
				if err != nil {
					f.failed++
				}
			})
		}
		all.Wait()
	})
	slices.Sort(f.took)
	f.extra = float64(len(p.requests)-f.calls) / float64(f.calls)
	f.extraAfter = float64(p.since(settledFrom)-f.callsAfter) / float64(f.callsAfter)
	return f
}

// TestSlowAttemptsAreSentAgain prints two tables with -v: requests that are delayed one by one, and a
// service that becomes slower as a whole.
func TestSlowAttemptsAreSentAgain(t *testing.T) {
	clients := []struct {
		name   string
		config func(t *testing.T, client aws.HTTPClient) aws.Config
	}{
		{"aws-sdk-go-v2", rivals[0].config},
		{"awsretry, no timeout", rivals[2].config},
		{"awsretry, 25 ms, growing", func(t *testing.T, client aws.HTTPClient) aws.Config {
			t.Helper()
			return installed(t, client, hermetic(), awssdk.WithAttemptTimeout(retry.FixedTimeout{First: 25 * time.Millisecond, Factor: 2}))
		}},
		{"awsretry, 3 times the 90th percentile", func(t *testing.T, client aws.HTTPClient) aws.Config {
			t.Helper()
			return installed(t, client, hermetic(), awssdk.WithAttemptTimeout(learned(t)))
		}},
	}
	const last = 3
	for _, c := range []struct {
		name          string
		share, factor float64
		holds         func(t *testing.T, plain, with *figures)
	}{
		{"3 % of the requests are delayed by 2 s", 0.03, 1, func(t *testing.T, plain, with *figures) {
			t.Helper()
			require.LessOrEqual(t, with.quantile(0.99), plain.quantile(0.99)/5)
			require.LessOrEqual(t, with.extra, 0.05)
		}},
		{"everything becomes slower by a factor of 5", 0, 5, func(t *testing.T, _, with *figures) {
			t.Helper()
			require.LessOrEqual(t, with.extraAfter, 0.05)
		}},
		{"both", 0.03, 5, func(t *testing.T, plain, with *figures) {
			t.Helper()
			require.LessOrEqual(t, with.quantile(0.99), plain.quantile(0.99)/5)
			require.LessOrEqual(t, with.extraAfter, 0.05)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Log("| | p50 | p99 | extra requests | after 10 s | calls that fail |")
			seeds := uint64(1)
			if testing.Verbose() {
				seeds = 3
			}
			for seed := range seeds {
				rows := make([]*figures, len(clients))
				for i, client := range clients {
					if 0 < i && i < last && !testing.Verbose() {
						continue
					}
					p := &proxy{share: c.share, factor: c.factor}
					rows[i] = p.play(t, client.config, seed)
					t.Logf("| %s | %s |", client.name, rows[i])
				}
				for i, name := range []string{"aws-sdk-go-v2", "", "fixed: 25 ms, growing", "learned: 3 times the 90th percentile"} {
					switch {
					case name == "" || rows[i] == nil:
					case c.factor == 1:
						requireFigures(t, "clients.md", "| "+name+" | N ms |", 1.5, rows[i].quantile(0.99).Seconds()*1000)
					case c.share == 0:
						requireFigures(t, "clients.md", "| "+name+" | N ms | N %", 1.5, math.NaN(), 100*rows[i].extraAfter)
					}
				}
				c.holds(t, rows[0], rows[last])
				require.LessOrEqual(t, rows[last].failed, rows[0].failed)
			}
		})
	}
}
