package ratelimit

import (
	"container/list"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// account is what a line hands tokens out of. The line calls it with its lock
// held.
type account interface {
	// Take takes cost tokens, or says how long the missing ones take; endless if that
	// cannot be foreseen.
	Take(now time.Time, cost float64) (wait time.Duration, ok bool)
	// Until says how long it takes until cost tokens are there, as far as that can be
	// foreseen; zero if not.
	Until(now time.Time, cost float64) time.Duration
	// Give puts tokens back that were taken and not used.
	Give(now time.Time, cost float64)
	// Lift makes room for a cost above the capacity, for the first in line.
	Lift(now time.Time, cost float64)
	// Fill reports how many tokens come each second.
	Fill() Rate
	// Instant returns what the account reads now as.
	Instant(now time.Time) time.Time
}

// waiterCounter is a clock that counts who waits on it, such as clock.Fake. Only the
// first in line has a timer there, so the line says how many others wait.
type waiterCounter interface {
	// AddWaiters counts n more callers that wait, or n fewer if it is negative. The
	// line calls it with its lock held, so it calls nothing of the line.
	AddWaiters(n int)
}

// line is a queue in which callers wait for the tokens of an account, first come,
// first served. It has one timer, for the first in line; no lock is held while
// somebody waits.
type line struct {
	clock   clock.Clock
	reading clock.Readings // of clock
	counter waiterCounter  // the clock, if it counts; otherwise nil
	waiting atomic.Int64   // the length of the queue

	mu      sync.Mutex // guards what follows; never held while waiting or calling back
	account account
	queue   list.List // of *waiter
	owed    float64   // the cost of all who wait
	timer   clock.Timer
}

// begin makes the line one for the tokens of an account.
func (l *line) begin(clk clock.Clock, a account) {
	l.clock, l.reading, l.account = clk, clock.NewReadings(clk), a
	l.counter, _ = clk.(waiterCounter)
}

// waiter is a place in the queue.
type waiter struct {
	cost    float64
	ends    ends
	until   time.Time     // when it gives up; zero if that is not known here
	place   *list.Element // nil once it has left the queue; guarded by line.mu
	done    chan struct{} // closed when the tokens have been taken, or the waiter was dismissed
	at      time.Time     // when the tokens were taken; written before done is closed
	refused *WaitError    // why the waiter was dismissed; likewise
}

// acquire returns when the tokens have been taken, and that instant. A failure
// takes none and leaves the queue.
func (l *line) acquire(ctx context.Context, now time.Time, r Request) (at time.Time, err error) {
	e, err := l.enter(ctx, now, r)
	if e.waiter == nil {
		return e.at, err
	}
	if r.OnWait != nil {
		l.tell(e, r.OnWait)
	}
	waiting := ctx
	// Sub stops at the longest Duration; an instant that is as far away is no limit.
	if left := r.NotAfter.Sub(now); !r.NotAfter.IsZero() && left < math.MaxInt64 {
		var cancel context.CancelFunc
		waiting, cancel = clock.WithTimeout(ctx, l.clock, left+1)
		defer cancel()
	}
	select {
	case <-e.waiter.done:
		if e.waiter.refused != nil {
			return time.Time{}, e.waiter.refused
		}
		if !r.NotAfter.IsZero() && r.late(l.reading.Now()) {
			l.leave(e.waiter)
			return time.Time{}, &WaitError{Wait: e.wait, Reason: ErrNotAfter}
		}
		return e.waiter.at, nil
	case <-waiting.Done():
		l.leave(e.waiter)
		if ctx.Err() != nil {
			return time.Time{}, ctx.Err()
		}
		return time.Time{}, &WaitError{Wait: e.wait, Reason: ErrNotAfter}
	}
}

// tell calls onWait for a caller in the queue, who leaves it if that panics.
func (l *line) tell(e entry, onWait func(Wait)) {
	told := false
	defer func() {
		if !told {
			l.leave(e.waiter)
		}
	}()
	onWait(e.wait)
	told = true
}

// entry is what becomes of a caller that asks for tokens.
type entry struct {
	at     time.Time // of one that got them
	waiter *waiter   // of one that is in the queue
	wait   Wait
}

// enter takes the tokens, queues the caller or refuses.
func (l *line) enter(ctx context.Context, now time.Time, r Request) (entry, error) {
	cost := r.cost()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue.Len() == 0 && !r.late(now) {
		if _, ok := l.account.Take(now, cost); ok {
			return entry{at: l.account.Instant(now)}, nil
		}
	}
	wait := l.waitLocked(now, cost)
	if reason := r.refuse(ctx, now, wait); reason != nil {
		return entry{}, &WaitError{Wait: wait, Reason: reason}
	}
	w := &waiter{cost: cost, ends: r.ends(ctx), until: r.until, done: make(chan struct{})}
	w.place = l.queue.PushBack(w)
	l.owed += cost
	// A caller that adds tokens looks at this afterwards, so that either it sees the
	// waiter or the waiter, which looks once more below, sees the tokens.
	l.waiting.Store(int64(l.queue.Len()))
	if l.queue.Len() == 1 {
		l.grantLocked(now)
	} else if l.counter != nil {
		l.counter.AddWaiters(1)
	}
	return entry{waiter: w, wait: wait}, nil
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

func (l *line) removeLocked(w *waiter) {
	l.queue.Remove(w.place)
	l.waiting.Store(int64(l.queue.Len()))
	w.place = nil
	l.owed -= w.cost
	if l.queue.Len() == 0 {
		l.owed = 0 // what rounding has left
	} else if l.counter != nil {
		l.counter.AddWaiters(-1) // the timer is now for one of the others
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
			l.removeLocked(w)
			w.refused = &WaitError{Wait: wait, Reason: reason}
			close(w.done)
			continue
		}
		ahead.Ahead++
		owed += w.cost
	}
}

// grantLocked serves everybody who is due, in order, and sets the timer for the
// first who is not.
func (l *line) grantLocked(now time.Time) {
	for first := l.queue.Front(); first != nil; first = l.queue.Front() {
		w, _ := first.Value.(*waiter)
		l.account.Lift(now, w.cost)
		wait, ok := l.account.Take(now, w.cost)
		if !ok {
			l.armLocked(w, l.account.Instant(now), wait)
			return
		}
		l.removeLocked(w)
		w.at = l.account.Instant(now) // not now: a cut may have come in between, and then this is after it
		close(w.done)
	}
	l.account.Lift(now, 0)
	if l.timer != nil {
		l.timer.Stop()
	}
}

// armLocked sets the timer for the end of a wait of w that began at from. The clock is
// read once more, because time may have passed since the caller read it. A wait that
// is endless has no end to set it for, only the instant at which w gives up: w does
// that by itself, but a clock that moves from timer to timer finds it this way.
func (l *line) armLocked(w *waiter, from time.Time, wait time.Duration) {
	due := from.Add(wait)
	if wait == endless {
		due = w.until
	}
	left := due.Sub(l.reading.Now())
	switch {
	case wait == endless && left <= 0:
		if l.timer != nil {
			l.timer.Stop()
		}
	case l.timer == nil:
		l.timer = l.clock.AfterFunc(left, l.wake)
	default:
		l.timer.Reset(left)
	}
}
