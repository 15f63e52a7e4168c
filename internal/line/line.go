// Package line makes callers wait for tokens, first come, first served. The send rate and the retry quota use it.
//
// Locks are taken in this order: the lock of a line, which lines in front of it and lines beside it
// share; then a lock of an [Account]; then a lock of the clock. An account must not call a line while
// it holds its own lock. No lock is held while a caller waits or while code of a caller runs.
package line

import (
	"container/list"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/refill"
	"github.com/awsretry/awsretry/ratelimit"
)

// Account holds the tokens of a [Line], such as a bucket, or a list of slots from a server. The line
// calls its methods with the lock of the line held.
type Account interface {
	// Take takes cost tokens if they are there; cost is more than 0. It returns the instant that the tokens count from:
	// now, or a later one that the account has seen. If they are not there, it takes none and returns when they will be,
	// which is when the line asks again; the zero time if that is unknown.
	Take(now time.Time, cost float64) (at time.Time, ok bool)
	// Until returns how long it takes until there are cost tokens, for the first in line and all
	// others together; zero if they are there or if that is unknown. It takes none.
	Until(now time.Time, cost float64) time.Duration
	// Give returns tokens that were taken but not used.
	Give(now time.Time, cost float64)
	// Lift makes room for a cost above the capacity, which the first in line needs; a cost
	// of 0 ends that. An account without a capacity does nothing.
	Lift(now time.Time, cost float64)
	// Fill returns how many tokens come each second. It is only for [ratelimit.Wait].FillRate.
	Fill() ratelimit.Rate
}

// Line makes callers wait for the tokens of an [Account]. It has one queue and one timer, for the
// first in line, and needs no goroutine. It is safe for concurrent use. Use [New].
type Line struct {
	*shared
	account Account
	next    *Line        // where callers go on to; nil for a line that is in front of none
	front   *Line        // the line in front of this one, or nil
	beside  *Line        // whose account also serves callers of this one, or nil
	waiting atomic.Int64 // the length of queue and turns

	queue list.List // of *waiter
	turns list.List // of *waiter: the callers in lines beside this one, in the order in which they came
	owed  float64   // the cost of all callers in the queue
	timer clock.Timer
}

// shared is what a line shares with the lines in front of it and beside it.
type shared struct {
	clock   clock.Clock
	reading instant.Readings // of clock
	awaiter awaiter          // the clock, if it must know of waits; otherwise nil
	mu      sync.Mutex       // guards the lines and their accounts
}

// awaiter is a clock that must know which callers wait for its timers, such as clock.Fake.
type awaiter interface {
	// Await waits until done is closed or ctx is done.
	Await(ctx context.Context, done <-chan struct{}) error
}

// New returns a line for the tokens of an account, on the given clock. Call [Line.Poke] after anything
// but the line has taken tokens from the account, and [Line.Wake] after it has given some to it.
func New(account Account, clk clock.Clock) *Line {
	l := &struct { // one object, because most lines stand alone
		Line
		shared
	}{Line{account: account}, shared{clock: clk, reading: instant.NewReadings(clk)}}
	l.Line.shared = &l.shared
	l.awaiter, _ = clk.(awaiter)
	return &l.Line
}

// InFront returns a line for callers who need tokens of the account first, and then of the account of l,
// at whose end they go on to wait. There can be one. The caller holds the lock, see [Line.Lock].
func (l *Line) InFront(account Account) *Line {
	l.front = &Line{shared: l.shared, account: account, next: l}
	return l.front
}

// Beside returns another line, whose callers the account of l serves too if their own has too few tokens,
// see [Line.Pay]. It serves only the caller that came first of those in all such lines.
func (l *Line) Beside(account Account) *Line {
	return &Line{shared: l.shared, account: account, beside: l}
}

// waiter is a place in a line. The lock guards what changes, and after done is closed nothing does.
type waiter struct {
	cost    float64
	ends    ends
	wait    ratelimit.Wait // the expected wait of the caller
	line    *Line          // where it waits or waited last
	held    *Line          // the line in front, if it has tokens of that
	place   *list.Element  // in the queue of line; nil once it has left
	turn    *list.Element  // in line.beside.turns, or nil
	done    chan struct{}  // closed when the tokens have been taken, or the waiter was dismissed
	at      time.Time      // when the tokens were taken
	payer   *Line          // whose account they are from
	refused *ratelimit.WaitError
}

