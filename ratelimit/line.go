package ratelimit

import (
	"container/list"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
)

// Account is what a Line hands tokens out of, such as a bucket, or a list of slots that
// a server has handed out. The line calls its methods with the lock of the line held.
// An account may take a lock of its own in them, but must not call the line while it
// holds that.
type Account interface {
	// Take takes cost tokens, which is more than 0, if they are there, and returns the
	// instant that it counts them at: now, or a later one that it has seen. If they are
	// not there it takes none and returns when they will be, which is when the line asks
	// again; the zero time if that is not known.
	Take(now time.Time, cost float64) (at time.Time, ok bool)
	// Until returns how long it takes until there are cost tokens, for the first in line
	// and all others together; zero if they are there, or if that is not known. It takes
	// none.
	Until(now time.Time, cost float64) time.Duration
	// Give takes tokens back that were taken and not used.
	Give(now time.Time, cost float64)
	// Lift makes room for a cost above the capacity, because the caller that is first in
	// line needs that many; a cost of 0 ends that. An account without a capacity does
	// nothing.
	Lift(now time.Time, cost float64)
	// Fill returns how many tokens come each second, for Wait.FillRate only.
	Fill() Rate
}

// Line makes callers wait for the tokens of an Account, first come, first served. Those
// who wait stand in one queue with one timer, for the first in line. No lock is held
// while they wait. A Line is safe for concurrent use and needs no goroutine of its own.
type Line struct{ line }

// NewLine returns a line for the tokens of an account, on the given clock. Tokens that
// are taken from the account by other means than the line, or given to it, are a change
// for Poke.
func NewLine(account Account, clk clock.Clock) *Line {
	l := new(Line)
	l.begin(clk, account)
	return l
}

// Acquire returns when the caller may send, and that instant. It fails without waiting
// when the request does not allow the wait or ctx would be done before its end
// (*WaitError), and with ctx.Err() when ctx is done first. A wait that Poke finds too
// long fails then (*WaitError). A failure takes no token and gives up the place in the
// queue.
func (l *Line) Acquire(ctx context.Context, r Request) (sent time.Time, err error) {
	return l.acquire(ctx, l.reading.Now(), r)
}

// Expected says how long a caller that asked now would have to wait, as far as the
// account knows. A cost of zero or less means one.
func (l *Line) Expected(cost float64) time.Duration { return l.expected(l.reading.Now(), cost) }

// Waiting reports how many callers wait.
func (l *Line) Waiting() int { return int(l.waiting.Load()) }

// Poke says that the account has changed. Callers that can no longer be served before
// their deadline or before NotAfter fail with ErrDeadline or ErrNotAfter. Those whose
// tokens are there get them. The timer moves to when the first of the others is due.
func (l *Line) Poke() {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dismissLocked(now)
	l.grantLocked(now)
}

// awaiter is a clock that must see who waits for its timers, such as clock.Fake.
type awaiter interface {
	// Await waits until done is closed or ctx is done.
	Await(ctx context.Context, done <-chan struct{}) error
}

// line is what a Line, a Limiter and a QuotaLine have in common.
type line struct {
	clock   clock.Clock
	reading instant.Readings // of clock
	awaiter awaiter          // the clock, if it must see who waits; otherwise nil
	waiting atomic.Int64     // the length of the queue

	mu      sync.Mutex // guards what follows; never held while waiting or calling back
	account Account
	queue   list.List // of *waiter
	owed    float64   // the cost of all who wait
	timer   clock.Timer
}

// begin makes the line one for the tokens of an account.
func (l *line) begin(clk clock.Clock, a Account) {
	l.clock, l.reading, l.account = clk, instant.NewReadings(clk), a
	l.awaiter, _ = clk.(awaiter)
}

// waiter is a place in the queue.
type waiter struct {
	cost    float64
	ends    ends
	wait    Wait          // what it had to expect
	place   *list.Element // nil once it has left the queue; guarded by line.mu
	done    chan struct{} // closed when the tokens have been taken, or the waiter was dismissed
	at      time.Time     // when the tokens were taken; written before done is closed
	refused *WaitError    // why the waiter was dismissed; likewise
}

// acquire returns when the caller may send, and that instant. Tokens that came in time
// go back if the caller learns of them too late to send.
func (l *line) acquire(ctx context.Context, now time.Time, r Request) (at time.Time, err error) {
	at, w, err := l.await(ctx, now, r)
	if err == nil && w != nil && !r.NotAfter.IsZero() && late(l.reading.Now(), r.NotAfter) {
		l.leave(w)
		return time.Time{}, &WaitError{Wait: w.wait, Reason: ErrNotAfter}
	}
	return at, err
}

