package fleet

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// State is what governs the send rate of a member.
type State uint8

// The states of a member.
const (
	// Open means that the fleet has no limit: the member uses its own send rate, as in adaptive
	// mode without a fleet.
	Open State = iota
	// Learning means that an attempt was throttled and the store measures for some seconds what the
	// members get. Meanwhile they use their own send rates.
	Learning
	// Slots means that the member sends in the slots that the store has given it.
	Slots
	// Alone means that the member was in Slots and cannot reach the store: it keeps the rate at
	// which it sent recently.
	Alone
)

// String returns "open", "learning", "slots" or "alone"; "unknown" for any other value.
func (s State) String() string {
	if names := [...]string{"open", "learning", "slots", "alone"}; int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// member is the state of one limiter of one scope. It takes the time as an argument and never
// waits. It is not safe for concurrent use.
type member struct {
	state State
	fresh func(time.Time) sendrate.SendRate // makes local
	local sendrate.SendRate                 // governs Open and Learning
	runs  runs                              // governs Slots
	alone alone                             // governs Alone
	sent  usage
	first time.Time // when the member sent first

	epoch   uint64
	since   time.Time // attempts sent from then on belong to the epoch; zero: none
	ok, bad float64   // answers that the next ask reports
	rate    ratelimit.Rate
	seed    string
	heard   time.Time // when the seed came

	used     bool      // an attempt was sent or wanted since the last call
	wanted   time.Time // when a caller last found too few slots
	short    float64   // what it and those before it want and have not taken since
	hungry   time.Time // since then attempts have waited without a break; zero: none wait
	again    time.Time // no call before
	look     time.Duration
	failures int
	trips    [8]time.Duration // of the last calls, in a ring
	trip     int

	throttled     time.Time // when an answer last was a throttle
	calls, failed uint64
	err           error // of the last call
}

// Take takes what an attempt needs, or returns when it will be available; the zero time if that is
// unknown.
func (m *member) Take(now time.Time, cost float64) (at time.Time, ok bool) {
	switch m.state {
	case Slots:
		var epoch uint64
		if at, epoch, ok = m.runs.Take(now, cost); ok && epoch == m.epoch && m.since.IsZero() {
			m.since = now
		}
	case Alone:
		at, ok = m.alone.Take(now, cost)
	default:
		at, ok = m.local.Take(now, cost)
	}
	m.used = true
	if ok {
		if m.first.IsZero() {
			m.first = now
		}
		m.sent.Add(now, cost)
		m.short = max(m.short-cost, 0)
	}
	return at, ok
}

// Give returns what was taken but not used.
func (m *member) Give(now time.Time, cost float64) {
	m.sent.Add(now, -cost)
	switch m.state {
	case Slots:
		m.runs.Give(now, cost)
	case Alone:
		m.alone.Give(now, cost)
	default:
		m.local.Give(now, cost)
	}
}

// Until returns the shortest time until total has come.
func (m *member) Until(now time.Time, total float64) time.Duration {
	switch m.state {
	case Slots:
		return m.untilSlots(now, total)
	case Alone:
		return m.alone.Until(now, total)
	default:
		return m.local.Until(now, total)
	}
}

func (m *member) untilSlots(now time.Time, total float64) time.Duration {
	missing := total - m.runs.InHand(now)
	if missing <= 0 {
		return max(m.runs.nth(total).Sub(now), 0)
	}
	rate := float64(m.rate)
	if waited := now.Sub(m.hungry); !m.hungry.IsZero() && waited >= hungryFor {
		window := min(waited, rateWindow)
		rate = max(m.sent.Sum(now, window)/window.Seconds(), leastRate)
	}
	// The next slot may come with the next reply, so only later slots take time.
	return later(now, m.runs.Last(), m.again).Sub(now) + seconds(max(missing-1, 0)/max(rate, leastRate))
}

// Want notes that callers found too few slots. total is what all that wait need.
func (m *member) Want(now time.Time, total float64) {
	m.used, m.wanted, m.short = true, now, total
	if m.hungry.IsZero() {
		m.hungry = now
	}
}

// missing returns how many slots the waiting attempts need. If the queue is empty, a caller of the
// last second that did not enter it, or has not yet, counts.
func (m *member) missing(now time.Time, waiting, cost float64) float64 {
	if waiting == 0 && m.short > 0 && now.Sub(m.wanted) < time.Second {
		return math.Ceil(min(m.short, cost))
	}
	return math.Ceil(waiting)
}

// Due returns when to call the store next; false if that is unknown.
func (m *member) Due(now time.Time, missing float64) (at time.Time, ok bool) {
	switch m.state {
	case Open:
		switch {
		case m.bad > 0 && m.failures > 0:
			return later(m.again, now), true
		case m.bad > 0:
			return now, true
		}
		// A look-up waits for the next use, so an idle scope costs no call.
		return now, m.used && !m.again.After(now)
	case Slots:
		if missing <= m.runs.InHand(now) {
			return time.Time{}, false
		}
		return later(m.again, m.runs.Last().Add(-m.lead()), now), true
	default: // Learning, Alone
		return later(m.again, now), m.used || missing > 0
	}
}

// later returns the last of several times.
func later(times ...time.Time) time.Time {
	last := times[0]
	for _, t := range times[1:] {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// lead is how long before its last slot a member asks for more.
func (m *member) lead() time.Duration {
	worst := time.Duration(0)
	for _, trip := range m.trips {
		worst = max(worst, trip)
	}
	return time.Duration(leadFactor*float64(worst)) + leadExtra
}

// Ask returns the ask of a call of the store that begins now.
func (m *member) Ask(now time.Time, missing float64) Ask {
	m.used = false
	m.calls++
	ask := Ask{Epoch: m.epoch, OK: m.ok, Bad: m.bad, Want: 1}
	if now.Sub(m.heard) < seedLasts {
		ask.Seed = m.seed
	}
	if m.state != Alone {
		ask.Want = max(missing+math.Floor(m.sent.Sum(now, demandWindow))-math.Floor(m.runs.InHand(now)), 1)
		ask.Want = min(ask.Want, mostRate) // a store treats a greater number as zero
	}
	return ask
}

// Heard takes in the reply to an ask that was sent at began.
func (m *member) Heard(began, now time.Time, ask Ask, reply Reply) {
	m.failures, m.err = 0, nil
	m.trips[m.trip] = now.Sub(began)
	m.trip = (m.trip + 1) % len(m.trips)
	if reply.Epoch == 0 {
		m.open(now, ask)
		return
	}
	if m.epoch == reply.Epoch {
		m.ok, m.bad = max(m.ok-ask.OK, 0), max(m.bad-ask.Bad, 0)
	} else {
		m.epoch, m.since, m.ok, m.bad = reply.Epoch, time.Time{}, 0, 0
	}
	m.seed, m.heard, m.rate, m.look = reply.State, now, ratelimit.Rate(reply.Rate), 0
	if m.state == Alone {
		m.alone.Back(now)
	}
	m.again = later(now.Add(reply.Again), m.alone.Again(now, reply.Slots))
	if reply.Slots == 0 {
		m.again = later(m.again, now.Add(leastAgain))
	}
	if reply.Rate > 0 {
		if m.state != Slots {
			m.hungry = time.Time{} // what the member got before says nothing
		}
		m.state = Slots
		m.runs.Add(run{next: now.Add(reply.Start), gap: reply.Gap, left: reply.Slots, epoch: reply.Epoch})
		return
	}
	if m.state > Learning {
		m.local, m.runs = m.fresh(now), runs{}
	}
	m.state = Learning
	if m.since.IsZero() {
		m.since = now
	}
}

// open forgets the limit of the fleet, but not a throttle after the ask, nor the member's own rate
// while the store learned.
func (m *member) open(now time.Time, ask Ask) {
	if m.state > Learning {
		m.local, m.runs = m.fresh(now), runs{}
	}
	m.bad = max(m.bad-ask.Bad, 0)
	m.state, m.epoch, m.since, m.ok, m.rate, m.seed = Open, 0, time.Time{}, 0, 0, ""
	m.look = min(max(2*m.look, time.Second), longestLook)
	m.again = now.Add(m.look)
}

// Lost notes that a call has failed. random is from 0 to 1.
func (m *member) Lost(now time.Time, err error, random float64) {
	m.err = err
	m.failed++
	wait := longestRetry
	if m.failures < 2 {
		wait = firstRetry << m.failures
	}
	m.failures++
	m.again = now.Add(time.Duration((0.8 + 0.4*random) * float64(wait)))
	if m.state != Slots {
		return
	}
	m.alone.begin(now, float64(m.own(now)), random)
	m.state, m.runs = Alone, runs{}
}

// own returns the rate at which the member sent in the last ten seconds.
func (m *member) own(now time.Time) ratelimit.Rate {
	window := min(max(now.Sub(m.first), time.Second), rateWindow)
	return ratelimit.Rate(m.sent.Sum(now, window) / window.Seconds())
}

// Report counts the answer to an attempt, and reports whether it cut the rate of the member.
func (m *member) Report(now time.Time, r ratelimit.Response) (cut bool) {
	if r.Sent.IsZero() {
		r.Sent = now
	}
	if r.Throttled {
		m.throttled = now
	}
	switch m.state {
	case Alone:
		return r.Throttled && m.alone.Throttle(now, r.Sent)
	case Open:
		if r.Throttled {
			m.bad = 1
		}
		return m.local.Report(now, r)
	case Learning:
		cut = m.local.Report(now, r)
	case Slots: // only the store changes the rate
	}
	if m.since.IsZero() || r.Sent.Before(m.since) {
		return cut // sent under another epoch
	}
	cost := r.Cost
	if !(cost > 0) {
		cost = 1
	}
	if r.Throttled {
		m.bad += cost
	} else {
		m.ok += cost
	}
	return cut
}

// Lift lets the first in line accumulate tokens for its cost.
func (m *member) Lift(now time.Time, cost float64) {
	m.runs.lifted = cost
	if m.state < Slots {
		m.local.Lift(now, cost)
	}
}

// Limited reports whether attempts may have to wait.
func (m *member) Limited() bool { return m.state >= Slots || m.local.State().Limited }

// Snapshot returns the send rate fields of a snapshot.
func (m *member) Snapshot(now time.Time) retry.ScopeSnapshot {
	state := m.local.State()
	if m.state >= Slots {
		state = retry.ScopeSnapshot{
			SendRateSource: "fleet", Limited: true,
			FillRate: float64(m.Rate(now)), MeasuredRate: float64(m.own(now)), SendTokens: m.runs.InHand(now),
		}
	}
	if m.state == Alone {
		state.SendRateSource = "fleet-lost"
	}
	state.LastThrottle = m.throttled
	state.FleetRate, state.StoreCalls, state.StoreFailures = float64(m.rate), m.calls, m.failed
	return state
}

// Rate returns the send rate of the member.
func (m *member) Rate(now time.Time) ratelimit.Rate {
	switch m.state {
	case Slots:
		return m.own(now)
	case Alone:
		return ratelimit.Rate(m.alone.Rate(now))
	default:
		return m.local.Fill()
	}
}
