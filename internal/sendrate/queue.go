package sendrate

import (
	"container/list"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/ratelimit"
)

// awaiter is a clock that must know which callers wait for its timers, such as clock.Fake.
type awaiter interface {
	// Await waits until done is closed or ctx is done.
	Await(ctx context.Context, done <-chan struct{}) error
}

// line is the common part of a Line and a Limiter.
type line struct {
	clock   clock.Clock
	reading instant.Readings // of clock
	awaiter awaiter          // the clock, if it must know of waits; otherwise nil
	waiting atomic.Int64     // the length of the queue

	mu      sync.Mutex // guards what follows; never held while waiting or calling back
	account Account
	queue   list.List // of *waiter
	owed    float64   // the cost of all waiting callers
	timer   clock.Timer
	sweep   sweep

	cuts     atomic.Uint64 // how often dismiss was called
	sweeping sync.Mutex    // held during a sweep; taken before mu; guards what follows
	swept    uint64        // cuts when the last sweep began
}

// sweep checks all waiting callers, from the first to the last. It releases the lock of the line
// after each batch, so that others can get it.
type sweep struct {
	number uint64        // of the sweep; 0 before the first
	next   *list.Element // the next caller to look at
	ahead  int           // checked callers that still wait
	owed   float64       // the cost of those
}

// batch is how many callers a sweep checks before it releases the lock.
const batch = 256

// begin sets up a line for the tokens of an account.
func (l *line) begin(clk clock.Clock, a Account) {
	l.clock, l.reading, l.account = clk, instant.NewReadings(clk), a
	l.awaiter, _ = clk.(awaiter)
}

// waiter is a place in the queue.
type waiter struct {
	cost    float64
	ends    ends
	wait    ratelimit.Wait       // the expected wait of the caller
	swept   uint64               // the last sweep that checked it; guarded by line.mu
	place   *list.Element        // nil once it has left the queue; guarded by line.mu
	done    chan struct{}        // closed when the tokens have been taken, or the waiter was dismissed
	at      time.Time            // when the tokens were taken; written before done is closed
	refused *ratelimit.WaitError // why the waiter was dismissed; likewise
}

// acquire returns when the caller may send, with that instant. Tokens that came in time go back if
// the caller learns of them too late to send.
func (l *line) acquire(ctx context.Context, now time.Time, r ratelimit.Request) (at time.Time, err error) {
	at, w, err := l.enter(ctx, now, r)
	if w == nil {
		return at, err
	}
	if r.OnWait != nil {
		l.emitWait(w, r.OnWait)
	}
	if err = l.await(ctx, w); err != nil {
		return time.Time{}, err
	}
	if !r.NotAfter.IsZero() && late(l.reading.Now(), r.NotAfter) {
		l.leave(w)
		return time.Time{}, &ratelimit.WaitError{Wait: w.wait, Reason: ratelimit.ErrNotAfter}
	}
	return w.at, nil
}

// enter takes the tokens, or returns the place of the caller in the queue, or refuses.
func (l *line) enter(ctx context.Context, now time.Time, r ratelimit.Request) (at time.Time, w *waiter, err error) {
	cost := costOf(r.Cost)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue.Len() == 0 && !late(now, r.NotAfter) {
		if at, ok := l.account.Take(now, cost); ok {
			return at, nil, nil
		}
	}
	wait, ends := l.waitLocked(now, cost), endsOf(ctx, r, now)
	if reason := refuse(r, now, wait, ends); reason != nil {
		return time.Time{}, nil, &ratelimit.WaitError{Wait: wait, Reason: reason}
	}
	w = &waiter{cost: cost, ends: ends, wait: wait, done: make(chan struct{})}
	w.place = l.queue.PushBack(w)
	l.owed += cost
	// A caller that adds tokens reads this afterwards, so either it sees the waiter, or grantLocked
	// below sees the tokens.
	l.waiting.Store(int64(l.queue.Len()))
	if l.queue.Len() == 1 {
		l.grantLocked(now)
	}
	return time.Time{}, w, nil
}

// await returns when it has taken the tokens. A failure takes none and leaves the queue.
func (l *line) await(ctx context.Context, w *waiter) error {
	waiting := ctx
	if end := w.ends.last; !end.IsZero() {
		// Sub stops at the longest Duration; an instant that far away is no limit.
		if left := end.Sub(l.reading.Now()); left < math.MaxInt64 {
			var cancel context.CancelFunc
			waiting, cancel = clock.WithTimeout(ctx, l.clock, left)
			defer cancel()
		}
	}
	if l.wait(waiting, w.done) != nil {
		if ctx.Err() != nil {
			l.leave(w)
			return ctx.Err()
		}
		l.wake() // tokens that come at the last instant are in time
	}
	select {
	case <-w.done:
		if w.refused != nil {
			return w.refused
		}
		return nil
	default:
		l.leave(w)
		return &ratelimit.WaitError{Wait: w.wait, Reason: w.ends.after}
	}
}