// Acquire returns when the caller may send, with that instant. It returns a [*ratelimit.WaitError] without waiting when
// the request does not allow the wait or when the wait would not leave [ratelimit.Request].AttemptTime before the deadline of
// ctx. It returns ctx.Err() when ctx is done first, and a [*ratelimit.WaitError] when [Line.Poke] finds that the wait
// has become too long, or when [ratelimit.Request].MaxWait or [ratelimit.Request].NotAfter has passed. A failed Acquire
// takes no token and leaves the line.
func (l *Line) Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error) {
	sent, _, err = l.acquire(ctx, &r, false)
	return sent, err
}

// Pay is Acquire for a caller who wants to know which account the tokens are from. beside says that they may
// be from that of the line that l is beside.
func (l *Line) Pay(ctx context.Context, r ratelimit.Request, beside bool) (payer Account, err error) {
	_, from, err := l.acquire(ctx, &r, beside)
	if err != nil {
		return nil, err
	}
	return from.account, nil
}

// acquire takes the tokens. Those that came in time go back if the caller learns of them too late to send.
func (l *Line) acquire(ctx context.Context, r *ratelimit.Request, beside bool) (at time.Time, payer *Line, err error) {
	at, w, err := l.enter(ctx, r, beside)
	if w == nil {
		return at, l, err
	}
	if r.OnWait != nil {
		l.tell(w, r.OnWait)
	}
	if err = l.await(ctx, w); err != nil {
		return time.Time{}, nil, err
	}
	if !r.NotAfter.IsZero() && Late(l.reading.Now(), r.NotAfter) {
		l.leave(w)
		return time.Time{}, nil, &ratelimit.WaitError{Wait: w.wait, Reason: ratelimit.ErrNotAfter}
	}
	return w.at, w.payer, nil
}

// enter takes the tokens, or returns the place of the caller in the line, or refuses.
func (l *Line) enter(ctx context.Context, r *ratelimit.Request, beside bool) (at time.Time, w *waiter, err error) {
	now, cost := l.reading.Now(), refill.Cost(r.Cost)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !Late(now, r.NotAfter) {
		if at, ok := l.takeAllLocked(now, cost); ok {
			return at, nil, nil
		}
	}
	wait, ends := l.waitLocked(now, l.queue.Len(), l.owed, cost), endsOf(ctx, r, now)
	if reason := refuse(r, now, wait, ends); reason != nil {
		return time.Time{}, nil, &ratelimit.WaitError{Wait: wait, Reason: reason}
	}
	w = &waiter{cost: cost, ends: ends, wait: wait, done: make(chan struct{})}
	if beside {
		w.turn = l.beside.turns.PushBack(w)
		l.beside.countLocked()
	}
	l.pushLocked(now, w)
	return time.Time{}, w, nil
}

// takeAllLocked takes the tokens that a caller needs if no caller waits for any.
func (l *Line) takeAllLocked(now time.Time, cost float64) (at time.Time, ok bool) {
	if l.queue.Len() > 0 {
		return at, false
	}
	if at, ok = l.account.Take(now, cost); !ok || l.next == nil {
		return at, ok
	}
	if at, ok = l.next.takeAllLocked(now, cost); !ok {
		l.account.Give(now, cost)
	}
	return at, ok
}

// pushLocked puts a caller at the end of the queue. A caller that adds tokens reads the number of those
// who wait afterwards, so either it sees the new one, or grantLocked sees the tokens.
func (l *Line) pushLocked(now time.Time, w *waiter) {
	w.line, w.place = l, l.queue.PushBack(w)
	l.owed += w.cost
	l.countLocked()
	if l.queue.Len() == 1 {
		l.grantLocked(now)
	}
}

func (l *Line) countLocked() { l.waiting.Store(int64(l.queue.Len() + l.turns.Len())) }

