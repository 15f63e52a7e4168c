package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// errTimeout is the error of a call that has not returned within CallTimeout, even if the store
// ignores its context.
var errTimeout = errors.New("fleet: the store did not answer in time")

// errEnded is the error of a call that has ended its goroutine with runtime.Goexit.
var errEnded = errors.New("fleet: the store ended the goroutine of the call")

// storeCall is a call of the store. Its fields are guarded by limiter.mu.
type storeCall struct {
	began    time.Time
	ask      Ask
	ended    bool // the member knows the outcome, perhaps before the call returns
	returned bool
}

// call calls the store if a call is due. The timer runs it in its own goroutine.
func (l *limiter) call() {
	now := l.lock(l.clock.Now())
	l.armed = time.Time{}
	missing := l.missingLocked(now)
	at, due := l.member.Due(now, missing)
	if !due || at.After(now) || l.last != nil && !l.last.returned {
		l.planLocked(now)
		l.mu.Unlock()
		return
	}
	c := &storeCall{began: now, ask: l.member.Ask(now, missing)}
	c.ask.Starting, c.ask.Ceiling = float64(l.limit.Starting), float64(l.limit.Ceiling)
	l.last = c
	l.mu.Unlock()

	ctx, done, err := l.fleet.begin()
	if err != nil {
		l.finish(c, Reply{}, err, true)
		return
	}
	defer done()
	ctx, cancel := clock.WithTimeout(ctx, l.clock, l.fleet.config.CallTimeout)
	defer cancel()
	expiry := l.clock.AfterFunc(l.fleet.config.CallTimeout, func() { l.finish(c, Reply{}, errTimeout, false) })
	reply, err := Reply{}, errEnded
	defer func() {
		expiry.Stop()
		l.finish(c, reply, err, true)
	}()
	reply, err = callStore(ctx, l.fleet.config.Store, l.key, c.ask)
}

// callStore calls the store. A panic or a reply out of range becomes an error.
func callStore(ctx context.Context, store Store, key string, ask Ask) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("fleet: the store panicked: %v", p)
		}
	}()
	if reply, err = store.Call(ctx, key, ask); err == nil {
		err = reply.check()
	}
	return reply, err
}

// check returns an error for numbers that Step cannot have returned.
func (r Reply) check() error {
	ok := r.Rate >= 0 && r.Rate <= mostRate && r.Slots >= 0 && float64(r.Slots) <= mostRate && (r.Slots == 0 || r.Rate > 0)
	for _, d := range [...]time.Duration{r.Again, r.Start, r.Gap} {
		ok = ok && d >= 0 && d <= time.Minute
	}
	if !ok {
		return fmt.Errorf("fleet: the reply of the store is out of range: %+v", r)
	}
	return nil
}

// finish gives the member the outcome of a call, and serves waiting callers.
func (l *limiter) finish(c *storeCall, reply Reply, err error, returned bool) {
	random, rejected := 0.0, false
	if err != nil {
		random, rejected = l.fleet.random(), isRejected(err)
	}
	now := l.lock(l.clock.Now())
	c.returned = c.returned || returned
	if c.ended {
		l.planLocked(now)
		l.mu.Unlock()
		return
	}
	c.ended = true
	before, epoch, failing := l.member.state, l.member.epoch, l.member.err != nil
	if err != nil {
		l.member.Lost(now, err, random)
	} else {
		l.member.Heard(c.began, now, c.ask, reply)
	}
	events := l.eventsLocked(now, before, failing, err, rejected)
	longer := reply.Slots == 0 || l.member.state != before || l.member.epoch != epoch
	l.planLocked(now)
	l.mu.Unlock()

	l.joined.Store(true)
	l.joining.Changed(false)
	l.line.Changed(longer) // which looks at each caller if waits are longer, and there may be thousands
	for _, e := range events {
		if e.Err != nil {
			e.Failing = l.fleet.failing()
		}
		l.fleet.emit(e)
	}
}

// isRejected reports whether an error of the store wraps [ErrRejected]; false if the error panics
// when asked.
func isRejected(err error) (rejected bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, ErrRejected)
}

// eventsLocked returns the events of a call for a member that was in the state before; failing says
// whether the call before it failed. A call that fails after Close is no event.
func (l *limiter) eventsLocked(now time.Time, before State, failing bool, err error, rejected bool) []Event {
	m := &l.member
	event := Event{Time: l.time.Reading(now), Scope: l.scope, FleetRate: m.rate, OwnRate: m.Rate(now), Err: err}
	var events []Event
	add := func(kind EventKind) {
		event.Kind = kind
		events = append(events, event)
	}
	switch {
	case err != nil && l.fleet.closed():
	case err != nil:
		kind, last := Lost, &l.fleet.lost
		if rejected {
			kind, last = Rejected, &l.fleet.rejected
		}
		if last.once(event.Time) {
			l.fleet.away.Store(true)
			add(kind)
		}
	case failing && l.fleet.away.CompareAndSwap(true, false):
		add(Back)
	}
	switch {
	case err != nil:
	case before == Open && m.state != Open:
		add(Limited)
	case before != Open && m.state == Open:
		add(Opened)
	}
	return events
}
