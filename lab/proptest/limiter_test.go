package proptest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestLimiterServesInOrderAndWithinItsRate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { rapid.SyncTest(t, playLimiter) })
}

func playLimiter(t *rapid.T) {
	clk := clock.NewFake(start())
	config := sendrate.Config{Controller: drawFrom(t, "controller", ratelimit.CutPerEvent, ratelimit.CutPerThrottle)}
	run := &limiterRun{limiter: sendrate.NewLimiter(config, clk), clock: clk}
	defer run.cancelAll()
	if drawBool(t, "throttled before") {
		run.respond(drawInt(t, 0, 40, "responses"), ratelimit.Response{})
		run.pass(500 * time.Millisecond)
		run.respond(1, ratelimit.Response{Throttled: true})
	}
	t.Repeat(map[string]func(*rapid.T){
		"":        run.check,
		"arrive":  run.callerArrives,
		"crowd":   run.crowdArrives,
		"limited": run.limitedArrives,
		"cancel":  run.callerGivesUp,
		"race":    run.someGiveUpWhileTimePasses,
		"report":  run.anyReport,
		"climb":   run.climb,
		"pass":    func(t *rapid.T) { run.pass(drawPause(t, "pause")) },
		"jump":    func(*rapid.T) { run.jump() },
	})
	// The first one is served when its timer has fired, twice at most.
	for rounds := 2 * len(run.queue); len(run.queue) > 0; rounds-- {
		require.Positive(t, rounds, "%d wait still", len(run.queue))
		run.jump()
		run.check(t)
	}
	for _, c := range run.callers {
		require.True(t, c.done)
	}
}

func drawCost(t *rapid.T) float64 {
	return rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 3}), rapid.Float64Range(0.1, 6)).Draw(t, "cost")
}

func (r *limiterRun) callerArrives(t *rapid.T) {
	before, owed := len(r.queue), r.owed()
	c := r.arrive(t.Context(), ratelimit.Request{Cost: drawCost(t)})
	if c.done {
		require.NoError(t, c.err)
		require.True(t, c.free || before == 0, "served before callers that came earlier")
		require.Equal(t, r.clock.Now(), c.sent)
		return
	}
	r.checkWait(t, c, c.wait, before, owed)
}

func (r *limiterRun) crowdArrives(t *rapid.T) {
	for range drawInt(t, 2, 8, "callers") {
		r.arrive(t.Context(), ratelimit.Request{Cost: drawCost(t)})
	}
}

// limitedArrives lets a caller come that does not accept every wait.
func (r *limiterRun) limitedArrives(t *rapid.T) {
	before, owed := len(r.queue), r.owed()
	request := ratelimit.Request{Cost: drawCost(t)}
	ctx, limit, deadline := t.Context(), drawDuration(t, 1, 10*time.Second, "limit"), false
	var reason string // of a refusal
	switch drawInt(t, 0, 4, "kind") {
	case 0:
		request.NoWait, reason, limit = true, "waiting is not allowed", 0
	case 1:
		request.MaxQueue = drawInt(t, 1, 5, "max queue")
		if reason, limit = "too many callers wait already", forEver; before >= request.MaxQueue {
			limit = 0
		}
	case 2:
		request.MaxWait, reason = limit, "the wait would be longer than allowed"
	case 3:
		request.NotAfter, reason = r.clock.Now().Add(limit), "the wait would end too late"
	default:
		reason, deadline = "the wait would leave too little time before the caller's deadline", true
		var cancel context.CancelFunc
		ctx, cancel = r.clock.WithTimeout(ctx, limit)
		t.Cleanup(cancel)
	}
	c := r.arrive(ctx, request)
	refused, isRefused := errors.AsType[*ratelimit.WaitError](c.err)
	switch {
	case isRefused:
		require.ErrorContains(t, c.err, "ratelimit: "+reason)
		require.False(t, c.waits)
		r.checkWait(t, c, refused.Wait, before, owed)
		require.True(t, refused.Wait.Expected > limit || deadline && refused.Wait.Expected == limit, "%v", c.err)
	case c.done:
		require.NoError(t, c.err)
		require.True(t, c.free || before == 0, "served before callers that came earlier")
	default:
		r.checkWait(t, c, c.wait, before, owed)
		require.True(t, c.wait.Expected < limit || !deadline && c.wait.Expected == limit, "%v", c.wait)
	}
}

// checkWait compares the wait that a caller was told of with the books.
func (r *limiterRun) checkWait(t *rapid.T, c *caller, told ratelimit.Wait, ahead int, owed float64) {
	state := r.limiter.State()
	require.Equal(t, ahead, told.Ahead)
	require.InDelta(t, state.FillRate, float64(told.FillRate), 0)
	require.Positive(t, told.Expected)
	requireClose(t, (owed+c.cost-state.SendTokens)/state.FillRate, told.Expected.Seconds(), "expected wait")
}

func (r *limiterRun) callerGivesUp(t *rapid.T) {
	if len(r.queue) == 0 {
		return
	}
	c := r.queue[drawInt(t, 0, len(r.queue)-1, "caller")]
	c.cancel()
	r.settle()
	require.True(t, c.done)
	require.ErrorIs(t, c.err, context.Canceled)
}

