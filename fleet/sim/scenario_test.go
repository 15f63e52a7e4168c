package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

// average returns the means of the windows of several runs.
func average(played [][]outcome) []outcome {
	all := make([]outcome, len(played[0]))
	for i := range all {
		var windows []result
		settled := 0
		for _, outcomes := range played {
			windows = append(windows, outcomes[i].result)
			settled += outcomes[i].settled
		}
		all[i] = outcome{played[0][i].window, mean(windows), settled / len(played)}
	}
	return all
}

// failing is a test that only notes whether it has failed.
type failing struct{ failed bool }

func (f *failing) Errorf(string, ...any) { f.failed = true }

func (f *failing) FailNow() { panic(f) }

// passes reports whether a check would not fail.
func passes(check func(t require.TestingT)) (ok bool) {
	f := &failing{}
	defer func() {
		if thrown := recover(); thrown != nil && thrown != any(f) {
			panic(thrown)
		}
		ok = !f.failed
	}()
	check(f)
	return ok
}

// holds plays a scenario with several seeds and checks the average. In a single run goroutines of the same instant take
// turns as the machine lets them, so that its figures differ by a third. Two runs are enough where the check holds already.
func holds(t *testing.T, r run, seeds uint64, scenario func(t *testing.T, r run) []outcome, check func(t require.TestingT, got []outcome)) {
	t.Helper()
	var played [][]outcome
	for r.seed = range seeds {
		if played = append(played, scenario(t, r)); r.seed > 0 && passes(func(t require.TestingT) { check(t, average(played)) }) {
			break
		}
	}
	for _, o := range average(played) {
		t.Logf("%s, %d runs: settled %d s, goodput %.3f, throttled %.2f %%, Jain %.3f, %.0f calls/s",
			o.window, len(played), o.settled, o.goodput, 100*o.throttled, o.jain, o.calls)
	}
	check(t, average(played))
}

// recoveries are what a limit can do, in the order of the table. All begin when the fleet has
// settled.
func recoveries() []scenario {
	return []scenario{
		{"brown-out 1 s", brownOut(1)},
		{"5 s", brownOut(5)},
		{"30 s", brownOut(30)},
		{"to a tenth", newLimit(0.1)},
		{"to a half", newLimit(0.5)},
		{"x2", newLimit(2)},
		{"x5", newLimit(5)},
		{"x10", newLimit(10)},
	}
}

// brownOut lets the service throttle everything for so many seconds.
func brownOut(length int) func(t *testing.T, r run) []outcome {
	return func(t *testing.T, r run) []outcome {
		t.Helper()
		end := settledBy + length
		got := r.until(t, end+60,
			event{at(settledBy), func(p *play) { p.service.change(0) }},
			event{at(float64(end)), func(p *play) { p.service.change(r.rate) }})
		return r.recovered(got, end, r.rate)
	}
}

// newLimit changes the limit for good. What is wanted is five times as much as the higher one.
func newLimit(factor float64) func(t *testing.T, r run) []outcome {
	return func(t *testing.T, r run) []outcome {
		t.Helper()
		r.wants = demands(r.rate*max(factor, 1), r.members)
		got := r.until(t, settledBy+60, event{at(settledBy), func(p *play) { p.service.change(factor * r.rate) }})
		return r.recovered(got, settledBy, factor*r.rate)
	}
}

// recovered returns what came of the minute after an event, and of its last 40 seconds.
func (r run) recovered(got *record, from int, rate float64) []outcome {
	settled := got.settled(from, rate)
	if r.alone { // which never has so few throttles
		settled = got.reached(from, rate, 1)
	}
	return []outcome{
		{"60 s", got.part(from, from+60, rate), settled},
		{"20 to 60 s", got.part(from+20, from+60, rate), -1},
	}
}

// fourWorkers returns the demands of members with four workers each that send without a break.
func fourWorkers(members int) []demand {
	const each = 4
	return slices.Repeat([]demand{{rate: 1000 * each, workers: each}}, members)
}

// joined begins five times as many members as there are at an instant, and looks at the next two
// seconds.
func joined(t *testing.T, r run) []outcome {
	t.Helper()
	r.wants, r.later = fourWorkers(r.members), r.members*5/6
	got := r.until(t, settledBy+20, event{at(settledBy), func(p *play) {
		for i := r.members - r.later; i < r.members; i++ {
			p.begin(i, 0)
		}
	}})
	return []outcome{
		{"2 s", got.part(settledBy, settledBy+2, r.rate), -1},
		{"3 to 20 s", got.part(settledBy+2, settledBy+20, r.rate), -1},
	}
}

// refusedAfterABrownOut plays members that want less than the service allows, with a deadline of
// ten seconds for each operation, and a brown-out of ten seconds. It returns how many operations
// are refused in the minute after it.
func refusedAfterABrownOut(t *testing.T, r run) (refused int) {
	t.Helper()
	const length = 10
	r.deadline = 10 * time.Second
	r.wants = slices.Repeat([]demand{{rate: 0.8 * r.rate / float64(r.members), workers: 1}}, r.members)
	end := settledBy + length
	got := r.until(t, end+60,
		event{at(settledBy), func(p *play) { p.service.change(0) }},
		event{at(float64(end)), func(p *play) { p.service.change(r.rate) }})
	for _, s := range got.seconds[end:] {
		refused += s.refused
	}
	return refused
}