// await returns when the tokens have been taken, and that instant, with the place in
// the queue if there was one. A failure takes none and leaves the queue.
func (l *line) await(ctx context.Context, now time.Time, r Request) (at time.Time, w *waiter, err error) {
	at, w, err = l.enter(ctx, now, r)
	if w == nil {
		return at, nil, err
	}
	if r.OnWait != nil {
		l.tell(w, r.OnWait)
	}
	waiting := ctx
	// Sub stops at the longest Duration; an instant that is as far away is no limit.
	if left := r.NotAfter.Sub(now); !r.NotAfter.IsZero() && left < math.MaxInt64 {
		var cancel context.CancelFunc
		waiting, cancel = clock.WithTimeout(ctx, l.clock, left)
		defer cancel()
	}
	if l.wait(waiting, w.done) != nil {
		if ctx.Err() != nil {
			l.leave(w)
			return time.Time{}, nil, ctx.Err()
		}
		l.wake() // tokens that come at the last instant come in time
	}
	select {
	case <-w.done:
		if w.refused != nil {
			return time.Time{}, nil, w.refused
		}
		return w.at, w, nil
	default:
		l.leave(w)
		return time.Time{}, nil, &WaitError{Wait: w.wait, Reason: ErrNotAfter}
	}
}

// wait returns when done is closed or ctx is done; in the latter case the error is that
// of ctx, where both have happened that of either.
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

// tell calls onWait for a caller in the queue, who leaves it if that panics.
func (l *line) tell(w *waiter, onWait func(Wait)) {
	told := false
	defer func() {
		if !told {
			l.leave(w)
		}
	}()
	onWait(w.wait)
	told = true
}

// enter takes the tokens, or returns the place of the caller in the queue, or refuses.
func (l *line) enter(ctx context.Context, now time.Time, r Request) (at time.Time, w *waiter, err error) {
	cost := r.cost()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue.Len() == 0 && !late(now, r.NotAfter) {
		if at, ok := l.account.Take(now, cost); ok {
			return at, nil, nil
		}
	}
	wait := l.waitLocked(now, cost)
	if reason := r.refuse(ctx, now, wait); reason != nil {
		return time.Time{}, nil, &WaitError{Wait: wait, Reason: reason}
	}
	w = &waiter{cost: cost, ends: r.ends(ctx), wait: wait, done: make(chan struct{})}
	w.place = l.queue.PushBack(w)
	l.owed += cost
	// A caller that adds tokens looks at this afterwards, so that either it sees the
	// waiter or the waiter, which looks once more below, sees the tokens.
	l.waiting.Store(int64(l.queue.Len()))
	if l.queue.Len() == 1 {
		l.grantLocked(now)
	}
	return time.Time{}, w, nil
}

// waitLocked says what a caller with this cost has to expect at the end of the
// queue if the rate stays as it is.
func (l *line) waitLocked(now time.Time, cost float64) Wait {
	return Wait{
		Expected: l.account.Until(now, l.owed+cost),
		Ahead:    l.queue.Len(),
		FillRate: l.account.Fill(),
	}
}

// expected is how long a caller that asks now has to wait.
func (l *line) expected(now time.Time, cost float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waitLocked(now, Request{Cost: cost}.cost()).Expected
}

// leave takes a caller that gives up out of the queue. If it was granted its
// tokens in the meantime, they go to the next.
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

// removeLocked takes a caller out of the queue; grantLocked has to follow.
func (l *line) removeLocked(w *waiter) {
	l.queue.Remove(w.place)
	l.waiting.Store(int64(l.queue.Len()))
	w.place = nil
	l.owed -= w.cost
	if l.queue.Len() == 0 {
		l.owed = 0 // what rounding has left
	}
}

// wake is what the timer calls when the first in line is due.
func (l *line) wake() {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grantLocked(now)
}

// dismissLocked sends those away who cannot be served in time any more if the rate,
// which has fallen, stays as it is. Each of them makes the wait of all behind shorter.
func (l *line) dismissLocked(now time.Time) {
	ahead := Wait{FillRate: l.account.Fill()}
	owed := 0.0
	for next := l.queue.Front(); next != nil; {
		w, _ := next.Value.(*waiter)
		next = next.Next()
		wait := ahead
		wait.Expected = l.account.Until(now, owed+w.cost)
		if reason := w.ends.refuse(now, wait.Expected); reason != nil {
			l.refuseLocked(w, &WaitError{Wait: wait, Reason: reason})
			continue
		}
		ahead.Ahead++
		owed += w.cost
	}
}

func (l *line) refuseLocked(w *waiter, reason *WaitError) {
	l.removeLocked(w)
	w.refused = reason
	close(w.done)
}

// grantLocked serves in order all who are due, and sets the timer for the first who is
// not.
func (l *line) grantLocked(now time.Time) {
	for first := l.queue.Front(); first != nil; first = l.queue.Front() {
		w, _ := first.Value.(*waiter)
		if late(now, w.ends.notAfter) {
			l.refuseLocked(w, &WaitError{Wait: w.wait, Reason: ErrNotAfter})
			continue
		}
		l.account.Lift(now, w.cost)
		at, ok := l.account.Take(now, w.cost)
		if !ok {
			l.armLocked(w, at)
			return
		}
		l.removeLocked(w)
		w.at = at // not now: a cut may have come in between, and then this is after it
		close(w.done)
	}
	l.account.Lift(now, 0)
	l.disarmLocked()
}

// armLocked sets the timer for the instant at which the tokens of w are due. If that is
// not known, it is set for the instant at which w gives up: w does that by itself, but a
// clock that moves from timer to timer finds it this way. The clock is read once more,
// because time may have passed since the caller read it.
func (l *line) armLocked(w *waiter, due time.Time) {
	known := !due.IsZero()
	if !known {
		due = w.ends.notAfter
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
