package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// job is done at a poll of this number, the first being 1. Polls that are in fails fail first.
type job struct {
	doneAt int
	fails  map[int][]error
	polls  int
	calls  int
}

func (j *job) poll(context.Context) (string, bool, error) {
	j.calls++
	if left := j.fails[j.polls+1]; len(left) > 0 {
		j.fails[j.polls+1] = left[1:]
		return "", false, left[0]
	}
	if j.polls++; j.polls == j.doneAt {
		return "DONE", true, nil
	}
	return fmt.Sprint("RUNNING ", j.polls), false, nil
}

// poll polls a job on the clock.
func (w world) poll(ctx context.Context, op retry.Operation, every retry.Interval, j *job) (state string, err error) {
	w.clk.Run(func() { state, err = retry.Poll(ctx, w, op, every, j.poll) })
	return state, err
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
	const s = time.Second
	u := func(u float64) func() float64 { return func() float64 { return u } }
	for name, c := range map[string]struct {
		every retry.Interval
		want  []time.Duration
	}{
		"fixed":                         {retry.Interval{First: 5 * s}, seconds(5, 5, 5, 5, 5)},
		"growing":                       {retry.Interval{First: s, Max: time.Hour}, seconds(1, 2, 4, 8, 16)},
		"growing up to a limit":         {retry.Interval{First: 2 * s, Max: 9 * s}, seconds(2, 4, 8, 9, 9)},
		"limit that is the first":       {retry.Interval{First: 2 * s, Max: 2 * s}, seconds(2, 2, 2, 2, 2)},
		"jitter":                        {retry.Interval{First: 4 * s, Max: 16 * s, Jitter: 0.5, Random: u(0.5)}, seconds(3, 6, 12, 12, 12)},
		"jitter of a number above 1":    {retry.Interval{First: 4 * s, Jitter: 0.5, Random: u(1e300)}, seconds(2, 2, 2, 2, 2)},
		"jitter of a negative number":   {retry.Interval{First: 4 * s, Jitter: 0.5, Random: u(-1)}, seconds(4, 4, 4, 4, 4)},
		"jitter of no number":           {retry.Interval{First: 4 * s, Jitter: 0.5, Random: u(math.NaN())}, seconds(4, 4, 4, 4, 4)},
		"jitter of all of a wait":       {retry.Interval{First: math.MaxInt64, Jitter: 1, Random: u(1)}, nil},
		"the longest, without a jitter": {retry.Interval{First: s, Max: math.MaxInt64}, seconds(1, 2, 4, 8, 16)},
	} {
		inBoth(t, name, nil, func(t world) {
			j := &job{doneAt: 6}
			state, err := t.poll(t.Context(), retry.Operation{}, c.every, j)
			require.NoError(t, err)
			require.Equal(t, "DONE", state)
			require.Equal(t, 6, j.calls)
			require.Equal(t, c.want, t.clk.Waits())
		})
	}
	for _, jitter := range []float64{0.1, 1} {
		w := newWorld(t, "standard", nil)
		_, err := w.poll(t.Context(), retry.Operation{}, retry.Interval{First: s, Jitter: jitter}, &job{doneAt: 501})
		require.NoError(t, err)
		shortest, longest, span := slices.Min(w.clk.Waits()), slices.Max(w.clk.Waits()), time.Duration(jitter*float64(s))
		require.GreaterOrEqual(t, shortest, s-span)
		require.LessOrEqual(t, longest, s)
		require.Greater(t, longest-shortest, span*9/10, "of 500 waits")
	}
}

func TestNotDoneTakesNothingFromTheQuotaAndFailuresAreRetriedByTheRules(t *testing.T) {
	t.Parallel()
	inBoth(t, "", nil, func(t world) {
		_, err := t.poll(t.Context(), retry.Operation{}, retry.Interval{First: time.Second}, &job{doneAt: 1001})
		require.NoError(t, err)
		require.Len(t, t.Of(retry.OperationEnded), 1001)
		for _, e := range t.Events {
			require.Equal(t, 500, e.Quota)
		}
		t.Events = nil
		before := len(t.clk.Waits())
		// Two failures in each of two polls: each poll has three attempts of its own.
		j := &job{doneAt: 3, fails: map[int][]error{1: repeated(errServer, 2), 3: repeated(errServer, 2)}}
		state, err := t.poll(t.Context(), retry.Operation{}, retry.Interval{First: time.Minute}, j)
		require.NoError(t, err)
		require.Equal(t, "DONE", state)
		require.Equal(t, seconds(1, 2, 60, 60, 1, 2), t.clk.Waits()[before:])
		var quota []int
		for _, e := range t.Events {
			if e.Kind == retry.RetryScheduled || e.Kind == retry.OperationEnded {
				quota = append(quota, e.Quota)
			}
		}
		require.Equal(t, []int{486, 472, 486, 487, 473, 459, 473}, quota, "14 for a retry, the last one is refunded")
	})
}