// someGiveUpWhileTimePasses does not decide which caller is served first and which gives up.
func (r *limiterRun) someGiveUpWhileTimePasses(t *rapid.T) {
	var leaving []*caller
	for range drawInt(t, 1, 3, "callers") {
		if len(r.callers) > 0 {
			leaving = append(leaving, r.callers[drawInt(t, 0, len(r.callers)-1, "caller")])
		}
	}
	pause := drawPause(t, "pause")
	for _, c := range leaving {
		c.cancel()
	}
	r.pass(pause)
}

func (r *limiterRun) anyReport(t *rapid.T) {
	response := ratelimit.Response{Throttled: drawInt(t, 0, 2, "throttled") == 0}
	if drawBool(t, "with the send instant") {
		response.Sent = r.clock.Now().Add(-drawPause(t, "under way"))
	}
	r.respond(drawFrom(t, "responses", 1, 1, 5, 40), response)
}

// climb lets responses come that raise the rate.
func (r *limiterRun) climb(t *rapid.T) {
	for range drawInt(t, 1, 4, "windows") {
		r.pass(500 * time.Millisecond)
		r.respond(40, ratelimit.Response{})
	}
}

// jump goes to the instant at which the first in line is due.
func (r *limiterRun) jump() {
	state := r.limiter.State()
	if d, moved := r.clock.AdvanceToNext(); moved {
		r.brought += d.Seconds() * state.FillRate
	}
	r.settle()
}

// cancelAll ends all waits, so that a run that has failed ends.
func (r *limiterRun) cancelAll() {
	for _, c := range r.callers {
		c.cancel()
	}
}

// caller is an attempt that wants a send token.
type caller struct {
	cost   float64
	free   bool // came before the first throttle
	cancel context.CancelFunc
	wait   ratelimit.Wait // what it was told of the wait
	waits  bool           // was told of a wait
	done   bool
	sent   time.Time
	err    error
}

// limiterRun is a limiter and the books of all callers, in order of arrival. It
// runs in a bubble, so that whatever can move has moved after each step.
type limiterRun struct {
	limiter *sendrate.Limiter
	clock   *clock.Fake
	callers []*caller
	queue   []*caller // callers that wait, as the books have it
	brought float64   // what the rate has brought
}

// respond reports so many responses, which changes the rate.
func (r *limiterRun) respond(n int, response ratelimit.Response) {
	for range n {
		r.limiter.Report(response)
		r.settle()
	}
}

// pass lets time pass while the rate stays.
func (r *limiterRun) pass(d time.Duration) {
	state := r.limiter.State()
	r.brought += d.Seconds() * state.FillRate
	r.clock.Advance(d)
	r.settle()
}

// arrive lets a caller come and does not wait for it.
func (r *limiterRun) arrive(ctx context.Context, request ratelimit.Request) *caller {
	ctx, cancel := context.WithCancel(ctx)
	state := r.limiter.State()
	c := &caller{cost: request.Cost, cancel: cancel, free: !state.Limited}
	if request.Cost <= 0 {
		c.cost = 1
	}
	request.OnWait = func(w ratelimit.Wait) { c.wait, c.waits = w, true }
	r.callers = append(r.callers, c)
	go func() {
		c.sent, c.err = r.limiter.Acquire(ctx, request)
		c.done = true
	}()
	synctest.Wait()
	if !c.done {
		r.queue = append(r.queue, c)
	}
	return c
}

// settle takes the callers that have left the queue off the books of the queue.
func (r *limiterRun) settle() {
	synctest.Wait()
	r.queue = slices.DeleteFunc(r.queue, func(c *caller) bool { return c.done })
}

// owed is the cost of all callers that wait.
func (r *limiterRun) owed() (cost float64) {
	for _, c := range r.queue {
		cost += c.cost
	}
	return cost
}

// refresh brings the state of the limiter up to now and returns it.
func (r *limiterRun) refresh(t *rapid.T) retry.ScopeSnapshot {
	if len(r.queue) > 0 { // with an empty queue there might be a token to get
		_, err := r.limiter.Acquire(t.Context(), ratelimit.Request{NoWait: true})
		require.ErrorContains(t, err, "waiting is not allowed")
	}
	state := r.limiter.State()
	return state
}

// check closes the books after a step.
func (r *limiterRun) check(t *rapid.T) {
	waiting := r.limiter.State().Waiting
	require.Len(t, r.queue, waiting)
	spent, last := 0.0, time.Time{}
	for _, c := range r.callers {
		if !c.done || c.err != nil {
			continue
		}
		require.False(t, c.sent.Before(last), "served out of order")
		last = c.sent
		if !c.free {
			spent += c.cost
		}
	}
	r.checkBooks(t, spent)
	r.checkTimer(t)
}

// checkBooks sees that no more has been granted than there was, and that the first
// in line does not wait although its tokens are there.
func (r *limiterRun) checkBooks(t *rapid.T, spent float64) {
	state := r.refresh(t)
	const rounding = 1e-6
	require.LessOrEqual(t, spent+state.SendTokens, r.brought+rounding)
	require.GreaterOrEqual(t, state.SendTokens, 0.0)
	if len(r.queue) == 0 {
		require.LessOrEqual(t, state.SendTokens, state.SendCapacity)
		return
	}
	first := r.queue[0]
	require.Less(t, state.SendTokens, first.cost, "the first in line is due")
	require.LessOrEqual(t, state.SendTokens, max(state.SendCapacity, first.cost))
}

// checkTimer requires that the clock counts the callers that wait, and that there is a timer as
// long as a caller waits, and no longer.
func (r *limiterRun) checkTimer(t *rapid.T) {
	require.Equal(t, len(r.queue), r.clock.Waiters())
}
