package proptest_test

import (
	"context"
	"slices"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

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
