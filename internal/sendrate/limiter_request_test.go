package sendrate_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/line"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// One caller is in line already, so a new one has to expect four seconds.
func TestLimiterRefusesWaits(t *testing.T) {
	t.Parallel()
	const expected = 4 * time.Second
	tests := map[string]struct {
		deadline time.Duration // of the context, from now; 0 means none
		notAfter time.Duration // likewise, of the request
		request  ratelimit.Request
		want     error
	}{
		"none by default":                   {},
		"deadline before the end":           {deadline: expected - 1, want: context.DeadlineExceeded},
		"deadline at the end":               {deadline: expected, want: context.DeadlineExceeded},
		"deadline after the end":            {deadline: expected + 1},
		"half of the time is enough":        {deadline: 2*expected + 2, request: ratelimit.Request{AttemptTime: time.Hour}},
		"half of the time is needed":        {deadline: 2 * expected, request: ratelimit.Request{AttemptTime: time.Hour}, want: context.DeadlineExceeded},
		"too little room":                   {deadline: expected + time.Second, request: ratelimit.Request{AttemptTime: time.Second}, want: context.DeadlineExceeded},
		"just enough room":                  {deadline: expected + time.Second + 1, request: ratelimit.Request{AttemptTime: time.Second}},
		"room, and no deadline":             {request: ratelimit.Request{AttemptTime: time.Hour}},
		"no wait allowed":                   {request: ratelimit.Request{NoWait: true}, want: line.ErrNoWait},
		"longer than the longest wait":      {request: ratelimit.Request{MaxWait: expected - 1}, want: line.ErrWaitLimit},
		"as long as the longest wait":       {request: ratelimit.Request{MaxWait: expected}},
		"dearer, so longer than allowed":    {request: ratelimit.Request{Cost: 1.5, MaxWait: expected}, want: line.ErrWaitLimit},
		"as many ahead as may stand there":  {request: ratelimit.Request{MaxQueue: 1}, want: line.ErrQueueFull},
		"fewer ahead than may stand there":  {request: ratelimit.Request{MaxQueue: 2}},
		"too late for the operation":        {notAfter: expected - 1, want: ratelimit.ErrNotAfter},
		"just in time for the operation":    {notAfter: expected},
		"an operation that is over already": {notAfter: -time.Second, want: ratelimit.ErrNotAfter},
		"all bounds wide enough":            {time.Hour, time.Hour, ratelimit.Request{MaxWait: time.Hour, MaxQueue: 9}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				limiter := throttled(clock.System{})
				first := call(t, limiter, ratelimit.Request{})
				defer first.cancel()
				ctx, cancel := context.WithCancel(t.Context())
				if tt.deadline != 0 {
					ctx, cancel = context.WithTimeout(t.Context(), tt.deadline)
				}
				defer cancel()
				if tt.notAfter != 0 {
					tt.request.NotAfter = time.Now().Add(tt.notAfter)
				}
				requireRefusal(ctx, t, limiter, tt.request, tt.want)
			})
		})
	}
}

// The time from now to such an instant is more than a Duration can be, or just as much.
func TestLimiterWaitsForAnOperationThatMayTakeCenturies(t *testing.T) {
	t.Parallel()
	for name, notAfter := range map[string]func() time.Time{
		"year 9999":            func() time.Time { return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) },
		"the longest duration": func() time.Time { return time.Now().Add(math.MaxInt64) },
		"a nanosecond less":    func() time.Time { return time.Now().Add(math.MaxInt64 - 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				sent, err := throttled(clock.System{}).Acquire(t.Context(), ratelimit.Request{NotAfter: notAfter()})
				require.NoError(t, err)
				require.Equal(t, start.Add(2*time.Second), sent)
			})
		})
	}
}

// requireRefusal checks that Acquire refuses at once and leaves everything as it was, or, if
// want is nil, that it waits and gets its token.
func requireRefusal(ctx context.Context, t *testing.T, limiter *sendrate.Limiter, r ratelimit.Request, want error) {
	t.Helper()
	start := time.Now()
	before := limiter.State()
	waitingBefore := before.Waiting
	r.OnWait = func(ratelimit.Wait) {
		if want != nil {
			t.Error("told of a wait that is refused")
		}
	}
	sent, err := limiter.Acquire(ctx, r)
	if want == nil {
		require.NoError(t, err)
		require.Equal(t, start.Add(4*time.Second), sent)
		return
	}
	require.Equal(t, start, time.Now(), "it waited")
	require.ErrorIs(t, err, want)
	var refused *ratelimit.WaitError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 1, refused.Wait.Ahead)
	require.GreaterOrEqual(t, refused.Wait.Expected, 4*time.Second)
	after := limiter.State()
	waitingAfter := after.Waiting
	require.Equal(t, before, after)
	require.Equal(t, waitingBefore, waitingAfter)
}

