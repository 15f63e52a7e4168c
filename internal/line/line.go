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

// Line makes callers wait for the tokens of an [Account]. With the lines in front of it and beside it, it has one
// queue and one timer, and needs no goroutine. It is safe for concurrent use. Use [New].
type Line struct {
	*shared
	account Account
	next    *Line        // whose account callers need too; nil for a line that is in front of none
	beside  *Line        // whose account also serves callers of this one, or nil
	waiting atomic.Int64 // how many callers wait for the account
	owed    float64      // the cost of these
	blocked uint64       // the last pass in which the account had too few tokens
}

// shared is what a line shares with the lines in front of it and beside it.
type shared struct {
	clock   clock.Clock
	reading instant.Readings // of clock
	awaiter awaiter          // the clock, if it must know of waits; otherwise nil

	mu    sync.Mutex // guards the lines, their accounts, and what follows
	queue list.List  // of *waiter, in the order in which they came
	busy  int        // lines with callers that wait
	pass  uint64     // counts the times that the queue was served
	timer clock.Timer
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

// InFront returns a line for callers who need tokens of the account first, and then of the account of l.
func (l *Line) InFront(account Account) *Line {
	return &Line{shared: l.shared, account: account, next: l}
}

// Beside returns another line, whose callers the account of l serves too if their own has too few tokens,
// see [Line.Pay]. It serves only the caller that came first of those in all such lines. No caller may wait in l itself.
func (l *Line) Beside(account Account) *Line {
	return &Line{shared: l.shared, account: account, beside: l}
}

// waiter is a place in a line. The lock guards what changes, and after done is closed nothing does.
type waiter struct {
	cost    float64
	ends    ends
	wait    ratelimit.Wait // the expected wait of the caller
	beside  bool           // the account of line.beside may serve it
	line    *Line          // where it waits or waited last
	place   *list.Element  // in the queue; nil once it has left
	done    chan struct{}  // closed when the tokens have been taken, or the waiter was dismissed
	taken   []Account      // that it has tokens of
	at      time.Time      // when the last were taken
	refused *ratelimit.WaitError
}

// Acquire returns when the caller may send, with that instant. It returns a [*ratelimit.WaitError] without waiting when
// the request does not allow the wait or when the wait would not leave [ratelimit.Request].AttemptTime before the deadline of
// ctx. It returns ctx.Err() when ctx is done first, and a [*ratelimit.WaitError] when [Line.Poke] finds that the wait
// has become too long, or when [ratelimit.Request].MaxWait or [ratelimit.Request].NotAfter has passed. A failed Acquire
// takes no token and leaves the line.
func (l *Line) Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error) {
	sent, _, err = l.Pay(ctx, r, false)
	return sent, err
}

// Pay is Acquire for a caller who wants to know which account the tokens are from. beside says that they may
// be from that of the line that l is beside.
func (l *Line) Pay(ctx context.Context, r ratelimit.Request, beside bool) (at time.Time, payer Account, err error) {
	at, w, err := l.enter(ctx, &r, beside)
	if w == nil {
		return at, l.account, err
	}
	served := false
	defer func() {
		if !served { // also if OnWait has panicked
			l.leave(w)
		}
	}()
	if r.OnWait != nil {
		r.OnWait(w.wait)
	}
	if err = l.await(ctx, w); err != nil {
		return time.Time{}, nil, err
	}
	if Late(l.reading.Now(), r.NotAfter) { // the caller learns of tokens that came in time too late to send
		return time.Time{}, nil, &ratelimit.WaitError{Wait: w.wait, Reason: ratelimit.ErrNotAfter}
	}
	served = true
	return w.at, w.taken[len(w.taken)-1], nil
}

