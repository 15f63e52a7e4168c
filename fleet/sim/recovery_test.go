package sim

import (
	"slices"
	"testing"
	"time"
)

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