func TestPollThatFailsEndsThePolling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "standard", nil)
	every := retry.Interval{First: 10 * time.Second}
	j := &job{fails: map[int][]error{2: {errClient}}}
	_, err := w.poll(t.Context(), retry.Operation{}, every, j)
	require.Equal(t, error(errClient), err, "a final error comes back as it is")
	require.Equal(t, 2, j.calls)

	op := retry.Operation{Name: "Describe", Scope: "jobs"}
	_, err = w.poll(t.Context(), op, every, &job{fails: map[int][]error{3: repeated(errServer, 3)}})
	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	require.ErrorIs(t, err, errServer)
	require.EqualError(t, err, "retry: client-side: attempts exhausted: last answer: RUNNING 2: last error: status"+
		` (3 attempts of 3, 3 polls, 23s, scope "jobs")`)

	inner := &retry.Error{Reason: retry.ErrQuotaExhausted} // that of another loop is the function's
	_, err = retry.Poll(t.Context(), w, retry.Operation{}, every, func(context.Context) (int, bool, error) { return 7, true, inner })
	require.Same(t, inner, err)
	require.Equal(t, &retry.Error{Reason: retry.ErrQuotaExhausted}, inner)
}

func TestPollEndsInTime(t *testing.T) {
	t.Parallel()
	const s = time.Second
	elapsed, deadline := retry.ErrMaxElapsed, retry.ErrDeadline
	long := "last answer: " + strings.Repeat("x", 200) + "... (1 attempt, 4 polls, 55s, 25s to wait)"
	for name, c := range map[string]struct {
		maxElapsed, notAfter, deadline time.Duration // 0 for none
		want                           error
		calls                          int
		took                           time.Duration
	}{
		"elapsed":                          {60 * s, 0, 0, elapsed, 4, 55 * s},
		"elapsed at the last instant":      {55 * s, 0, 0, elapsed, 4, 55 * s},
		"elapsed a moment before":          {55*s - 1, 0, 0, elapsed, 3, 30 * s},
		"not after":                        {0, 40 * s, 0, elapsed, 3, 30 * s},
		"not after, before the first poll": {0, -1, 0, elapsed, 0, 0},
		"not after, before elapsed":        {60 * s, 10 * s, 0, elapsed, 2, 10 * s},
		"deadline":                         {0, 0, 60 * s, deadline, 4, 55 * s},
		"deadline at the next poll":        {0, 0, 30 * s, deadline, 2, 10 * s},
		"deadline before elapsed":          {60 * s, 0, 20 * s, deadline, 2, 10 * s},
	} {
		inBoth(t, name, nil, func(t world) {
			ctx, op := t.Context(), retry.Operation{MaxElapsed: c.maxElapsed}
			if c.notAfter != 0 {
				op.NotAfter = t.clk.Now().Add(c.notAfter)
			}
			if c.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = t.clk.WithTimeout(ctx, c.deadline)
				defer cancel()
			}
			began, j := t.clk.Now(), &job{}
			state, err := t.poll(ctx, op, retry.Interval{First: 10 * s, Max: 25 * s}, j)
			refusal := play.Refusal(t, err)
			require.Equal(t, c.want, refusal.Reason)
			require.Equal(t, c.deadline > 0, refusal.Timeout())
			require.Equal(t, c.deadline > 0, errors.Is(err, context.DeadlineExceeded))
			require.Equal(t, []int{c.calls, c.calls}, []int{j.calls, refusal.Polls})
			require.Equal(t, c.took, refusal.Elapsed)
			require.Equal(t, c.took, t.clk.Now().Sub(began), "no wait that cannot end in time")
			if c.calls == 0 {
				return
			}
			require.Equal(t, fmt.Sprint("RUNNING ", c.calls), state)
			require.ErrorContains(t, err, ": last answer: "+state+" (1 attempt, ")
		})
	}
	w := newWorld(t, "standard", nil)
	w.clk.Run(func() {
		op, every := retry.Operation{MaxElapsed: 60 * s}, retry.Interval{First: 10 * s, Max: 25 * s}
		_, err := retry.Poll(t.Context(), w, op, every, func(context.Context) (string, bool, error) {
			return strings.Repeat("x", 201), false, nil
		})
		require.EqualError(t, err, "retry: client-side: maximum elapsed time reached: "+long)
	})
}

// The limit of the strategy is for each poll, that of the operation for all of them.
func TestLimitOfTheStrategyIsForAPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "standard", func(c *standard.Config) { c.MaxElapsed = 5 * time.Second })
	_, err := w.poll(t.Context(), retry.Operation{}, retry.Interval{First: time.Minute}, &job{doneAt: 10})
	require.NoError(t, err)
	// The retry of the second poll would come after the end of all polls.
	op, j := retry.Operation{MaxElapsed: 10 * time.Second}, &job{fails: map[int][]error{2: {errServer}}}
	state, err := w.poll(t.Context(), op, retry.Interval{First: 10 * time.Second}, j)
	require.ErrorIs(t, err, retry.ErrMaxElapsed)
	require.ErrorIs(t, err, errServer)
	require.Empty(t, state, "what the last call returned")
	require.ErrorContains(t, err, "last answer: RUNNING 1: last error: status (1 attempt, 2 polls, 10s, 1s to wait)")
}

