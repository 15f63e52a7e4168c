package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// job is done at a poll of this number, the first being 1. Polls that are in fails fail first.
type job struct {
	doneAt int
	fails  map[int][]error
	polls  int
	calls  int
	clk    *clock.Fake
	at     []time.Duration // when the calls came, after the first
	began  time.Time
}

func (j *job) poll(context.Context) (string, bool, error) {
	now := j.clk.Now()
	if j.calls++; j.calls == 1 {
		j.began = now
	}
	j.at = append(j.at, now.Sub(j.began))
	if left := j.fails[j.polls+1]; len(left) > 0 {
		j.fails[j.polls+1] = left[1:]
		return "", false, left[0]
	}
	if j.polls++; j.polls == j.doneAt {
		return "DONE", true, nil
	}
	return fmt.Sprint("RUNNING ", j.polls), false, nil
}

func seconds(ns ...int) []time.Duration {
	all := make([]time.Duration, len(ns))
	for i, n := range ns {
		all[i] = time.Duration(n) * time.Second
	}
	return all
}

func TestPollWaitsTheInterval(t *testing.T) {
	t.Parallel()
	always := func(u float64) func() float64 { return func() float64 { return u } }
	half := always(0.5)
	for _, c := range []struct {
		name  string
		every retry.Interval
		want  []time.Duration
	}{
		{"fixed", retry.Interval{First: 5 * time.Second}, seconds(5, 5, 5, 5, 5)},
		{"growing", retry.Interval{First: time.Second, Max: time.Hour}, seconds(1, 2, 4, 8, 16)},
		{"growing up to a limit", retry.Interval{First: 2 * time.Second, Max: 9 * time.Second}, seconds(2, 4, 8, 9, 9)},
		{"limit that is the first", retry.Interval{First: 2 * time.Second, Max: 2 * time.Second}, seconds(2, 2, 2, 2, 2)},
		{"jitter", retry.Interval{First: 4 * time.Second, Max: 16 * time.Second, Jitter: 0.5, Random: half}, seconds(3, 6, 12, 12, 12)},
		{"jitter of a number above 1", retry.Interval{First: 4 * time.Second, Jitter: 0.5, Random: always(1e300)}, seconds(2, 2, 2, 2, 2)},
		{"jitter of a negative number", retry.Interval{First: 4 * time.Second, Jitter: 0.5, Random: always(-1)}, seconds(4, 4, 4, 4, 4)},
		{"jitter of no number", retry.Interval{First: 4 * time.Second, Jitter: 0.5, Random: always(math.NaN())}, seconds(4, 4, 4, 4, 4)},
		{"jitter of all of it", retry.Interval{First: 4 * time.Second, Jitter: 1, Random: half}, seconds(2, 2, 2, 2, 2)},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				j := &job{doneAt: 6, clk: clk}
				clk.Run(func() {
					state, err := retry.Poll(t.Context(), modes(t, clk, nil)[mode], retry.Operation{}, c.every, j.poll)
					require.NoError(t, err)
					require.Equal(t, "DONE", state)
				})
				require.Equal(t, 6, j.calls)
				require.Equal(t, c.want, clk.Waits())
			})
		}
	}
}

func TestPollThatIsDoneAtOnceWaitsForNothing(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	j := &job{doneAt: 1, clk: clk}
	state, err := retry.Poll(gone(t), modes(t, clk, nil)["standard"], retry.Operation{}, retry.Interval{First: time.Hour}, j.poll)
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.Zero(t, j.calls, "the context has ended")
	require.Empty(t, state)
	state, err = retry.Poll(t.Context(), modes(t, clk, nil)["standard"], retry.Operation{}, retry.Interval{First: time.Hour}, j.poll)
	require.NoError(t, err)
	require.Equal(t, "DONE", state)
	require.Empty(t, clk.Waits())
}

func TestJitterOfAnIntervalStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	for _, jitter := range []float64{0.1, 0.5, 1} {
		clk := &clock.Fake{}
		j := &job{doneAt: 501, clk: clk}
		clk.Run(func() {
			_, err := retry.Poll(t.Context(), modes(t, clk, nil)["standard"], retry.Operation{},
				retry.Interval{First: time.Second, Jitter: jitter}, j.poll)
			require.NoError(t, err)
		})
		shortest, longest := time.Hour, time.Duration(0)
		for _, wait := range clk.Waits() {
			shortest, longest = min(shortest, wait), max(longest, wait)
		}
		span := time.Duration(jitter * float64(time.Second))
		require.GreaterOrEqual(t, shortest, time.Second-span)
		require.LessOrEqual(t, longest, time.Second)
		require.Greater(t, longest-shortest, span*9/10, "of 500 waits")
	}
}

func TestNotDoneTakesNothingFromTheQuota(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			lowest := math.MaxInt
			s := modes(t, clk, func(c *standard.Config) {
				c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) { lowest = min(lowest, e.Quota) })
			})[mode]
			j := &job{doneAt: 1001, clk: clk}
			clk.Run(func() {
				_, err := retry.Poll(t.Context(), s, retry.Operation{}, retry.Interval{First: time.Second}, j.poll)
				require.NoError(t, err)
			})
			require.Equal(t, 1001, j.calls)
			require.Equal(t, 500, lowest)
		})
	}
}

func TestFailureOfAPollIsRetriedByTheRules(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			var quota []int
			s := modes(t, clk, func(c *standard.Config) {
				c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.RetryScheduled || e.Kind == retry.OperationEnded {
						quota = append(quota, e.Quota)
					}
				})
			})[mode]
			// Two failures in each of two polls: each poll has three attempts of its own.
			j := &job{doneAt: 3, clk: clk, fails: map[int][]error{1: {errServer, errServer}, 3: {errServer, errServer}}}
			clk.Run(func() {
				state, err := retry.Poll(t.Context(), s, retry.Operation{}, retry.Interval{First: time.Minute}, j.poll)
				require.NoError(t, err)
				require.Equal(t, "DONE", state)
			})
			require.Equal(t, seconds(1, 2, 60, 60, 1, 2), clk.Waits())
			require.Equal(t, []int{486, 472, 486, 487, 473, 459, 473}, quota, "14 for a retry, the last one is refunded")
		})
	}
}

func TestPollThatFailsEndsThePolling(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := modes(t, clk, nil)["standard"]
	every := retry.Interval{First: 10 * time.Second}
	clk.Run(func() {
		j := &job{clk: clk, fails: map[int][]error{2: {errClient}}}
		_, err := retry.Poll(t.Context(), s, retry.Operation{}, every, j.poll)
		require.Equal(t, error(errClient), err, "a final error comes back as it is")
		require.Equal(t, 2, j.calls)

		j = &job{clk: clk, fails: map[int][]error{3: {errServer, errServer, errServer}}}
		_, err = retry.Poll(t.Context(), s, retry.Operation{Name: "Describe", Scope: "jobs"}, every, j.poll)
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.ErrorIs(t, err, errServer)
		require.EqualError(t, err, "retry: client-side: attempts exhausted: last answer: RUNNING 2: last error: status"+
			` (3 attempts of 3, 3 polls, 23s, scope "jobs")`)

		inner := &retry.Error{Reason: retry.ErrQuotaExhausted} // that of another loop is the function's
		_, err = retry.Poll(t.Context(), s, retry.Operation{}, every, func(context.Context) (int, bool, error) { return 7, true, inner })
		require.Same(t, inner, err)
		require.Equal(t, &retry.Error{Reason: retry.ErrQuotaExhausted}, inner)
	})
}