// enter takes the tokens, or returns the place of the caller in the line, or refuses. A caller that adds tokens reads
// the number of those who wait afterwards, so either it sees the new one, or serveLocked sees the tokens.
func (l *Line) enter(ctx context.Context, r *ratelimit.Request, beside bool) (at time.Time, w *waiter, err error) {
	now, cost := l.reading.Now(), refill.Cost(r.Cost)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !Late(now, r.NotAfter) {
		if at, ok := l.takeAllLocked(now, cost); ok {
			return at, nil, nil
		}
	}
	wait, ends := l.waitLocked(now, l.queue.Len(), cost), endsOf(ctx, r, now)
	if reason := refuse(r, now, wait, ends); reason != nil {
		return time.Time{}, nil, &ratelimit.WaitError{Wait: wait, Reason: reason}
	}
	w = &waiter{cost: cost, ends: ends, wait: wait, beside: beside, done: make(chan struct{})}
	w.place = l.queue.PushBack(w)
	w.joinLocked(l)
	if l.waiting.Load() == 1 {
		l.serveLocked(now)
	}
	return time.Time{}, w, nil
}

// takeAllLocked takes the tokens that a caller needs if no caller waits for any.
func (l *Line) takeAllLocked(now time.Time, cost float64) (at time.Time, ok bool) {
	if l.waiting.Load() > 0 {
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

// joinLocked begins the wait for the account of a line.
func (w *waiter) joinLocked(l *Line) {
	w.line = l
	l.owed += w.cost
	if l.waiting.Add(1) == 1 {
		l.busy++
	}
	if w.beside {
		l.beside.waiting.Add(1)
	}
}

// quitLocked ends the wait for the account of the line.
func (w *waiter) quitLocked(now time.Time) {
	l := w.line
	l.owed -= w.cost
	if l.waiting.Add(-1) == 0 {
		l.busy--
		l.owed = 0 // drops rounding errors
		l.account.Lift(now, 0)
	}
	if w.beside {
		l.beside.waiting.Add(-1)
	}
}

// await returns when it has taken the tokens, or why the caller must leave the line.
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

// waitLocked returns the wait of a caller behind so many others, if the rates stay as they are.
func (l *Line) waitLocked(now time.Time, ahead int, cost float64) ratelimit.Wait {
	wait := ratelimit.Wait{Expected: l.account.Until(now, l.owed+cost), Ahead: ahead, FillRate: l.account.Fill()}
	if l.next != nil {
		wait.Expected += min(l.next.account.Until(now, l.next.owed+cost), refill.Endless-wait.Expected)
	}
	return wait
}

// leave removes a caller that gives up from the line. Tokens that it has got go to the next.
func (l *Line) leave(w *waiter) {
	now := l.Lock()
	defer l.Release()
	switch {
	case w.place != nil:
		w.removeLocked(now)
	case w.taken == nil:
		return // It was refused, and others have been served since.
	}
	w.giveBackLocked(now)
	l.serveLocked(now)
}

// giveBackLocked gives back what a caller has got; serveLocked must follow.
func (w *waiter) giveBackLocked(now time.Time) {
	for _, account := range w.taken {
		account.Give(now, w.cost)
	}
	w.taken = nil
}

// removeLocked removes a caller from the queue; serveLocked must follow.
func (w *waiter) removeLocked(now time.Time) {
	w.line.queue.Remove(w.place)
	w.place = nil
	w.quitLocked(now)
}

// refuseLocked dismisses a caller; serveLocked must follow.
func (w *waiter) refuseLocked(now time.Time, wait ratelimit.Wait, reason error) {
	w.removeLocked(now)
	w.giveBackLocked(now)
	w.refused = &ratelimit.WaitError{Wait: wait, Reason: reason}
	close(w.done)
}

// Give returns unused tokens of an Acquire of this cost; they go to the next in line.
func (l *Line) Give(cost float64) {
	now := l.Lock()
	l.account.Give(now, refill.Cost(cost))
	if l.next != nil {
		l.next.account.Give(now, refill.Cost(cost))
	}
	l.Unlock(now, false)
}

// Expected returns how long a caller that came now would have to wait, as far as the account
// knows. A cost of zero or less means one.
func (l *Line) Expected(cost float64) time.Duration {
	now := l.Lock()
	defer l.Release()
	return l.waitLocked(now, 0, refill.Cost(cost)).Expected
}

// Late reports whether now is too late to send.
func Late(now, notAfter time.Time) bool { return !notAfter.IsZero() && now.After(notAfter) }

// Now reads the clock.
func (l *Line) Now() time.Time { return l.reading.Now() }

// Waiting returns how many callers wait for the account, those in lines beside l included; 0 for nil.
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
	if l.queue.Len() > 0 {
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
func (l *Line) Wake() { l.Unlock(l.Lock(), false) }

// Poke tells the line that its account has changed. It refuses, with a [*ratelimit.WaitError], callers that can no longer be
// served in time if the rate stays as it is; each refusal shortens the wait of those behind. It serves callers whose tokens
// are there, and sets the timer for the first of the others.
func (l *Line) Poke() { l.Unlock(l.Lock(), true) }

// dismissLocked refuses the callers that Poke refuses; serveLocked must follow.
func (s *shared) dismissLocked(now time.Time) {
	for place := s.queue.Front(); place != nil; place = place.Next() {
		w, _ := place.Value.(*waiter)
		w.line.owed = 0 // and then the cost of those ahead
	}
	ahead := 0
	for place := s.queue.Front(); place != nil; {
		w, _ := place.Value.(*waiter)
		place = place.Next()
		wait := w.line.waitLocked(now, ahead, w.cost)
		w.line.owed += w.cost
		if reason := w.ends.refuse(now, wait.Expected); reason != nil {
			w.refuseLocked(now, wait, reason)
			continue
		}
		ahead++
	}
}

// serveLocked serves in order all callers that are due, and sets the timer for the first of the others. No caller is served
// past a caller who came before and waits for the same account. A pass ends once that holds back all who are left, so it
// takes as long as there are callers before the first of the last line.
func (s *shared) serveLocked(now time.Time) {
	s.pass++
	blocked, soonest := 0, time.Time{}
	for place := s.queue.Front(); place != nil && blocked < s.busy; {
		w, _ := place.Value.(*waiter)
		place = place.Next()
		if Late(now, w.ends.last) {
			w.refuseLocked(now, w.wait, w.ends.after)
			continue
		}
		due, held := w.takeLocked(now)
		if !held {
			continue
		}
		blocked++
		// Who gives up does that without the timer, but a clock that moves from timer to timer finds the instant this way.
		if due.IsZero() && w.ends.last.After(now) {
			due = w.ends.last
		}
		if !due.IsZero() && (soonest.IsZero() || due.Before(soonest)) {
			soonest = due
		}
	}
	s.armLocked(soonest)
}

// takeLocked takes the tokens of a caller. If there are too few, it returns when they will be there, if that is known, and
// true for the first caller in this pass whom the account holds back.
func (w *waiter) takeLocked(now time.Time) (due time.Time, held bool) {
	for {
		l, pool := w.line, w.line.beside
		if l.blocked == l.pass {
			if w.beside {
				pool.blocked = l.pass
			}
			return due, false
		}
		l.account.Lift(now, w.cost)
		payer := l.account
		at, ok := payer.Take(now, w.cost)
		if !ok && w.beside && pool.blocked != l.pass {
			payer, pool.blocked = pool.account, l.pass
			if due, ok = payer.Take(now, w.cost); ok {
				at, pool.blocked = due, 0
			}
		}
		if !ok {
			l.blocked = l.pass
			return at, true
		}
		w.taken, w.at = append(w.taken, payer), at // not now: a cut may have come in between, and then at is after it
		if l.next == nil {
			w.removeLocked(now)
			close(w.done)
			return due, false
		}
		w.quitLocked(now)
		w.joinLocked(l.next)
	}
}

// armLocked sets the timer; a zero due stops it. It reads the clock again, because time may have passed since its caller
// read it.
func (s *shared) armLocked(due time.Time) {
	switch {
	case !due.IsZero() && s.timer == nil:
		s.timer = s.clock.AfterFunc(due.Sub(s.reading.Now()), s.wake)
	case !due.IsZero():
		s.timer.Reset(due.Sub(s.reading.Now()))
	case s.timer != nil:
		s.timer.Stop()
	}
}

func (s *shared) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serveLocked(s.reading.Now())
}