func TestEndOfTheContextEndsThePolling(t *testing.T) {
	t.Parallel()
	why, every := errors.New("shutting down"), retry.Interval{First: 10 * time.Second}
	inBoth(t, "", nil, func(t world) {
		ctx, cancel := context.WithCancelCause(t.Context())
		t.clk.AfterFunc(25*time.Second, func() { cancel(why) })
		state, err := t.poll(ctx, retry.Operation{}, every, &job{})
		require.EqualError(t, err, "retry: client-side: canceled by the caller: context canceled: shutting down: last answer: RUNNING 3"+
			" (1 attempt, 3 polls, 25s)")
		require.Equal(t, "RUNNING 3", state)
		j := &job{}
		_, again := t.poll(ctx, retry.Operation{}, every, j)
		require.Zero(t, j.calls, "it has ended before")
		// It ends while the function runs, which says that it is not done yet.
		ctx, cancel = context.WithCancelCause(t.Context())
		_, during := retry.Poll(ctx, t, retry.Operation{}, every, func(context.Context) (int, bool, error) {
			cancel(why)
			return 0, false, nil
		})
		for _, err := range []error{err, again, during} {
			for _, want := range []error{retry.ErrCanceled, context.Canceled, why} {
				require.ErrorIs(t, err, want)
			}
		}
		late, end := t.clk.WithTimeout(t.Context(), time.Second)
		defer end()
		_, err = retry.Poll(late, t, retry.Operation{}, every, func(context.Context) (int, bool, error) {
			t.clk.Advance(time.Minute)
			return 0, false, nil
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, retry.ErrCanceled)
	})
}

func TestOptionsHoldForEachPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "standard", nil)
	calls := 0
	policy := retry.WithPolicy(func(value int, err error) error {
		if value == 7 {
			return nil
		}
		return err
	})
	w.clk.Run(func() {
		value, err := retry.Poll(t.Context(), w, retry.Operation{}, retry.Interval{First: time.Minute}, func(ctx context.Context) (int, bool, error) {
			switch calls++; calls {
			case 1:
				return 0, false, w.clk.Await(ctx, nil) // too long
			case 2:
				return 0, false, nil
			default:
				return 7, true, errClient // which the policy takes away
			}
		}, oneSecond(), policy)
		require.NoError(t, err)
		require.Equal(t, 7, value)
	})
	require.Equal(t, 3, calls)
	require.Equal(t, seconds(1, 60), w.clk.Waits())
}

func TestPollNeedsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	const s = time.Second
	w, calls, every := newWorld(t, "standard", nil), 0, retry.Interval{First: s}
	poll := func(strategy retry.Strategy, op retry.Operation, every retry.Interval, opts ...retry.Option) error {
		_, err := retry.Poll(t.Context(), strategy, op, every, func(ctx context.Context) (int, bool, error) {
			calls++
			return 0, true, nil
		}, opts...)
		return err
	}
	_, err := retry.Poll[int](t.Context(), w, retry.Operation{}, every, nil)
	require.EqualError(t, err, "retry: Poll needs a function")
	require.ErrorIs(t, poll(nil, retry.Operation{}, every), retry.ErrNoStrategy)
	require.ErrorIs(t, poll((*denying)(nil), retry.Operation{}, every), retry.ErrNoStrategy)
	require.EqualError(t, poll(w, retry.Operation{MaxAttempts: -1}, every), "retry: MaxAttempts -1: must not be negative")
	policy := retry.WithPolicy(func(string, error) error { return nil })
	require.ErrorContains(t, poll(w, retry.Operation{}, every, policy), "does not fit")
	for text, every := range map[string]retry.Interval{
		"First 0s: must be more than zero":                           {},
		"First -1s: must be more than zero":                          {First: -s},
		"Max 1s: must be zero, or not less than First, which is 2s":  {First: 2 * s, Max: s},
		"Max -1s: must be zero, or not less than First, which is 2s": {First: 2 * s, Max: -s},
		"Jitter -0.1: must be from 0 to 1":                           {First: s, Jitter: -0.1},
		"Jitter 1.1: must be from 0 to 1":                            {First: s, Jitter: 1.1},
		"Jitter NaN: must be from 0 to 1":                            {First: s, Jitter: math.NaN()},
	} {
		require.EqualError(t, poll(w, retry.Operation{}, every), "retry: Interval."+text)
	}
	require.Zero(t, calls)
}
