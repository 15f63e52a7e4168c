package sim

import (
	"testing"
	"time"
)

// scenario is something that happens to a fleet that has settled.
type scenario struct {
	name string
	play func(t *testing.T, r run) []outcome
}

// outcome is what came of a scenario in a window. settled is negative if it is of no interest.
type outcome struct {
	window string
	result
	settled int
}

// settledBy is when a fleet has settled, in seconds. All scenarios begin then.
const settledBy = 60

func at(second float64) time.Duration { return time.Duration(second * float64(time.Second)) }

// until plays a run of so many seconds.
func (r run) until(t *testing.T, second int, events ...event) *record {
	t.Helper()
	r.length, r.events = at(float64(second)), events
	return r.play(t)
}

// scenarios are those of the table, in its order.
func scenarios() []scenario {
	return []scenario{
		{"R doubles", rateTimes(2)},
		{"R halves", rateTimes(0.5)},
		{"store gone, back", gone(false)},
		{"all members replaced", replaced},
		{"flushed", flushed},
		{"failover", failover},
	}
}

func rateTimes(factor float64) func(t *testing.T, r run) []outcome {
	return func(t *testing.T, r run) []outcome {
		t.Helper()
		rate := factor * r.rate
		got := r.until(t, settledBy+60, event{at(settledBy), func(p *play) { p.service.change(rate) }})
		return []outcome{{"60 s", got.part(settledBy, settledBy+60, rate), got.settled(settledBy, rate)}}
	}
}

// gone takes the store away for a minute. It refuses calls or hangs.
func gone(hangs bool) func(t *testing.T, r run) []outcome {
	return func(t *testing.T, r run) []outcome {
		t.Helper()
		got := r.until(t, settledBy+90,
			event{at(settledBy), func(p *play) { p.store.goAway(hangs) }},
			event{at(settledBy + 60), func(p *play) { p.store.comeBack() }})
		return []outcome{
			{"gone, 60 s", got.part(settledBy, settledBy+60, r.rate), -1},
			{"back, 30 s", got.part(settledBy+60, settledBy+90, r.rate), -1},
		}
	}
}

// halfCutOff cuts the way of every second member to the store for a minute.
func halfCutOff(t *testing.T, r run) []outcome {
	t.Helper()
	cut := func(off bool) func(p *play) {
		return func(p *play) {
			for i := 0; i < len(p.members); i += 2 {
				p.members[i].way.cut.Store(off)
			}
		}
	}
	got := r.until(t, settledBy+90, event{at(settledBy), cut(true)}, event{at(settledBy + 60), cut(false)})
	return []outcome{
		{"cut off, 60 s", got.part(settledBy, settledBy+60, r.rate), -1},
		{"back, 30 s", got.part(settledBy+60, settledBy+90, r.rate), -1},
	}
}

// replaced replaces one member after the other within a minute.
func replaced(t *testing.T, r run) []outcome {
	t.Helper()
	var events []event
	for i := range r.members {
		events = append(events, event{
			at(settledBy + 60*float64(i)/float64(r.members)), func(p *play) { p.begin(i, 1) },
		})
	}
	got := r.until(t, settledBy+60, events...)
	return []outcome{{"60 s", got.part(settledBy, settledBy+60, r.rate), -1}}
}

func flushed(t *testing.T, r run) []outcome {
	t.Helper()
	got := r.until(t, settledBy+40, event{at(settledBy), func(p *play) { p.store.flush() }})
	return []outcome{{"40 s", got.part(settledBy, settledBy+40, r.rate), -1}}
}

// failover takes the store away for two seconds, and then a replica takes its place that has
// missed the last five seconds before and whose clock is half a second behind.
func failover(t *testing.T, r run) []outcome {
	t.Helper()
	r.replicated = true
	got := r.until(t, settledBy+40,
		event{at(settledBy - 5), func(p *play) { p.store.leaveBehind() }},
		event{at(settledBy), func(p *play) { p.store.goAway(false) }},
		event{at(settledBy + 2), func(p *play) { p.store.promote(-500 * time.Millisecond) }})
	return []outcome{{"40 s", got.part(settledBy, settledBy+40, r.rate), -1}}
}

// lull lets demand fall to a tenth for two minutes, and looks at the ten seconds after it.
func lull(t *testing.T, r run) []outcome {
	t.Helper()
	got := r.until(t, settledBy+130,
		event{at(settledBy), func(p *play) { p.lull.Store(true) }},
		event{at(settledBy + 120), func(p *play) { p.lull.Store(false) }})
	return []outcome{{"10 s", got.part(settledBy+120, settledBy+130, r.rate), -1}}
}

// average plays a scenario with five seeds. In a single run goroutines of the same instant take turns
// as the machine lets them, so that its figures differ by a third.
func average(t *testing.T, r run, scenario func(t *testing.T, r run) []outcome) []outcome {
	t.Helper()
	const seeds = 5
	var all []outcome
	for r.seed = range uint64(seeds) {
		got := scenario(t, r)
		if all == nil {
			all = make([]outcome, len(got))
		}
		for i, o := range got {
			all[i].window = o.window
			all[i].settled += o.settled
			all[i].goodput += o.goodput / seeds
			all[i].throttled += o.throttled / seeds
		}
	}
	for i := range all {
		all[i].settled /= seeds
	}
	return all
}
