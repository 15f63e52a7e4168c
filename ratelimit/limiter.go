package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// Limiter makes callers wait for the send tokens of a SendRate, first come,
// first served. Those who wait stand in one queue with one timer, for the first
// in line; no lock is held while they wait, and a change of the rate moves the
// timer. It is safe for concurrent use and needs no goroutine of its own.
type Limiter struct {
	// limited is true once attempts may have to wait; before that Acquire takes no lock.
	limited atomic.Bool

	line
	state SendRate // what the account of the line is made of, so guarded by its lock
}

// NewLimiter returns a limiter that begins now, on the given clock.
func NewLimiter(config SendRateConfig, clk clock.Clock) *Limiter {
	start := config.Start
	if start.IsZero() {
		start = clk.Now()
	}
	l := &Limiter{state: NewSendRate(config, start)}
	l.begin(clk, sendAccount{&l.state})
	l.limited.Store(l.state.limited)
	return l
}

// Acquire returns when the caller may send, and that instant, which Report
// wants to know. Until the first throttle that is at once, unless there is a
// starting rate. It fails without waiting when the request does not allow the wait
// or ctx would be done before its end (*WaitError), and with ctx.Err() when ctx is
// done first. A wait that a cut of the rate has made too long for the deadline of ctx
// or for NotAfter fails when the cut comes (*WaitError). A failure takes no token and
// gives up the place in the queue.
func (l *Limiter) Acquire(ctx context.Context, r Request) (sent time.Time, err error) {
	now := l.reading.Now()
	if !l.limited.Load() {
		if late(now, r.NotAfter) {
			return time.Time{}, &WaitError{Reason: ErrNotAfter}
		}
		return now, nil
	}
	return l.acquire(ctx, now, r)
}

// Report counts the response to an attempt, see SendRate.Report.
func (l *Limiter) Report(r Response) Change {
	now := l.reading.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.state.bucket.Fill()
	cut := l.state.Report(now, r)
	if limited := l.state.limited; limited != l.limited.Load() { // false only for a state that began anew
		l.limited.Store(limited)
	}
	if l.queue.Len() > 0 {
		if cut {
			l.dismissLocked(now)
		}
		l.grantLocked(now)
	}
	return Change{From: from, To: l.state.bucket.Fill(), Cut: cut, Limited: l.state.limited}
}

// Expected says how long a caller that asked now would have to wait if the rate
// stays as it is. A cost of zero or less means one.
func (l *Limiter) Expected(cost float64) time.Duration {
	now := l.reading.Now()
	if !l.limited.Load() {
		return 0
	}
	return l.expected(now, cost)
}

// State reports the send rate as of the last call, and how many callers wait.
func (l *Limiter) State() (state SendRateState, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.State(), l.queue.Len()
}

// sendAccount makes a send rate an account.
type sendAccount struct{ *SendRate }

// Take counts a token as taken at the instant as which now is read. Before the first
// throttle that is now itself.
func (a sendAccount) Take(now time.Time, cost float64) (at time.Time, ok bool) {
	wait, ok := a.SendRate.Take(now, cost)
	if wait == endless {
		return time.Time{}, false
	}
	if a.limited {
		now = a.newest
	}
	return now.Add(wait), ok
}

// Reasons for which Limiter.Acquire and Line.Acquire refuse to wait.
var (
	ErrDeadline  = errors.New("the wait would end after the caller's deadline")
	ErrWaitLimit = errors.New("the wait would be longer than allowed")
	ErrQueueFull = errors.New("too many callers wait already")
	ErrNoWait    = errors.New("waiting is not allowed")
	ErrNotAfter  = errors.New("the wait would end too late for the operation")
)

// Request is what a caller of Limiter.Acquire or Line.Acquire wants and accepts. Its zero value
// asks for one token and accepts any wait that ends before the deadline of the
// context.
type Request struct {
	// Cost is the number of send tokens; zero or less means one, and more than 2^53
	// counts as that. A cost above the capacity of the bucket is served too, it just
	// takes its time; where all attempts cost more, say so in SendRateConfig.Cost.
	Cost float64
	// NoWait refuses every wait.
	NoWait bool
	// MaxWait is the longest expected wait to accept; zero means any.
	MaxWait time.Duration
	// MaxQueue is how many callers may stand in the queue already; zero means any
	// number.
	MaxQueue int
	// NotAfter is the latest instant to send at; zero means any.
	NotAfter time.Time
	// OnWait is called before a wait begins, with no lock held; nil means none. If
	// it panics the caller is no longer in the queue.
	OnWait func(Wait)
}

// Wait says what a caller has to expect in the queue.
type Wait struct {
	// Expected is how long the wait takes if the rate stays as it is.
	Expected time.Duration
	// Ahead is how many callers wait in front.
	Ahead int
	// FillRate is the send rate at the time.
	FillRate Rate
}

// Change is what a response did to the send rate.
type Change struct {
	// From and To are the fill rates before and after.
	From, To Rate
	// Cut is true if the response was a throttle that cut the rate.
	Cut bool
	// Limited is true if attempts have to wait for tokens, that is from the first
	// throttle on. Before it the rate is computed and holds no attempt back.
	Limited bool
}

// WaitError is returned by Limiter.Acquire and Line.Acquire for a wait that it refuses.
type WaitError struct {
	// Wait is the wait that was refused.
	Wait Wait
	// Reason is ErrDeadline, ErrWaitLimit, ErrQueueFull, ErrNoWait or ErrNotAfter.
	Reason error
}

// Error says what the wait would have been and why it was refused.
func (e *WaitError) Error() string {
	return fmt.Sprintf("send rate of %.4g/s, %d waiting, %v to wait: %v",
		float64(e.Wait.FillRate), e.Wait.Ahead, e.Wait.Expected, e.Reason)
}

// Unwrap returns the reason.
func (e *WaitError) Unwrap() error { return e.Reason }

func (r Request) cost() float64 {
	if cost := amount(r.Cost); cost > 0 {
		return cost
	}
	return 1
}

// late reports whether now is too late to send.
func late(now, notAfter time.Time) bool { return !notAfter.IsZero() && now.After(notAfter) }

// refuse returns why the wait that begins now is not acceptable, or nil.
func (r Request) refuse(ctx context.Context, now time.Time, w Wait) error {
	switch {
	case late(now, r.NotAfter):
		return ErrNotAfter
	case r.NoWait:
		return ErrNoWait
	case r.MaxQueue > 0 && w.Ahead >= r.MaxQueue:
		return ErrQueueFull
	case r.MaxWait > 0 && w.Expected > r.MaxWait:
		return ErrWaitLimit
	default:
		return r.ends(ctx).refuse(now, w.Expected)
	}
}

// ends are the instants at which a caller does not wait any more; zero where there is
// none.
type ends struct {
	deadline time.Time // of the caller, who needs some time to send
	notAfter time.Time // of the operation, and still in time
}

func (r Request) ends(ctx context.Context) ends {
	deadline, _ := ctx.Deadline()
	return ends{deadline: deadline, notAfter: r.NotAfter}
}

// refuse returns why a wait that begins now and takes d is too long, or nil.
func (e ends) refuse(now time.Time, d time.Duration) error {
	switch {
	case !e.deadline.IsZero() && d >= e.deadline.Sub(now):
		return ErrDeadline
	case !e.notAfter.IsZero() && d > e.notAfter.Sub(now):
		return ErrNotAfter
	default:
		return nil
	}
}
