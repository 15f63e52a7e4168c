package ratelimit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/ratelimit"
)

// The refill brings a token after a second. What decides is when it comes, however far
// a test moves the clock.
func TestQuotaLineServesUntilTheEndOfTheWaitAndNoLonger(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, tt := range map[string]struct {
		limit time.Duration
		want  error
	}{
		"a token 1 ns before the end": {second + 1, nil},
		"a token at the end":          {second, nil},
		"a token 1 ns after the end":  {second - 1, ratelimit.ErrQuotaWait},
	} {
		for far, advance := range map[string][]time.Duration{
			"in steps of a nanosecond": {second - 1, 1, 1},
			"in one step":              {second + 1},
			"far":                      {time.Hour},
		} {
			t.Run(name+", moved "+far, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					for range 300 {
						var clk clock.Fake
						config := ratelimit.QuotaConfig{Capacity: 10, RefillPerSecond: 1}
						q := ratelimit.NewQuotaLine(config, clk.Now(), &clk)
						ended := make(chan error, 1)
						go func() { ended <- q.Wait(t.Context(), 1, tt.limit) }()
						synctest.Wait()
						for _, d := range advance {
							clk.Advance(d)
							synctest.Wait()
						}
						require.Equal(t, tt.want, <-ended)
						require.Zero(t, clk.Waiters())
					}
				})
			})
		}
	}
}

// On the clock of the system the timers of one instant fire in any order.
func TestQuotaLineServesAtTheEndOfTheWaitWhicheverTimerFiresFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 300 {
			require.NoError(t, newLine(0, 1).Wait(t.Context(), 1, time.Second))
		}
	})
}

// A timer that is set again for an instant that has come would fire for ever.
func TestQuotaLineTimerFiresOnceAtTheEndOfTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 300 {
			clk := &countingClock{Clock: clock.System{}}
			q := ratelimit.NewQuotaLine(ratelimit.QuotaConfig{Capacity: 10}, clk.Now(), clk)
			require.Equal(t, ratelimit.ErrQuotaWait, q.Wait(t.Context(), 1, time.Second))
			require.LessOrEqual(t, clk.fired.Load(), int64(2), "that of the limit is the other")
		}
	})
}
