package fleet

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// limiter is a member with callers. It holds no lock while a caller waits or while it calls the
// store or the observer.
type limiter struct {
	fleet *Fleet
	scope retry.ScopeKey
	key   string
	clock clock.Clock
	limit adaptive.SendLimit // of the whole fleet
	line  *limit.Line
	part  sendrate.Part // of this process

	// joined is true once the store has answered or failed, or JoinWait has passed. Until then
	// callers wait at the gate.
	joined  atomic.Bool
	joining *limit.Line
	place   uint64 // order of first use among the members of the fleet

	mu     sync.Mutex      // guards what follows; taken with the lock of a line held, never the other way
	time   instant.Forward // of all instants that follow
	opens  time.Time       // when the gate does
	member member
	cost   float64 // of the last request
	timer  clock.Timer
	armed  time.Time // when timer is due; zero if it is not set
	last   *storeCall
}

// lock takes the lock and returns the time of the member at this reading of the clock.
func (l *limiter) lock(reading time.Time) (now time.Time) {
	l.mu.Lock()
	return l.time.At(reading)
}

// account is the limiter as its line sees it.
type account struct{ *limiter }

func (a account) Take(now time.Time, cost float64) (at time.Time, ok bool) {
	now = a.lock(now)
	defer a.mu.Unlock()
	a.cost = cost
	at, ok = a.member.Take(now, cost)
	a.planLocked(now)
	return a.time.Reading(at), ok
}

// Until is called for a caller that is about to wait and not yet counted as waiting.
func (a account) Until(now time.Time, total float64) time.Duration {
	now = a.lock(now)
	defer a.mu.Unlock()
	a.calmLocked()
	a.member.Want(now, total)
	a.planForLocked(now, math.Ceil(total)) // not counted as waiting yet
	return a.member.Until(now, total)
}

func (a account) Give(now time.Time, cost float64) {
	now = a.lock(now)
	defer a.mu.Unlock()
	a.member.Give(now, cost)
}

func (a account) Lift(now time.Time, cost float64) {
	now = a.lock(now)
	defer a.mu.Unlock()
	a.member.Lift(now, cost)
}

func (a account) Fill() ratelimit.Rate {
	now := a.lock(a.clock.Now())
	defer a.mu.Unlock()
	return a.member.Rate(now)
}

// Acquire returns when the attempt may be sent.
func (l *limiter) Acquire(ctx context.Context, r ratelimit.Request) (sent time.Time, err error) {
	if !l.joined.Load() {
		waited, err := l.join(ctx, r)
		if err != nil {
			return time.Time{}, err
		}
		if r.MaxWait > 0 { // for both waits together
			r.MaxWait = max(r.MaxWait-waited, 1)
		}
	}
	sent, _, err = l.lineOf(r).Acquire(ctx, r)
	if err != nil && (r.NoWait || r.MaxWait > 0) {
		now := l.lock(l.clock.Now())
		l.member.runs.saveUntil = now.Add(savedFor)
		l.mu.Unlock()
	}
	return sent, err
}

// join waits until the store has said whether the scope is limited, at most JoinWait. A caller that
// may not wait that long does not wait at all, so that no attempt fails because of the store. join returns
// how long it waited.
func (l *limiter) join(ctx context.Context, r ratelimit.Request) (waited time.Duration, err error) {
	reading := l.clock.Now()
	began := l.lock(reading)
	l.startLocked(began)
	wait, joining := l.opens.Sub(began), l.joining
	l.mu.Unlock()
	ends := instant.EndsOf(ctx, reading, r.NotAfter, r.AttemptTime)
	if r.NoWait || l.fleet.closed() || r.MaxWait > 0 && r.MaxWait < wait || ends.Missed(reading, wait) != instant.InTime {
		return 0, nil
	}
	if _, _, err := joining.Acquire(ctx, ratelimit.Request{OnWait: r.OnWait}); err != nil {
		return 0, err
	}
	l.joined.Store(true)
	now := l.lock(l.clock.Now())
	defer l.mu.Unlock()
	return now.Sub(began), nil
}

