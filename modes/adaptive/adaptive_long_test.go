//go:build long

package adaptive_test

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// After a throttle the rate is at most twice the measured rate (A06) for as long as the limiter
// lives (A04), so that a day of little traffic leaves it at the floor. The figures are those of
// the comment on standard.Config.ScopeIdle.
func TestBurstAfterADayOfLittleTraffic(t *testing.T) {
	t.Parallel()
	orders := retry.Operation{Scope: "orders"}
	for _, c := range []struct {
		name     string
		throttle bool
		idle     time.Duration
		off      time.Duration // of the burst, from a request that would be due
		want     float64       // seconds until the last of the burst is sent
	}{
		{"without a throttle", false, 0, 0, 0},
		{"after a throttle", true, 0, 0, 6.454},
		{"after a throttle, between two windows of the measured rate", true, 0, 4750 * time.Millisecond, 6.776},
		{"after a throttle, the scope being dropped between requests", true, time.Second, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, err := adaptive.New(adaptive.Config{Standard: standard.Config{ScopeIdle: c.idle, MaxAttempts: 1}})
				require.NoError(t, err)
				call := func(op retry.Operation, errs ...error) {
					_, err := retry.Do(t.Context(), s, op, play.Answers(errs...))
					require.Equal(t, len(errs) > 0, err != nil)
				}
				if c.throttle {
					call(orders, errThrottle)
				}
				pause := func(d time.Duration) { require.NoError(t, clock.System{}.Sleep(t.Context(), d)) }
				others := 0
				for began := time.Now(); time.Since(began) < 24*time.Hour; {
					call(orders)
					for range 2 { // another scope, so that unused ones are evicted
						pause(2500 * time.Millisecond)
						if c.idle > 0 {
							others++
							call(retry.Operation{Scope: strconv.Itoa(others)})
						}
					}
				}
				pause(c.off)
				start := time.Now()
				var burst sync.WaitGroup
				for range 50 {
					burst.Go(func() { call(orders) })
				}
				burst.Wait()
				require.InDelta(t, c.want, time.Since(start).Seconds(), 0.001)
			})
		})
	}
}
