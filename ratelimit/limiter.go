package ratelimit

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Limiter makes callers wait for the send tokens of a SendRate, first come,
// first served. Those who wait stand in one queue with one timer, for the first
// in line; no lock is held while they wait, and a change of the rate moves the
// timer. It is safe for concurrent use and needs no goroutine of its own.
type Limiter struct {
	clock clock.Clock

	// limited is true from the first throttle on; before it Acquire takes no lock.
	limited atomic.Bool

	mu    sync.Mutex // guards what follows; never held while waiting or calling back
	state SendRate
	queue list.List // of *waiter
	owed  float64   // the cost of all who wait
	timer clock.Timer
}

// waiter is a place in the queue.
type waiter struct {
	cost    float64
	place   *list.Element // nil once it has left the queue; guarded by Limiter.mu
	granted chan struct{} // closed when the tokens have been taken
	at      time.Time     // when that was; written before granted is closed
}

// NewLimiter returns a limiter that begins now, on the given clock.
func NewLimiter(config SendRateConfig, clk clock.Clock) *Limiter {
	start := config.Start
	if start.IsZero() {
		start = clk.Now()
	}
	return &Limiter{clock: clk, state: NewSendRate(config, start)}
}

// Acquire returns when the caller may send, and that instant, which Report
// wants to know. Until the first throttle that is at once. It fails without
// waiting when the request does not allow the wait or ctx would be done before
// its end (*WaitError), and with ctx.Err() when ctx is done first. A failure
// takes no token and gives up the place in the queue.
func (l *Limiter) Acquire(ctx context.Context, r Request) (sent time.Time, err error) {
	now := l.clock.Now()
	if !l.limited.Load() {
		return now, nil
	}
	e, err := l.enter(ctx, now, r)
	if e.waiter == nil {
		return e.sent, err
	}
	if r.OnWait != nil {
		l.tell(e, r.OnWait)
	}
	select {
	case <-e.waiter.granted:
		return e.waiter.at, nil
	case <-ctx.Done():
		l.leave(e.waiter)
		return time.Time{}, ctx.Err()
	}
}

// tell calls onWait for a caller in the queue, who leaves it if that panics.
func (l *Limiter) tell(e entry, onWait func(Wait)) {
	told := false
	defer func() {
		if !told {
			l.leave(e.waiter)
		}
	}()
	onWait(e.wait)
	told = true
}

// Report counts the response to an attempt, see SendRate.Report.
func (l *Limiter) Report(r Response) Change {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.state.bucket.Fill()
	cut := l.state.Report(now, r)
	if cut {
		l.limited.Store(true)
	}
	if l.queue.Len() > 0 {
		l.grantLocked(now)
	}
	return Change{From: from, To: l.state.bucket.Fill(), Cut: cut, Limited: l.state.limited}
}

// State reports the send rate as of the last call, and how many callers wait.
func (l *Limiter) State() (state SendRateState, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.State(), l.queue.Len()
}

// entry is what becomes of a caller that asks for tokens.
type entry struct {
	sent   time.Time // of one that got them
	waiter *waiter   // of one that is in the queue
	wait   Wait
}

// enter takes the tokens, queues the caller or refuses.
func (l *Limiter) enter(ctx context.Context, now time.Time, r Request) (entry, error) {
	cost := r.cost()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue.Len() == 0 {
		if _, ok := l.state.Take(now, cost); ok {
			return entry{sent: l.state.newest}, nil
		}
	}
	wait := l.waitLocked(now, cost)
	if reason := r.refuse(ctx, now, wait); reason != nil {
		return entry{}, &WaitError{Wait: wait, Reason: reason}
	}
	w := &waiter{cost: cost, granted: make(chan struct{})}
	w.place = l.queue.PushBack(w)
	l.owed += cost
	if l.queue.Len() == 1 {
		l.grantLocked(now)
	}
	return entry{waiter: w, wait: wait}, nil
}

// waitLocked says what a caller with this cost has to expect at the end of the
// queue if the rate stays as it is.
func (l *Limiter) waitLocked(now time.Time, cost float64) Wait {
	return Wait{
		Expected: l.state.Until(now, l.owed+cost),
		Ahead:    l.queue.Len(),
		FillRate: l.state.bucket.Fill(),
	}
}

// leave takes a caller that gives up out of the queue. If it was granted its
// tokens in the meantime, they go to the next.
func (l *Limiter) leave(w *waiter) {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.place == nil {
		l.state.Give(now, w.cost)
	} else {
		l.removeLocked(w)
	}
	l.grantLocked(now)
}

func (l *Limiter) removeLocked(w *waiter) {
	l.queue.Remove(w.place)
	w.place = nil
	l.owed -= w.cost
	if l.queue.Len() == 0 {
		l.owed = 0 // what rounding has left
	}
}

// wake is what the timer calls when the first in line is due.
func (l *Limiter) wake() {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grantLocked(now)
}

// grantLocked serves everybody who is due, in order, and sets the timer for the
// first who is not.
func (l *Limiter) grantLocked(now time.Time) {
	for first := l.queue.Front(); first != nil; first = l.queue.Front() {
		w, _ := first.Value.(*waiter)
		l.state.Lift(now, w.cost)
		wait, ok := l.state.Take(now, w.cost)
		if !ok {
			l.armLocked(wait)
			return
		}
		l.removeLocked(w)
		w.at = l.state.newest // not now: a cut may have come in between, and then this is after it
		close(w.granted)
	}
	l.state.Lift(now, 0)
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *Limiter) armLocked(wait time.Duration) {
	if l.timer == nil {
		l.timer = l.clock.AfterFunc(wait, l.wake)
		return
	}
	l.timer.Reset(wait)
}