// startLocked marks the member as used and plans its first call of the store.
func (l *limiter) startLocked(now time.Time) {
	if l.joining != nil {
		return
	}
	l.fleet.register(l)
	l.opens = now.Add(l.fleet.config.JoinWait)
	l.joining = limit.NewLine(gate{l}, l.clock)
	l.member.used = true
	l.planLocked(now)
}

// lineOf returns the line in which an attempt waits.
func (l *limiter) lineOf(r ratelimit.Request) *limit.Line { return l.part.Line(r.Part, l.line) }

// Give returns what an Acquire of this request took for an attempt that is not made.
func (l *limiter) Give(r ratelimit.Request) { l.lineOf(r).Give(r.Cost) }

// Report counts the answer to an attempt.
func (l *limiter) Report(r ratelimit.Response) ratelimit.Change {
	now := l.lock(l.clock.Now())
	l.startLocked(now) // for a program that reports an attempt without an Acquire
	answer := r
	answer.Sent = l.time.Of(r.Sent)
	change := ratelimit.Change{Limited: l.member.Limited()}
	local := l.member.state < Slots
	if l.member.state == Slots { // only the store changes the rate
		l.member.Report(now, answer)
	} else {
		change.From = l.member.Rate(now)
		change.Cut = l.member.Report(now, answer)
		change.To = l.member.Rate(now)
	}
	l.planLocked(now)
	l.mu.Unlock()
	l.reportPart(r)
	if (change.Cut || local) && l.line.Waiting()+l.part.Waiting() > 0 { // local answers raise the rate too
		l.line.Changed(change.Cut)
	}
	return change
}

// reportPart counts the answer to an attempt for the throttled part of the scope.
func (l *limiter) reportPart(r ratelimit.Response) {
	if !r.Part && !r.PartThrottled {
		return
	}
	reading := l.line.Lock()
	now := l.lock(reading)
	cut := l.part.Report(reading, r, l.line, &l.member.local, l.member.Snapshot(now).MeasuredRate)
	l.mu.Unlock()
	l.line.Serve(reading, cut)
}

// Expected returns the shortest wait of an attempt that came now.
func (l *limiter) Expected(r ratelimit.Request) time.Duration {
	if waits := l.lineOf(r); waits != l.line {
		return waits.Expected(r.Cost)
	}
	cost := limit.Cost(r.Cost)
	waiting := float64(l.line.Waiting())
	now := l.lock(l.clock.Now())
	defer l.mu.Unlock()
	l.calmLocked()
	return l.member.Until(now, waiting*l.cost+cost)
}

// calmLocked ends a period in which attempts waited.
func (l *limiter) calmLocked() {
	if l.line.Waiting() == 0 {
		l.member.hungry = time.Time{}
	}
}

// State returns the state for snapshots.
func (l *limiter) State() retry.ScopeSnapshot {
	now := l.lock(l.clock.Now())
	defer l.mu.Unlock()
	state := l.member.Snapshot(now)
	state.LastThrottle, state.Waiting = l.time.Reading(state.LastThrottle), l.waitingLocked()
	return state
}

// waitingLocked returns how many attempts wait, also at the gate.
func (l *limiter) waitingLocked() int {
	return l.joining.Waiting() + l.line.Waiting() + l.part.Waiting()
}

// planLocked sets the timer for the next call.
func (l *limiter) planLocked(now time.Time) { l.planForLocked(now, l.missingLocked(now)) }

// planForLocked is planLocked with the number of missing slots given. If no call is due, it leaves
// the timer alone: a call that comes too early does nothing.
func (l *limiter) planForLocked(now time.Time, missing float64) {
	at, ok := l.member.Due(now, missing)
	switch {
	case !ok || at.Equal(l.armed) || l.last != nil && !l.last.returned:
		return
	case l.fleet.closed() && l.member.state != Slots: // a member in Slots goes on alone
		return
	case l.timer == nil:
		l.timer = l.clock.AfterFunc(at.Sub(now), l.call)
	default:
		l.timer.Reset(at.Sub(now))
	}
	l.armed = at
}

func (l *limiter) missingLocked(now time.Time) float64 {
	return l.member.missing(now, float64(l.line.Waiting())*l.cost, l.cost)
}