func TestLimiterGivesATokenThatIsThereToACallerWithoutRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter := throttled(clock.System{})
		require.NoError(t, clock.System{}.Sleep(t.Context(), time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sent, err := limiter.Acquire(ctx, ratelimit.Request{AttemptTime: time.Hour})
		require.NoError(t, err)
		require.Equal(t, time.Now(), sent)
	})
}

func TestWaitErrorSaysWhatWasRefused(t *testing.T) {
	t.Parallel()
	err := &ratelimit.WaitError{
		Wait:   ratelimit.Wait{Expected: 1500 * time.Millisecond, Ahead: 3, FillRate: 2.0 / 3},
		Reason: line.ErrQueueFull,
	}

	require.EqualError(t, err, "ratelimit: too many callers wait already: 1.5s to wait, 3 ahead, 0.6667 tokens/s")
	require.ErrorIs(t, err, line.ErrQueueFull)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	err.Reason = context.DeadlineExceeded
	require.EqualError(t, err,
		"ratelimit: the wait would leave too little time before the caller's deadline: 1.5s to wait, 3 ahead, 0.6667 tokens/s")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// aheadClock shows a later time than the one at which its timers are due.
type aheadClock struct {
	*clock.Fake
	by atomic.Int64
}

func (c *aheadClock) Now() time.Time { return c.Fake.Now().Add(time.Duration(c.by.Load())) }

func TestLimiterSendsNothingAfterTheEndOfTheOperation(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	over := ratelimit.Request{NotAfter: clk.Now()}
	free := sendrate.NewLimiter(sendrate.Config{}, &clk)
	limited := throttled(&clk)
	clk.Advance(3 * time.Second) // a token is there
	for name, limiter := range map[string]*sendrate.Limiter{"before the first throttle": free, "with a token": limited} {
		before := limiter.State()
		for _, noWait := range []bool{false, true} {
			over.NoWait = noWait
			_, err := limiter.Acquire(t.Context(), over)
			require.ErrorIs(t, err, ratelimit.ErrNotAfter, name)
		}
		after := limiter.State()
		waiting := after.Waiting
		before.SendTokens, after.SendTokens = 0, 0
		require.Equal(t, before, after)
		require.Zero(t, waiting)
		sent, err := limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true, NotAfter: clk.Now()})
		require.NoError(t, err, name)
		require.Equal(t, clk.Now(), sent)
	}
}

func TestLimiterTokenThatComesAfterTheEndOfTheOperationGoesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clk := &aheadClock{Fake: new(clock.Fake)}
		limiter := throttled(clk)
		waiter := call(t, limiter, ratelimit.Request{NotAfter: clk.Now().Add(2 * time.Second)})
		clk.by.Store(int64(3 * time.Second))
		limiter.Report(ratelimit.Response{}) // grants what is due, and the timer has not fired yet
		synctest.Wait()
		require.True(t, waiter.ended)
		require.ErrorIs(t, waiter.err, ratelimit.ErrNotAfter)
		state := limiter.State()
		waiting := state.Waiting
		require.InDelta(t, 1, state.SendTokens, 0)
		require.Zero(t, waiting)
	})
}

func TestLimiterCallerThatLearnsOfItsTokenTooLateSendsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		limiter := throttled(&clk)
		waiter := call(t, limiter, ratelimit.Request{NotAfter: clk.Now().Add(2 * time.Second)})
		clk.Advance(3 * time.Second) // the token comes in time on the way
		synctest.Wait()
		require.ErrorIs(t, waiter.err, ratelimit.ErrNotAfter)
		state := limiter.State()
		waiting := state.Waiting
		require.InDelta(t, 1, state.SendTokens, 0, "it went back")
		require.Zero(t, waiting)
	})
}

// A fake clock that is moved to the next waiter would be centuries ahead. The rate falls without a
// cut, because answers come at a much lower rate than the starting rate.
func TestLimiterSetsNoTimerForTokensThatTakeCenturies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clk clock.Fake
		limiter := sendrate.NewLimiter(sendrate.Config{StartingRate: 1e6}, &clk)
		limiter.Report(ratelimit.Response{Throttled: true})
		waiter := call(t, limiter, ratelimit.Request{Cost: 6e15})
		clk.Advance(time.Second)
		change := limiter.Report(ratelimit.Response{})
		require.False(t, change.Cut)
		require.Less(t, float64(change.To), 10.0)
		_, ok := clk.AdvanceToNext()
		require.False(t, ok)
		requireWaiting(t, limiter, 1)
		waiter.cancel()
	})
}
