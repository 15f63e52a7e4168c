package quota_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/internal/quota"
	"github.com/awsretry/awsretry/ratelimit"
)

// ofTen returns a quota of 10 tokens at most, on the bubble's time.
func ofTen(initial int, refill ratelimit.Rate) *quota.Quota {
	return quota.New(quota.Config{Capacity: 10, Initial: initial, Refill: refill, Waits: true}, time.Now(), clock.System{})
}

// waitFor is Wait without the payer and without an end of the operation. Of a WaitError it returns the reason.
func waitFor(ctx context.Context, q *quota.Quota, cost int, limit time.Duration) error {
	_, err := q.Wait(ctx, cost, limit, time.Time{})
	return reasonOf(err)
}

func reasonOf(err error) error {
	if refused, ok := errors.AsType[*ratelimit.WaitError](err); ok {
		return refused.Reason
	}
	return err
}

func TestWaitersAreServedInOrderOfArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := ofTen(0, 0)
		var served []int
		for i := range 4 {
			go func() {
				if waitFor(t.Context(), q, 3, time.Hour) == nil {
					served = append(served, i)
				}
			}()
			synctest.Wait()
		}
		require.Equal(t, 4, q.Waiting())
		require.Nil(t, q.Charge(1), "no caller overtakes")
		for n := range 12 {
			q.Refund(1)
			synctest.Wait()
			require.Len(t, served, (n+1)/3)
		}
		require.Equal(t, []int{0, 1, 2, 3}, served)
		require.Zero(t, q.Available())
		require.Zero(t, q.Waiting())
	})
}

func TestWaitEndsWithTheRefill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := ofTen(1, 2)
		start := time.Now()
		require.NoError(t, waitFor(t.Context(), q, 4, time.Hour))
		require.Equal(t, 1500*time.Millisecond, time.Since(start))
		require.Zero(t, q.Available())
	})
}

func TestWaitersGiveUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		cost   int
		limit  time.Duration
		cancel time.Duration
		want   error
		after  time.Duration
	}{
		{"after the limit", 5, time.Minute, time.Hour, line.ErrWaitLimit, time.Minute},
		{"with the caller", 5, time.Hour, time.Minute, context.DeadlineExceeded, time.Minute},
		{"at once for more than there can be", 11, time.Minute, time.Hour, line.ErrWaitLimit, 0},
		{"not while tokens are there", 2, time.Minute, time.Hour, nil, 0},
		{"not while tokens are there, though there is no time left", 2, -1, time.Hour, nil, 0},
		{"at once when there is no time left", 5, -1, time.Hour, line.ErrNoWait, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := ofTen(2, 0)
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.cancel)
				defer cancel()
				require.Equal(t, c.want, waitFor(ctx, q, c.cost, c.limit))
				require.Equal(t, c.after, time.Since(start))
				require.Zero(t, q.Waiting())
				if c.want != nil {
					require.Equal(t, 2, q.Available(), "a failure takes nothing")
				}
			})
		})
	}
}

func TestWaitersGiveUpAtTheEndOfTheirOperation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit, notAfter time.Duration
		want            error
		after           time.Duration
	}{
		"before the limit": {time.Hour, time.Minute, ratelimit.ErrNotAfter, time.Minute},
		"after the limit":  {time.Minute, time.Hour, line.ErrWaitLimit, time.Minute},
		"in the past":      {time.Hour, -1, ratelimit.ErrNotAfter, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := ofTen(2, 0)
				start := time.Now()
				_, err := q.Wait(t.Context(), 5, c.limit, start.Add(c.notAfter))
				require.Equal(t, c.want, reasonOf(err))
				require.Equal(t, c.after, time.Since(start))
				require.Equal(t, 2, q.Available())
			})
		})
	}
}

// TestQuotaConcurrentSafe takes, waits, gives up and gives back at random: at
// the end every token is where it belongs.
func TestWaitersConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := ofTen(10, 0)
		var got, lost atomic.Int64
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(i)))
				for range 10 {
					cost := 1 + random.IntN(4)
					if err := waitFor(t.Context(), q, cost, time.Duration(random.IntN(1000))*time.Millisecond); err != nil {
						lost.Add(1)
						continue
					}
					got.Add(1)
					_ = clock.System{}.Sleep(t.Context(), time.Duration(random.IntN(10))*time.Millisecond)
					q.Refund(cost)
				}
			})
		}
		wg.Wait()
		require.Equal(t, int64(3000), got.Load()+lost.Load())
		require.Positive(t, got.Load())
		require.Positive(t, lost.Load())
		require.Equal(t, 10, q.Available())
		require.Zero(t, q.Waiting())
	})
}

// There is no timer for an instant that is not known: a fake clock that is moved to the next
// waiter would be centuries ahead.
func TestWaitWithoutARefillEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		q := quota.New(quota.Config{Capacity: 10, Waits: true}, clk.Now(), &clk)
		ended := make(chan error, 3)
		for i := range 3 {
			go func() { ended <- waitFor(t.Context(), q, 5, time.Duration(i+1)*time.Minute) }()
			synctest.Wait()
			require.Equal(t, i+1, clk.Waiters(), "the clock counts those that wait")
		}

		moved, ok := clk.AdvanceToNext()
		synctest.Wait()

		require.True(t, ok)
		require.Equal(t, time.Minute, moved)
		require.Equal(t, line.ErrWaitLimit, <-ended)
		require.Equal(t, 2, q.Waiting(), "the others have time left")

		q.Refund(5)
		require.NoError(t, <-ended)
		moved, ok = clk.AdvanceToNext()
		synctest.Wait()
		require.True(t, ok)
		require.Equal(t, 2*time.Minute, moved)
		require.Equal(t, line.ErrWaitLimit, <-ended)
		require.Zero(t, clk.Waiters())
	})
}

// countingClock counts how often its timers have fired.
type countingClock struct {
	clock.Clock
	fired atomic.Int64
}

func (c *countingClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return c.Clock.AfterFunc(d, func() {
		c.fired.Add(1)
		f()
	})
}

// On the clock of the system the timers of one instant fire in any order.
func TestTokensThatComeAtTheEndComeInTimeWhicheverTimerFiresFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 300 {
			require.NoError(t, waitFor(t.Context(), ofTen(0, 1), 1, time.Second))
		}
	})
}

// A timer that is set again for an instant that has come would fire for ever.
func TestTimerFiresOnceAtTheEndOfTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 300 {
			clk := &countingClock{Clock: clock.System{}}
			q := quota.New(quota.Config{Capacity: 10, Waits: true}, clk.Now(), clk)
			require.Equal(t, line.ErrWaitLimit, waitFor(t.Context(), q, 1, time.Second))
			require.LessOrEqual(t, clk.fired.Load(), int64(2), "that of the limit is the other")
		}
	})
}