// await returns when it has taken the tokens. A failure takes none and leaves the line.
func (l *Line) await(ctx context.Context, w *waiter) error {
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
		l.Wake() // tokens that come at the last instant are in time
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

// wait returns nil when done is closed and ctx.Err() when ctx is done. If both have happened, it may return either.
func (s *shared) wait(ctx context.Context, done <-chan struct{}) error {
	if s.awaiter != nil {
		return s.awaiter.Await(ctx, done)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tell calls onWait for a caller in the line, which leaves it if onWait panics.
func (l *Line) tell(w *waiter, onWait func(ratelimit.Wait)) {
	returned := false
	defer func() {
		if !returned {
			l.leave(w)
		}
	}()
	onWait(w.wait)
	returned = true
}

// waitLocked returns the wait of a caller behind so many others, who are owed that much, if the rates stay as they are.
func (l *Line) waitLocked(now time.Time, ahead int, owed, cost float64) ratelimit.Wait {
	wait := ratelimit.Wait{Expected: l.account.Until(now, owed+cost), Ahead: ahead, FillRate: l.account.Fill()}
	if l.front != nil {
		wait.Ahead += l.front.queue.Len()
	}
	if l.next != nil {
		wait.Ahead += l.next.queue.Len()
		wait.Expected += min(l.next.account.Until(now, l.next.owed+cost), refill.Endless-wait.Expected)
	}
	return wait
}

// leave removes a caller that gives up from the line. Tokens that it has got go to the next.
func (l *Line) leave(w *waiter) {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case w.place != nil:
		w.removeLocked()
	case w.refused == nil:
		w.payer.account.Give(now, w.cost)
	}
	w.giveBackLocked(now)
	l.serveLocked(now)
}

// giveBackLocked gives back what a caller has got in the line in front; serveLocked must follow.
func (w *waiter) giveBackLocked(now time.Time) {
	if w.held != nil {
		w.held.account.Give(now, w.cost)
		w.held = nil
	}
}

// removeLocked removes a caller from its queue; grantLocked must follow.
func (w *waiter) removeLocked() {
	l := w.line
	l.queue.Remove(w.place)
	w.place = nil
	l.owed -= w.cost
	if l.queue.Len() == 0 {
		l.owed = 0 // drops rounding errors
	}
	l.countLocked()
	if w.turn != nil {
		l.beside.turns.Remove(w.turn)
		l.beside.countLocked()
		w.turn = nil
	}
}

func (w *waiter) refuseLocked(now time.Time, reason *ratelimit.WaitError) {
	w.removeLocked()
	w.giveBackLocked(now)
	w.refused = reason
	close(w.done)
}

// Give returns unused tokens of an Acquire of this cost; they go to the next in line.
func (l *Line) Give(cost float64) {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.account.Give(now, refill.Cost(cost))
	if l.next != nil {
		l.next.account.Give(now, refill.Cost(cost))
	}
	l.serveLocked(now)
}

// Expected returns how long a caller that came now would have to wait, as far as the account
// knows. A cost of zero or less means one.
func (l *Line) Expected(cost float64) time.Duration {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waitLocked(now, 0, l.owed, refill.Cost(cost)).Expected
}

// Late reports whether now is too late to send.
func Late(now, notAfter time.Time) bool { return !notAfter.IsZero() && now.After(notAfter) }

// Now reads the clock.
func (l *Line) Now() time.Time { return l.reading.Now() }

// Waiting returns how many callers wait, those in lines beside l included; 0 for nil.
func (l *Line) Waiting() int {
	if l == nil {
		return 0
	}
	return int(l.waiting.Load())
}

// Lock takes the lock, for an account that has no lock of its own, and returns the time. The caller must not
// call the line, but for InFront and Waiting, until [Line.Unlock] or, if nothing has changed, [Line.Release].
func (l *Line) Lock() (now time.Time) {
	now = l.reading.Now()
	l.mu.Lock()
	return now
}

// Unlock does as Wake, or as Poke if what the caller has changed makes waits longer, and releases the lock.
func (l *Line) Unlock(now time.Time, longer bool) {
	if l.queue.Len() > 0 || l.front != nil && l.front.queue.Len() > 0 {
		if longer { // those who leave do so before others are served
			l.dismissLocked(now)
		}
		l.serveLocked(now)
	}
	l.mu.Unlock()
}

// Release releases the lock.
func (l *Line) Release() { l.mu.Unlock() }

// Wake tells the line that its account has gained tokens, so that no wait has become longer. It serves
// those whose tokens are there, and sets the timer for the first of the others.
func (l *Line) Wake() {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serveLocked(now)
}

// Poke tells the line that its account has changed. It refuses, with a [*ratelimit.WaitError], callers that can no longer be
// served in time if the rate stays as it is; each refusal shortens the wait of those behind. It serves callers whose tokens
// are there, and sets the timer for the first of the others.
func (l *Line) Poke() {
	l.Unlock(l.Lock(), true)
}

// dismissLocked refuses the callers that Poke refuses, in the line in front too; serveLocked must follow.
func (l *Line) dismissLocked(now time.Time) {
	ahead, owed := 0, 0.0
	for place := l.queue.Front(); place != nil; {
		w, _ := place.Value.(*waiter)
		place = place.Next()
		wait := l.waitLocked(now, ahead, owed, w.cost)
		if reason := w.ends.refuse(now, wait.Expected); reason != nil {
			w.refuseLocked(now, &ratelimit.WaitError{Wait: wait, Reason: reason})
			continue
		}
		ahead++
		owed += w.cost
	}
	if l.front != nil {
		l.front.dismissLocked(now)
	}
}

// serveLocked serves in order all callers that are due, in the line in front and in those beside too.
func (l *Line) serveLocked(now time.Time) {
	if l.next != nil {
		l = l.next
	}
	l.grantLocked(now)
	if l.front != nil {
		l.front.grantLocked(now)
	}
	if l.beside != nil {
		l = l.beside
	}
	for first := l.turns.Front(); first != nil; {
		w, _ := first.Value.(*waiter)
		w.line.grantLocked(now)
		if l.turns.Front() == first {
			return
		}
		first = l.turns.Front()
	}
}

// grantLocked serves in order all callers in the queue that are due, and sets the timer for the first that is not.
func (l *Line) grantLocked(now time.Time) {
	for first := l.queue.Front(); first != nil; first = l.queue.Front() {
		w, _ := first.Value.(*waiter)
		if Late(now, w.ends.last) {
			w.refuseLocked(now, &ratelimit.WaitError{Wait: w.wait, Reason: w.ends.after})
			continue
		}
		l.account.Lift(now, w.cost)
		payer, at, ok := l.takeLocked(now, w)
		if !ok {
			l.armLocked(w, at)
			return
		}
		w.removeLocked()
		if l.next != nil {
			w.held = l
			l.next.pushLocked(now, w)
			continue
		}
		w.payer, w.at = payer, at // not now: a cut may have come in between, and then at is after it
		close(w.done)
	}
	l.account.Lift(now, 0)
	if l.timer != nil {
		l.timer.Stop()
	}
}

// takeLocked takes the tokens of the first caller in the queue.
func (l *Line) takeLocked(now time.Time, w *waiter) (payer *Line, at time.Time, ok bool) {
	if at, ok = l.account.Take(now, w.cost); ok {
		return l, at, true
	}
	if w.turn != nil && l.beside.turns.Front() == w.turn {
		if at, ok := l.beside.account.Take(now, w.cost); ok {
			return l.beside, at, true
		}
	}
	return nil, at, false
}

// armLocked sets the timer for the instant at which the tokens of w are due. If that is unknown, it sets the timer for the
// instant at which w gives up: w does that without it, but a clock that moves from timer to timer finds the instant this
// way. armLocked reads the clock again, because time may have passed since its caller read it.
func (l *Line) armLocked(w *waiter, due time.Time) {
	known := !due.IsZero()
	if !known {
		due = w.ends.last
	}
	left := due.Sub(l.reading.Now())
	switch {
	case !known && left <= 0:
		if l.timer != nil {
			l.timer.Stop()
		}
	case l.timer == nil:
		l.timer = l.clock.AfterFunc(left, l.Wake)
	default:
		l.timer.Reset(left)
	}
}
