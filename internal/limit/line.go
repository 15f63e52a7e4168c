package limit

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
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

// Departures is an [Account] that wants to know when those who have waited really leave: on a busy machine that is later.
type Departures interface {
	// Granted is called when a caller that waits has got cost tokens. If it returns true, Left is called when that caller
	// has woken up.
	Granted(now time.Time, cost float64) bool
	Left(now time.Time, cost float64)
}

// Line makes callers wait for the tokens of an [Account]. It has one queue and one timer, for the first in line, and needs
// no goroutine. It is safe for concurrent use. Use [NewLine].
type Line struct {
	*shared
	account Account
	next    *Line        // the line that this one is in front of, or nil
	front   *Line        // the line in front of this one, or nil
	beside  *Line        // the line that this one is beside, or nil
	most    float64      // the highest cost that the account of beside pays
	waiting atomic.Int64 // how many callers the account may serve

	queue list.List   // of *waiter, in the order in which they came
	owed  float64     // what the callers in the queue cost
	timer clock.Timer // for the first of them; nil before it is needed
}

// shared is what a line shares with the line in front of it and those beside it.
type shared struct {
	reading instant.Readings
	mu      sync.Mutex // guards the lines, their accounts, and order
	order   list.List  // of *waiter, in the order in which they came: all, but not those above Line.most
}

// NewLine returns a line for the tokens of an account, on the given clock. Call [Line.Changed] after anything
// but the line has taken tokens from the account, or given some to it.
func NewLine(account Account, clk clock.Clock) *Line {
	return &Line{shared: &shared{reading: instant.NewReadings(clk)}, account: account}
}

// InFront returns a line for callers who need tokens of the account first, and then of the account of l, in whose queue
// they stand where they would if they had come to it. There can be one. The caller holds the lock, see [Line.Lock].
// Changed of l is for both accounts.
func (l *Line) InFront(account Account) *Line {
	l.front = &Line{shared: l.shared, account: account, next: l}
	return l.front
}

// Beside returns another line. If its account has too few tokens, that of l pays for the caller that came first of all in
// such lines who cost at most so much. No caller may wait in l itself. Neither account may foresee waits, so that Changed
// has no caller to refuse.
func (l *Line) Beside(account Account, most float64) *Line {
	return &Line{shared: l.shared, account: account, beside: l, most: most}
}

// waiter is a caller in line. The lock guards what changes, and after done is closed nothing does.
type waiter struct {
	cost    float64
	ends    ends
	wait    ratelimit.Wait // the expected wait of the caller
	line    *Line          // where it waits or waited last
	place   *list.Element  // in the queue of line; nil once it has left
	turn    *list.Element  // in the order, or nil
	held    *Line          // the line in front, if it has tokens of that
	done    chan struct{}  // closed when it has been served or refused
	payer   *Line          // whose account has served it
	at      time.Time      // when that was
	leaves  Departures     // waits for it to leave, or nil
	refused error
}

// Acquire returns when the caller may send, and which account the tokens are from. It returns a [*ratelimit.WaitError]
// without waiting when the request does not allow the wait or when the wait would not leave [ratelimit.Request].AttemptTime
// before the deadline of ctx. It returns ctx.Err() when ctx is done first, and a [*ratelimit.WaitError] when
// [Line.Changed] finds that the wait has become too long, or when [ratelimit.Request].MaxWait or
// [ratelimit.Request].NotAfter has passed. A failed Acquire takes no token and leaves the line.
func (l *Line) Acquire(ctx context.Context, r ratelimit.Request) (at time.Time, payer Account, err error) {
	at, w, err := l.enter(ctx, &r)
	if w == nil {
		return at, l.account, err
	}
	defer func() {
		if payer == nil { // also if OnWait has panicked
			now := l.Lock()
			w.giveUpLocked(now)
			l.Serve(now, false)
		}
	}()
	if r.OnWait != nil {
		r.OnWait(w.wait)
	}
	waiting := ctx
	if end := w.ends.Last; !end.IsZero() {
		var cancel context.CancelFunc
		waiting, cancel = clock.WithTimeout(ctx, l.reading.Clock(), end.Sub(l.reading.Now()))
		defer cancel()
	}
	if l.wait(waiting, w.done) != nil {
		if ctx.Err() != nil {
			return time.Time{}, nil, ctx.Err()
		}
		now := l.Lock()
		l.serveLocked(now) // tokens that come at the last instant are in time
		if w.place != nil {
			w.refuseLocked(now, w.wait, w.ends.after)
		}
		l.Serve(now, false)
	}
	if w.leaves != nil {
		now := l.Lock()
		w.leaveLocked(now)
		l.Serve(now, false)
	}
	switch {
	case w.refused != nil:
		return time.Time{}, nil, w.refused
	case instant.Late(l.reading.Now(), r.NotAfter): // the caller learns of tokens that came in time too late to send
		return time.Time{}, nil, &ratelimit.WaitError{Wait: w.wait, Reason: ratelimit.ErrNotAfter}
	default:
		return w.at, w.payer.account, nil
	}
}