func TestPollEndsInTime(t *testing.T) {
	t.Parallel()
	every := retry.Interval{First: 10 * time.Second, Max: 25 * time.Second}
	within := func(d time.Duration) func(clk *clock.Fake, op *retry.Operation) {
		return func(clk *clock.Fake, op *retry.Operation) { op.NotAfter = clk.Now().Add(d) }
	}
	for _, c := range []struct {
		name     string
		limit    func(clk *clock.Fake, op *retry.Operation)
		deadline time.Duration
		want     error
		also     error
		calls    int
		took     time.Duration
		text     string
	}{
		{
			name:  "elapsed",
			limit: func(_ *clock.Fake, op *retry.Operation) { op.MaxElapsed = time.Minute }, want: retry.ErrMaxElapsed, calls: 4, took: 55 * time.Second,
			text: "retry: client-side: maximum elapsed time reached: last answer: RUNNING 4 (1 attempt, 4 polls, 55s, 25s to wait)",
		},
		{
			name:  "elapsed at the last instant",
			limit: func(_ *clock.Fake, op *retry.Operation) { op.MaxElapsed = 55 * time.Second }, want: retry.ErrMaxElapsed, calls: 4, took: 55 * time.Second,
		},
		{
			name:  "elapsed a moment before",
			limit: func(_ *clock.Fake, op *retry.Operation) { op.MaxElapsed = 55*time.Second - 1 }, want: retry.ErrMaxElapsed, calls: 3, took: 30 * time.Second,
		},
		{name: "not after", limit: within(40 * time.Second), want: retry.ErrMaxElapsed, calls: 3, took: 30 * time.Second},
		{name: "not after, before the first poll", limit: within(-1), want: retry.ErrMaxElapsed},
		{
			name: "not after, before the elapsed time",
			limit: func(clk *clock.Fake, op *retry.Operation) {
				within(10*time.Second)(clk, op)
				op.MaxElapsed = time.Minute
			}, want: retry.ErrMaxElapsed, calls: 2, took: 10 * time.Second,
		},
		{
			name: "deadline", deadline: time.Minute, want: retry.ErrDeadline, also: context.DeadlineExceeded, calls: 4, took: 55 * time.Second,
			text: "retry: client-side: wait would end after the caller's deadline: context deadline exceeded: last answer: RUNNING 4" +
				" (1 attempt, 4 polls, 55s, 25s to wait)",
		},
		{
			name: "deadline at the instant of a poll", deadline: 30 * time.Second, want: retry.ErrDeadline, also: context.DeadlineExceeded, calls: 2,
			took: 10 * time.Second,
		},
		{
			name: "deadline before the elapsed time", deadline: 20 * time.Second, want: retry.ErrDeadline, also: context.DeadlineExceeded, calls: 2,
			limit: func(_ *clock.Fake, op *retry.Operation) { op.MaxElapsed = time.Minute }, took: 10 * time.Second,
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				j := &job{clk: clk}
				ctx, op := t.Context(), retry.Operation{}
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = clk.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				if c.limit != nil {
					c.limit(clk, &op)
				}
				began := clk.Now()
				clk.Run(func() {
					state, err := retry.Poll(ctx, modes(t, clk, nil)[mode], op, every, j.poll)
					refusal, ok := errors.AsType[*retry.Error](err)
					require.True(t, ok)
					require.ErrorIs(t, err, c.want)
					if c.also != nil {
						require.ErrorIs(t, err, c.also)
						require.True(t, refusal.Timeout())
					}
					require.Equal(t, c.calls, j.calls)
					require.Equal(t, c.calls, refusal.Polls)
					require.Equal(t, c.took, refusal.Elapsed)
					if c.calls > 0 {
						require.Equal(t, fmt.Sprint("RUNNING ", c.calls), state, "the last answer")
						require.ErrorContains(t, err, "last answer: "+state)
					}
					if c.text != "" {
						require.EqualError(t, err, c.text)
					}
				})
				require.Equal(t, c.took, clk.Now().Sub(began), "no wait that cannot end in time")
			})
		}
	}
}

// The limit of the strategy is for each poll, that of the operation for all of them.
func TestLimitOfTheStrategyIsForAPoll(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := modes(t, clk, func(c *standard.Config) { c.MaxElapsed = 5 * time.Second })["standard"]
	j := &job{doneAt: 10, clk: clk}
	clk.Run(func() {
		_, err := retry.Poll(t.Context(), s, retry.Operation{}, retry.Interval{First: time.Minute}, j.poll)
		require.NoError(t, err)
		// The retry of the second poll would come after the end of all polls.
		j = &job{clk: clk, fails: map[int][]error{2: {errServer}}}
		state, err := retry.Poll(t.Context(), s, retry.Operation{MaxElapsed: 10 * time.Second}, retry.Interval{First: 10 * time.Second}, j.poll)
		require.ErrorIs(t, err, retry.ErrMaxElapsed)
		require.ErrorIs(t, err, errServer)
		require.Empty(t, state, "what the last call returned")
		require.ErrorContains(t, err, "last answer: RUNNING 1: last error: status (1 attempt, 2 polls, 10s, 1s to wait)")
	})
}