// wait returns nil when done is closed and ctx.Err() when ctx is done. If both have happened, it
// may return either.
func (l *line) wait(ctx context.Context, done <-chan struct{}) error {
	if l.awaiter != nil {
		return l.awaiter.Await(ctx, done)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// emitWait calls onWait for a caller in the queue, which leaves it if onWait panics.
func (l *line) emitWait(w *waiter, onWait func(ratelimit.Wait)) {
	returned := false
	defer func() {
		if !returned {
			l.leave(w)
		}
	}()
	onWait(w.wait)
	returned = true
}

// waitLocked returns the wait of a caller with this cost at the end of the queue if the rate stays
// as it is.
func (l *line) waitLocked(now time.Time, cost float64) ratelimit.Wait {
	return ratelimit.Wait{
		Expected: l.account.Until(now, l.owed+cost),
		Ahead:    l.queue.Len(),
		FillRate: l.account.Fill(),
	}
}

// expected returns how long a caller that comes now has to wait.
func (l *line) expected(now time.Time, cost float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waitLocked(now, costOf(cost)).Expected
}

// leave removes a caller that gives up from the queue. If it has got its tokens meanwhile, they go
// to the next.
func (l *line) leave(w *waiter) {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case w.place != nil:
		l.removeLocked(w)
	case w.refused == nil:
		l.account.Give(now, w.cost)
	}
	l.grantLocked(now)
}

// removeLocked removes a caller from the queue; grantLocked must follow. What it subtracts from a
// finished sweep does not matter, because the next one starts from zero.
func (l *line) removeLocked(w *waiter) {
	switch {
	case w.swept == l.sweep.number:
		l.sweep.ahead--
		l.sweep.owed -= w.cost
	case w.place == l.sweep.next:
		l.sweep.next = w.place.Next()
	}
	l.queue.Remove(w.place)
	l.waiting.Store(int64(l.queue.Len()))
	w.place = nil
	l.owed -= w.cost
	if l.queue.Len() == 0 {
		l.owed = 0 // drops rounding errors
	}
}

// give returns tokens that a caller got but did not use; they go to the next.
func (l *line) give(cost float64) {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account.Give(now, costOf(cost))
	l.grantLocked(now)
}

// wake is what the timer calls when the first in line is due.
func (l *line) wake() {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grantLocked(now)
}

// dismiss refuses callers that can no longer be served in time if the rate, which has fallen, stays
// as it is. Each refusal shortens the wait of all callers behind. When dismiss returns, a sweep
// that began after the call has checked all callers that waited then.
func (l *line) dismiss() {
	cut := l.cuts.Add(1)
	l.sweeping.Lock()
	defer l.sweeping.Unlock()
	if l.swept >= cut {
		return // by a sweep for a later cut
	}
	l.swept = l.cuts.Load()
	for more := l.beginSweep(); more; {
		more = l.sweepOn()
	}
}

// beginSweep begins a sweep and reports whether there is a caller to check.
func (l *line) beginSweep() (more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep = sweep{number: l.sweep.number + 1, next: l.queue.Front()}
	return l.sweep.next != nil
}

// sweepOn checks a batch of callers, and serves those that are due. It reports whether there are
// more to check.
func (l *line) sweepOn() (more bool) {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	s, fill := &l.sweep, l.account.Fill()
	for range batch {
		if s.next == nil {
			break
		}
		w, _ := s.next.Value.(*waiter)
		wait := ratelimit.Wait{Expected: l.account.Until(now, s.owed+w.cost), Ahead: s.ahead, FillRate: fill}
		if reason := w.ends.refuse(now, wait.Expected); reason != nil {
			l.refuseLocked(w, &ratelimit.WaitError{Wait: wait, Reason: reason})
			continue
		}
		w.swept, s.next = s.number, s.next.Next()
		s.ahead++
		s.owed += w.cost
	}
	l.grantLocked(now)
	return s.next != nil
}

func (l *line) refuseLocked(w *waiter, reason *ratelimit.WaitError) {
	l.removeLocked(w)
	w.refused = reason
	close(w.done)
}

// grantLocked serves in order all callers that are due, and sets the timer for the first that is
// not.
func (l *line) grantLocked(now time.Time) {
	for first := l.queue.Front(); first != nil; first = l.queue.Front() {
		w, _ := first.Value.(*waiter)
		if late(now, w.ends.last) {
			l.refuseLocked(w, &ratelimit.WaitError{Wait: w.wait, Reason: w.ends.after})
			continue
		}
		l.account.Lift(now, w.cost)
		at, ok := l.account.Take(now, w.cost)
		if !ok {
			l.armLocked(w, at)
			return
		}
		l.removeLocked(w)
		w.at = at // not now: a cut may have come in between, and then at is after it
		close(w.done)
	}
	l.account.Lift(now, 0)
	l.disarmLocked()
}

// armLocked sets the timer for the instant at which the tokens of w are due. If that is unknown, it
// sets the timer for the instant at which w gives up: w does that without it, but a clock that
// moves from timer to timer finds the instant this way. armLocked reads the clock again, because
// time may have passed since its caller read it.
func (l *line) armLocked(w *waiter, due time.Time) {
	known := !due.IsZero()
	if !known {
		due = w.ends.last
	}
	left := due.Sub(l.reading.Now())
	switch {
	case !known && left <= 0:
		l.disarmLocked()
		return
	case l.timer == nil:
		l.timer = l.clock.AfterFunc(left, l.wake)
	default:
		l.timer.Reset(left)
	}
}

// disarmLocked stops the timer.
func (l *line) disarmLocked() {
	if l.timer != nil {
		l.timer.Stop()
	}
}