// enter takes the tokens, or returns the place of the caller in the line, or refuses. A caller that adds tokens reads
// the number of those who wait afterwards, so either it sees the new one, or serveLocked sees the tokens.
func (l *Line) enter(ctx context.Context, r *ratelimit.Request) (at time.Time, w *waiter, err error) {
	now, cost := l.Lock(), Cost(r.Cost)
	defer l.Unlock()
	if !instant.Late(now, r.NotAfter) {
		if at, ok := l.takeAllLocked(now, cost); ok {
			return at, nil, nil
		}
	}
	wait := ratelimit.Wait{Expected: l.expectedLocked(now, cost), Ahead: l.aheadLocked(), FillRate: l.account.Fill()}
	ends := endsOf(ctx, r, now)
	if reason := refuse(r, now, wait, ends); reason != nil {
		return time.Time{}, nil, &ratelimit.WaitError{Wait: wait, Reason: reason}
	}
	w = &waiter{cost: cost, ends: ends, wait: wait, line: l, done: make(chan struct{})}
	w.place = l.queue.PushBack(w)
	if l.beside == nil || cost <= l.most {
		w.turn = l.order.PushBack(w)
	}
	l.countLocked(now, cost)
	if l.queue.Len() == 1 {
		l.serveLocked(now)
	}
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

// aheadLocked returns how many callers one that comes now would wait behind: those in its queue, and if it comes to a line in
// front, those in the queue behind that too.
func (l *Line) aheadLocked() (ahead int) {
	for ; l != nil; l = l.next {
		ahead += l.queue.Len()
	}
	return ahead
}

// expectedLocked returns the wait of a caller behind those who are owed tokens, if the rates stay as they are.
func (l *Line) expectedLocked(now time.Time, cost float64) (wait time.Duration) {
	for ; l != nil; l = l.next {
		wait += min(l.account.Until(now, l.owed+cost), Endless-wait)
	}
	return wait
}

// wait returns nil when done is closed and ctx.Err() when ctx is done. If both have happened, it may return either.
func (l *Line) wait(ctx context.Context, done <-chan struct{}) error {
	if awaiter, ok := l.reading.Clock().(interface { // a clock that must know which callers wait for its timers
		Await(ctx context.Context, done <-chan struct{}) error
	}); ok {
		return awaiter.Await(ctx, done)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Give returns unused tokens of an Acquire of this cost; they go to the next in line.
func (l *Line) Give(cost float64) {
	now := l.Lock()
	for at := l; at != nil; at = at.next {
		at.account.Give(now, Cost(cost))
	}
	l.Serve(now, false)
}

// Expected returns how long a caller that came now would have to wait, as far as the account
// knows. A cost of zero or less means one.
func (l *Line) Expected(cost float64) time.Duration {
	now := l.Lock()
	defer l.Unlock()
	return l.expectedLocked(now, Cost(cost))
}

// Now reads the clock.
func (l *Line) Now() time.Time { return l.reading.Now() }

// Waiting returns how many callers the account of l is to serve, those in lines beside l included; 0 for nil.
func (l *Line) Waiting() int {
	if l == nil {
		return 0
	}
	return int(l.waiting.Load())
}

// Lock takes the lock, for an account that has no lock of its own, and returns the time. The caller must not
// call the line, but for InFront and Waiting, until [Line.Serve] or, if nothing has changed, [Line.Unlock].
func (l *Line) Lock() (now time.Time) {
	now = l.reading.Now()
	l.mu.Lock()
	return now
}

// Serve does what Changed does, and releases the lock.
func (l *Line) Serve(now time.Time, longer bool) {
	if l.order.Len()+l.queue.Len() > 0 {
		if longer { // those who leave do so before others are served
			l.dismissLocked(now)
		}
		l.serveLocked(now)
	}
	l.mu.Unlock()
}

// Unlock releases the lock.
func (l *Line) Unlock() { l.mu.Unlock() }

// Changed tells the line that its account has changed. It serves callers whose tokens are there, and sets the timer for the
// first of the others. If the change makes waits longer, it refuses before, with a [*ratelimit.WaitError], callers that can
// no longer be served in time if the rate stays as it is; each refusal shortens the wait of those behind.
func (l *Line) Changed(longer bool) { l.Serve(l.Lock(), longer) }

// dismissLocked refuses callers because waits have become longer, in the line in front too; serveLocked must follow.
func (l *Line) dismissLocked(now time.Time) {
	l.owed = 0 // and then the cost of those ahead
	if l.front != nil {
		l.front.owed = 0
	}
	ahead, inFront := 0, 0 // of the present one in the order, and those of them in the line in front
	for turn := l.order.Front(); turn != nil; {
		w := waiterAt(turn)
		turn = turn.Next()
		expected := w.line.expectedLocked(now, w.cost)
		w.line.owed += w.cost
		reason, wait := w.ends.refuse(now, expected), ratelimit.Wait{Expected: expected, Ahead: ahead, FillRate: w.line.account.Fill()}
		if w.line == l {
			wait.Ahead -= inFront
		}
		switch {
		case reason != nil:
			w.refuseLocked(now, wait, reason)
			continue
		case w.line != l:
			inFront++
		}
		ahead++
	}
}

// serveLocked serves all callers that are due in l, in the line in front of or behind it, and, beside a line, in those whose
// turn it is then. It looks at whom it serves and at who is first in these lines, however many others wait.
func (l *Line) serveLocked(now time.Time) {
	if l.next != nil {
		l = l.next
	}
	for {
		l.grantLocked(now)
		w := waiterAt(l.order.Front())
		if w == nil || w.line == l || w.line.beside == nil {
			return
		}
		l = w.line
	}
}

// grantLocked serves in order the callers at the head of the queue that are due, and sets the timer for the first who is
// not. No caller is served past one who came before and waits for the same account.
func (l *Line) grantLocked(now time.Time) {
	for {
		if l.front != nil { // those who come from there may be the first here
			l.front.grantLocked(now)
		}
		w := waiterAt(l.queue.Front())
		if w == nil {
			return
		}
		if instant.Late(now, w.ends.Last) {
			w.refuseLocked(now, w.wait, w.ends.after)
			continue
		}
		l.account.Lift(now, w.cost)
		payer := l
		at, ok := l.account.Take(now, w.cost)
		due := at
		if !ok && l.beside != nil && waiterAt(l.order.Front()) == w {
			payer = l.beside
			at, ok = payer.account.Take(now, w.cost)
		}
		if !ok {
			// Who gives up does that without the timer, but a clock that moves from timer to timer finds the instant this way.
			if due.IsZero() && w.ends.Last.After(now) {
				due = w.ends.Last
			}
			l.armLocked(due)
			return
		}
		if l.next == nil {
			w.removeLocked(now)
			w.payer, w.at = payer, at // not now: a cut may have come in between, and then at is after it
			if d, ok := payer.account.(Departures); ok && d.Granted(now, w.cost) {
				w.leaves = d
			}
			close(w.done)
			continue
		}
		w.held = payer
		l.queue.Remove(w.place)
		l.countLocked(now, -w.cost)
		w.line = l.next
		if before := waiterAt(w.turn.Prev()); before != nil { // it has gone on too, or came to l.next
			w.place = l.next.queue.InsertAfter(w, before.place)
		} else {
			w.place = l.next.queue.PushFront(w)
		}
		l.next.countLocked(now, w.cost)
	}
}

// refuseLocked dismisses a caller; serveLocked must follow.
func (w *waiter) refuseLocked(now time.Time, wait ratelimit.Wait, reason error) {
	w.giveUpLocked(now)
	w.refused = &ratelimit.WaitError{Wait: wait, Reason: reason}
	close(w.done)
}

// leaveLocked tells the account that the caller has left; serveLocked must follow.
func (w *waiter) leaveLocked(now time.Time) {
	if w.leaves != nil {
		w.leaves.Left(now, w.cost)
		w.leaves = nil
	}
}

// giveUpLocked removes a caller, if it still waits, and gives back what it has got; serveLocked must follow.
func (w *waiter) giveUpLocked(now time.Time) {
	if w.place != nil {
		w.removeLocked(now)
	}
	w.leaveLocked(now) // first, so that there is room for what it gives
	if w.held != nil {
		w.held.account.Give(now, w.cost)
	}
	if w.payer != nil {
		w.payer.account.Give(now, w.cost)
	}
	w.held, w.payer = nil, nil
}

// removeLocked takes a caller that waits out of its line.
func (w *waiter) removeLocked(now time.Time) {
	w.line.queue.Remove(w.place)
	w.place = nil
	if w.turn != nil {
		w.line.order.Remove(w.turn)
	}
	w.line.countLocked(now, -w.cost)
}

// countLocked counts those who wait after a caller of this cost, which is negative if it has left, has changed the queue.
func (l *Line) countLocked(now time.Time, cost float64) {
	l.owed += cost
	l.waiting.Store(int64(l.queue.Len()))
	if l.beside != nil {
		l.beside.waiting.Store(int64(l.order.Len()))
	}
	if l.queue.Len() == 0 {
		l.owed = 0 // drops rounding errors
		l.account.Lift(now, 0)
		l.armLocked(time.Time{})
	}
}

// waiterAt returns the caller at a place; nil for none.
func waiterAt(place *list.Element) *waiter {
	if place == nil {
		return nil
	}
	w, _ := place.Value.(*waiter)
	return w
}

// armLocked sets the timer; a zero due stops it. It reads the clock again, because time may have passed since its caller
// read it.
func (l *Line) armLocked(due time.Time) {
	switch {
	case !due.IsZero() && l.timer == nil:
		l.timer = l.reading.Clock().AfterFunc(due.Sub(l.reading.Now()), func() { l.Changed(false) })
	case !due.IsZero():
		l.timer.Reset(due.Sub(l.reading.Now()))
	case l.timer != nil:
		l.timer.Stop()
	}
}