func TestEndOfTheContextEndsThePolling(t *testing.T) {
	t.Parallel()
	why := errors.New("shutting down")
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			ctx, cancel := context.WithCancelCause(t.Context())
			clk.AfterFunc(25*time.Second, func() { cancel(why) })
			j := &job{clk: clk}
			clk.Run(func() {
				state, err := retry.Poll(ctx, modes(t, clk, nil)[mode], retry.Operation{}, retry.Interval{First: 10 * time.Second}, j.poll)
				for _, want := range []error{retry.ErrCanceled, context.Canceled, why} {
					require.ErrorIs(t, err, want)
				}
				require.EqualError(t, err, "retry: client-side: canceled by the caller: context canceled: shutting down: last answer: RUNNING 3"+
					" (1 attempt, 3 polls, 25s)")
				require.Equal(t, "RUNNING 3", state)
			})
			// It ends while the function runs, which says that it is not done yet.
			ctx, cancel = context.WithCancelCause(t.Context())
			_, err := retry.Poll(ctx, modes(t, clk, nil)[mode], retry.Operation{}, retry.Interval{First: 10 * time.Second},
				func(context.Context) (int, bool, error) { cancel(why); return 0, false, nil })
			require.ErrorIs(t, err, why)
			require.ErrorIs(t, err, retry.ErrCanceled)
			late, end := clk.WithTimeout(t.Context(), time.Second)
			defer end()
			_, err = retry.Poll(late, modes(t, clk, nil)[mode], retry.Operation{}, retry.Interval{First: 10 * time.Second},
				func(context.Context) (int, bool, error) { clk.Advance(time.Minute); return 0, false, nil })
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, retry.ErrCanceled)
		})
	}
}

func TestPollsTakeSendTokens(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s, err := adaptive.New(adaptive.Config{
		Standard:  standard.Config{Clock: clk},
		SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 1} },
	})
	require.NoError(t, err)
	j := &job{doneAt: 5, clk: clk}
	clk.Run(func() {
		_, err := retry.Poll(t.Context(), s, retry.Operation{}, retry.Interval{First: 100 * time.Millisecond}, j.poll)
		require.NoError(t, err)
	})
	require.Equal(t, 5, j.calls)
	for i := range 4 {
		require.GreaterOrEqual(t, j.at[i+1]-j.at[i], 900*time.Millisecond, j.at)
	}
}

func TestObserverHearsOfEachPoll(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	var told []string
	ids := map[uint64]bool{}
	s := modes(t, clk, func(c *standard.Config) {
		c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			ids[e.OperationID] = true
			told = append(told, fmt.Sprintf("%v %d %s %v", e.Kind, e.Attempt, e.Operation.Name, e.Elapsed))
			if e.Kind == retry.OperationEnded {
				told[len(told)-1] += " " + e.Outcome()
			}
		})
	})["standard"]
	j := &job{doneAt: 3, clk: clk, fails: map[int][]error{2: {errServer}}}
	clk.Run(func() {
		_, err := retry.Poll(t.Context(), s, retry.Operation{Name: "DescribeJob"}, retry.Interval{First: time.Minute}, j.poll)
		require.NoError(t, err)
	})
	require.Equal(t, []string{
		"attempt-ended 1 DescribeJob 0s", "operation-ended 1 DescribeJob 0s success",
		"attempt-ended 1 DescribeJob 0s", "retry-scheduled 1 DescribeJob 0s", "attempt-ended 2 DescribeJob 0s", "operation-ended 2 DescribeJob 1s success",
		"attempt-ended 1 DescribeJob 0s", "operation-ended 1 DescribeJob 0s success",
	}, told)
	require.Len(t, ids, 3)
}

func TestPollThatDoesNotReturnEndsItsOperation(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(){"panic": func() { panic("poll") }, "goexit": runtime.Goexit} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				s := &counting{Strategy: modes(t, clk, nil)[mode]}
				returned, recovered := false, any(nil)
				clk.Run(func() {}, func() { // whose goroutine may end
					defer func() { recovered = recover() }()
					calls := 0
					_, _ = retry.Poll(t.Context(), s, retry.Operation{}, retry.Interval{First: time.Second}, func(context.Context) (int, bool, error) {
						if calls++; calls == 3 {
							leave()
						}
						return 0, false, nil
					})
					returned = true
				})
				require.False(t, returned)
				require.Equal(t, name == "panic", recovered == "poll")
				require.Equal(t, []int{2, 1}, []int{s.successes, s.failures})
				require.Equal(t, 500, s.Strategy.Snapshot().Scopes[0].Quota)
			})
		}
	}
}

