package retry_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// slower is three times the 90th percentile, from 20 ms to 10 s.
func slower(t *testing.T) *retry.LearnedTimeout {
	t.Helper()
	timeout, err := retry.NewLearnedTimeout(retry.Slower{
		Quantile: 0.9, Factor: 3, Floor: 20 * time.Millisecond, Ceiling: 10 * time.Second,
	})
	require.NoError(t, err)
	return timeout
}

// learner makes operations with a learned timeout, in a bubble.
type learner struct {
	strategy retry.Strategy
	timeout  *retry.LearnedTimeout
}

func newLearner(t *testing.T) learner {
	t.Helper()
	return learner{modes(t, clock.System{}, func(c *standard.Config) { c.MaxAttempts = 4 })["standard"], slower(t)}
}

// pause waits on the time of the bubble.
func pause(d time.Duration) { _ = clock.System{}.Sleep(context.Background(), d) }

// do makes an operation whose attempts take so long, the last one for all further ones.
func (l learner) do(t *testing.T, op retry.Operation, attempts ...time.Duration) (took []time.Duration, err error) {
	t.Helper()
	_, err = retry.Do(t.Context(), l.strategy, op, func(ctx context.Context) (int, error) {
		began := time.Now()
		_, limited := ctx.Deadline()
		require.False(t, limited)
		err := clock.System{}.Sleep(ctx, attempts[min(len(took), len(attempts)-1)])
		took = append(took, time.Since(began))
		return 0, err
	}, retry.WithAttemptTimeout(l.timeout))
	return took, err
}

// teach makes a hundred operations that take so long.
func (l learner) teach(t *testing.T, op retry.Operation, d time.Duration) {
	t.Helper()
	for range 100 {
		_, err := l.do(t, op, d)
		require.NoError(t, err)
	}
}

// requires makes an operation that succeeds, and requires how long its attempts take.
func (l learner) requires(t *testing.T, want []time.Duration, op retry.Operation, attempts ...time.Duration) {
	t.Helper()
	took, err := l.do(t, op, attempts...)
	require.NoError(t, err)
	require.Equal(t, want, took)
}

// inBubble plays a test with a learner that has learned attempts of 10 ms of an operation.
func inBubble(t *testing.T, play func(t *testing.T, l learner, op retry.Operation)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, op := newLearner(t), retry.Operation{Service: "dynamodb", Resource: "orders", Name: "GetItem"}
		l.requires(t, []time.Duration{10 * time.Second, 10 * time.Millisecond}, op, time.Hour, 10*time.Millisecond) // the ceiling
		l.teach(t, op, 10*time.Millisecond)
		play(t, l, op)
	})
}

func TestLearnedTimeoutEndsWhatTakesLongerThanUsual(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, l learner, op retry.Operation) {
		t.Helper()
		took, err := l.do(t, op, time.Hour, time.Hour, 10*time.Millisecond)
		require.NoError(t, err)
		require.Len(t, took, 3)
		require.InDelta(t, 30*time.Millisecond, took[0], float64(3*time.Millisecond))
		require.InDelta(t, 2*took[0], took[1], float64(time.Microsecond), "a second attempt has more time")

		took, err = l.do(t, op, time.Hour)
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.Len(t, took, 4)
		require.Equal(t, 10*time.Second, took[3], "no attempt follows")
		late, ok := errors.AsType[*retry.AttemptTimeoutError](err)
		require.True(t, ok)
		require.Equal(t, 10*time.Second, late.After)

		alone := op // calls that have no other attempt could only fail
		alone.MaxAttempts = 1
		l.requires(t, []time.Duration{9 * time.Second}, alone, 9*time.Second)
		require.NoError(t, retry.DoErr(retry.Once(t.Context()), l.strategy, op, func(ctx context.Context) error {
			return clock.System{}.Sleep(ctx, 9*time.Second)
		}, retry.WithAttemptTimeout(l.timeout)))
	})
}

// TestLearnedTimeoutEndsOneAttemptInTwenty: the others have time until the ceiling.
func TestLearnedTimeoutEndsOneAttemptInTwenty(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, l learner, op retry.Operation) {
		t.Helper()
		attempts := 0
		const calls = 400
		for range calls {
			took, err := l.do(t, op, 100*time.Millisecond)
			require.NoError(t, err)
			attempts += len(took)
		}
		require.Greater(t, attempts, calls)
		require.LessOrEqual(t, attempts-calls, (calls+100)/20)
		l.requires(t, []time.Duration{250 * time.Millisecond}, op, 250*time.Millisecond) // the timeout has risen
	})
}

func TestLearnedTimeoutStaysWithinFloorAndCeiling(t *testing.T) {
	t.Parallel()
	for usual, want := range map[time.Duration]time.Duration{time.Millisecond: 20 * time.Millisecond, 8 * time.Second: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			l, op := newLearner(t), retry.Operation{Resource: "orders"}
			l.teach(t, op, usual)
			l.requires(t, []time.Duration{want, 0}, op, time.Hour, 0)
		})
	}
}

