//go:build long

package telemetry_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/cmd/awsretry/virtual"
	"github.com/awsretry/awsretry/lab/telemetry/internal/record"
	"github.com/awsretry/awsretry/lab/telemetry/outage"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// A thousand tables have the same load, and half of the requests to each fail. No table is worse off than another
// one, so that the hottest ones are others at each scrape. A Prometheus that has scraped three minutes of it says how many
// tables have lines, and how long these are.
func TestSimulatedUniformTroubleMakesFewLines(t *testing.T) {
	t.Parallel()
	const length, every = 3 * time.Minute, 15 * time.Second
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := replay(t, tools(t), &evidence{Recording: uniformTrouble(t, mode == "adaptive", every, length)})
			ask := func(expr string) float64 {
				series, err := server.Query(t.Context(), expr, outage.Start().Add(length))
				require.NoError(t, err)
				require.Len(t, series, 1, expr)
				return series[0].Values[0].Value
			}
			scopes := ask(`count(count by (awsretry_scope) (count_over_time(awsretry_quota_available[181s])))`)
			points := ask(`quantile(0.5, count_over_time(awsretry_quota_available[181s]))`)
			t.Logf("%g scopes with gauges in %g series, the middle one with %g of %d points",
				scopes, ask(`count(last_over_time({awsretry_scope!=""}[181s]))`), points, length/every+1)
			require.LessOrEqual(t, scopes, 60.0)
			require.GreaterOrEqual(t, points, 10.0)
		})
	}
}

// uniformTrouble records a program whose 200 workers call a random one of 1,000 tables again and again.
func uniformTrouble(t *testing.T, adapts bool, every, length time.Duration) *record.Recording {
	t.Helper()
	clk, random := virtual.New(outage.Start()), rand.New(rand.NewPCG(1, 2))
	r := record.New(every)
	c := r.Config()
	base := standard.Config{Clock: clk, Observer: c.Observer, Random: random.Float64}
	var strategy retry.Strategy
	var err error
	if strategy, err = standard.New(base); adapts {
		strategy, err = adaptive.New(adaptive.Config{Standard: base})
	}
	require.NoError(t, err)
	require.NoError(t, c.Watch(strategy))
	kind := classify.Server
	if adapts {
		kind = classify.Throttling
	}
	failure := retry.Mark(code("Trouble"), kind)
	for range 200 {
		clk.Go(func() {
			for clk.Sleep(t.Context(), time.Duration(random.Float64()*float64(time.Second))) == nil {
				op := retry.Operation{
					Service: "dynamodb", Region: "eu-central-1", Name: "PutItem", Resource: fmt.Sprintf("table-%04d", random.IntN(1000)),
				}
				_ = retry.DoErr(t.Context(), strategy, op, func(ctx context.Context) error {
					if err := clk.Sleep(ctx, 20*time.Millisecond); err != nil || random.IntN(2) == 0 {
						return err
					}
					return failure
				})
			}
		})
	}
	clk.Go(func() {
		for at := time.Duration(0); at <= length; at += every {
			c.Sample(at)
			if clk.Sleep(t.Context(), every) != nil {
				return
			}
		}
	})
	clk.Run(outage.Start().Add(length + time.Second))
	require.NoError(t, r.Err())
	return r
}