func TestOptionsHoldForEachPoll(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	calls := 0
	clk.Run(func() {
		value, err := retry.Poll(t.Context(), modes(t, clk, nil)["standard"], retry.Operation{}, retry.Interval{First: time.Minute},
			func(ctx context.Context) (int, bool, error) {
				attempt, ok := retry.AttemptFrom(ctx)
				require.True(t, ok)
				require.Equal(t, retry.Attempt{Number: attempt.Number, Loops: 1, MaxAttempts: 3}, attempt)
				switch calls++; calls {
				case 1:
					return 0, false, clk.Await(ctx, nil) // too long
				case 2:
					return 0, false, nil
				default:
					return 7, true, errClient // which the policy takes away
				}
			},
			retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}),
			retry.WithPolicy(func(value int, err error) error {
				if value == 7 {
					return nil
				}
				return err
			}))
		require.NoError(t, err)
		require.Equal(t, 7, value)
	})
	require.Equal(t, 3, calls)
	require.Equal(t, seconds(1, 60), clk.Waits())
}

func TestPollNeedsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	calls := 0
	fn := func(ctx context.Context) (int, bool, error) { calls++; return 0, true, ctx.Err() }
	every := retry.Interval{First: time.Second}
	poll := func(s retry.Strategy, op retry.Operation, every retry.Interval, opts ...retry.Option) error {
		_, err := retry.Poll(t.Context(), s, op, every, fn, opts...)
		return err
	}
	_, err := retry.Poll[int](t.Context(), s, retry.Operation{}, every, nil)
	require.EqualError(t, err, "retry: Poll needs a function")
	require.ErrorIs(t, poll(nil, retry.Operation{}, every), retry.ErrNoStrategy)
	require.ErrorIs(t, poll((*wrapped)(nil), retry.Operation{}, every), retry.ErrNoStrategy)
	require.EqualError(t, poll(s, retry.Operation{MaxAttempts: -1}, every), "retry: MaxAttempts -1: must not be negative")
	require.ErrorContains(t, poll(s, retry.Operation{}, every, retry.WithPolicy(func(string, error) error { return nil })), "does not fit")
	for text, every := range map[string]retry.Interval{
		"retry: Interval.First 0s: must be more than zero":                           {},
		"retry: Interval.First -1s: must be more than zero":                          {First: -time.Second},
		"retry: Interval.Max 1s: must be zero, or not less than First, which is 2s":  {First: 2 * time.Second, Max: time.Second},
		"retry: Interval.Max -1s: must be zero, or not less than First, which is 2s": {First: 2 * time.Second, Max: -time.Second},
		"retry: Interval.Jitter -0.1: must be from 0 to 1":                           {First: time.Second, Jitter: -0.1},
		"retry: Interval.Jitter 1.1: must be from 0 to 1":                            {First: time.Second, Jitter: 1.1},
		"retry: Interval.Jitter NaN: must be from 0 to 1":                            {First: time.Second, Jitter: math.NaN()},
	} {
		require.EqualError(t, poll(s, retry.Operation{}, every), text)
	}
	require.Zero(t, calls)
}

func TestIntervalsAtTheirLimits(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := retry.Poll(ctx, modes(t, clk, nil)["standard"], retry.Operation{MaxElapsed: time.Minute},
		retry.Interval{First: math.MaxInt64, Max: math.MaxInt64, Jitter: 1, Random: func() float64 { return 1 }},
		func(context.Context) (string, bool, error) {
			if calls++; calls == 3 {
				cancel()
			}
			return strings.Repeat("x", 1000), false, nil
		})
	require.ErrorIs(t, err, retry.ErrCanceled, "the jitter may take all of a wait")
	require.Less(t, len(err.Error()), 400, "an answer is shortened")
	require.ErrorContains(t, err, "xxx... (1 attempt, 3 polls)")
}