// A scan takes longer than the reads of its table, and failures say nothing.
func TestLearnedTimeoutLearnsFromSuccessesByScopeAndOperation(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, l learner, _ retry.Operation) {
		t.Helper()
		fails := retry.Operation{Resource: "failures"}
		for range 100 {
			require.Error(t, retry.DoErr(t.Context(), l.strategy, fails, func(context.Context) error {
				return errBoom
			}, retry.WithAttemptTimeout(l.timeout)))
		}
		for _, other := range []retry.Operation{
			{Service: "dynamodb", Resource: "orders", Name: "Scan"},
			{Service: "dynamodb", Resource: "carts", Name: "GetItem"},
			{Service: "dynamodb", Resource: "orders", Name: "GetItem", Region: "eu-west-1"},
			{Service: "dynamodb", Resource: "orders", Name: "GetItem", Scope: "tenant"},
			fails,
		} {
			l.requires(t, []time.Duration{9 * time.Second}, other, 9*time.Second)
		}
	})
}

// TestLearnedTimeoutForgets what had no attempts for five minutes, and has no room for more than 1,000 scopes.
func TestLearnedTimeoutForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLearner(t)
		fill := func(scopes int) {
			for i := range scopes {
				l.requires(t, []time.Duration{0}, retry.Operation{Scope: fmt.Sprint(time.Now(), i)}, 0)
			}
		}
		late, later := retry.Operation{Resource: "too late"}, retry.Operation{Resource: "one too many"}
		fill(1000)
		l.teach(t, late, 10*time.Millisecond)
		l.requires(t, []time.Duration{9 * time.Second}, late, 9*time.Second) // no room
		pause(5 * time.Minute)
		fill(999)
		l.teach(t, late, 10*time.Millisecond)
		took, err := l.do(t, late, 9*time.Second, 0)
		require.NoError(t, err)
		require.Len(t, took, 2, "the last one that has room")
		l.teach(t, later, 10*time.Millisecond)
		l.requires(t, []time.Duration{9 * time.Second}, later, 9*time.Second)
	})
}

func TestLearnedTimeoutHasRoomAgainAfterItsClockHasGoneBack(t *testing.T) {
	t.Parallel()
	clk := &unsteady{Fake: &clock.Fake{}}
	s, timeout := modes(t, clk, nil)["standard"], slower(t)
	begin := func(op retry.Operation) *retry.AttemptLimit {
		_, limit, err := retry.LimitAttempt(acquire(t, s).Context(t.Context()), s, op, timeout, 0)
		require.NoError(t, err)
		return limit
	}
	for i := range 1000 {
		begin(retry.Operation{Resource: strconv.Itoa(i)}).Release()
	}
	clk.by = -time.Hour
	clk.Advance(time.Minute)
	for range 100 {
		limit := begin(retry.Operation{Resource: "late"})
		clk.Advance(10 * time.Millisecond)
		require.True(t, limit.Lift(true))
		limit.Release()
	}
	limit := begin(retry.Operation{Resource: "late"})
	defer limit.Release()
	require.Less(t, limit.Allowed(), time.Second, "it has learned")
}

// TestLearnedTimeoutConcurrentSafe: each attempt succeeds or is ended, at most one in twenty is ended, no operation fails
// although there is little quota, and all quota comes back.
func TestLearnedTimeoutConcurrentSafe(t *testing.T) {
	t.Parallel()
	timeout, err := retry.NewLearnedTimeout(retry.Slower{
		Quantile: 0.5, Factor: 1, Floor: time.Microsecond, Ceiling: time.Minute,
	})
	require.NoError(t, err)
	s := modes(t, clock.System{}, func(c *standard.Config) {
		c.Base, c.QuotaCapacity, c.MaxAttempts = time.Nanosecond, new(30), 2
	})["standard"]
	var succeeded, ended atomic.Int64
	var all sync.WaitGroup
	const goroutines, each = 8, 200
	for g := range goroutines {
		all.Go(func() {
			for i := range each {
				op := retry.Operation{Resource: strconv.Itoa((g + i) % 3)}
				if err := retry.DoErr(t.Context(), s, op, func(ctx context.Context) error {
					if err := (clock.System{}).Sleep(ctx, time.Duration(i%7)*100*time.Microsecond); err != nil {
						ended.Add(1)
						return err
					}
					succeeded.Add(1)
					return nil
				}, retry.WithAttemptTimeout(timeout)); err != nil {
					panic(err)
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, goroutines*each, succeeded.Load())
	require.LessOrEqual(t, ended.Load(), (goroutines*each+ended.Load())/20+1)
	snapshot := s.Snapshot()
	require.Equal(t, snapshot.PoolCapacity, snapshot.Pool)
	for _, scope := range snapshot.Scopes {
		require.Equal(t, 30, scope.Quota, scope.Scope)
	}
}
