package sim

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scenario is what happens to a fleet that has had time to settle. Its seconds count from then on.
type scenario struct {
	name   string
	change func(r *run) // what is different from the beginning on; nil means nothing
	events []event
	factor float64 // of the rate in the parts; zero means 1
	parts  []part
}

// event is something that happens in a run, in the order of time.
type event struct {
	at int
	do func(p *play)
}

// part is the seconds from one on, before another.
type part struct{ from, to int }

// settledBy is when a fleet has settled, in seconds.
const settledBy = 60

// play plays the scenario and returns what came of its parts.
func (s scenario) play(t *testing.T, r run) []result {
	t.Helper()
	if s.change != nil {
		s.change(&r)
	}
	got := r.play(t, settledBy+s.parts[len(s.parts)-1].to, s.events)
	rate := r.rate * cmp.Or(s.factor, 1)
	results := make([]result, len(s.parts))
	for i, p := range s.parts {
		results[i] = got.part(settledBy+p.from, settledBy+p.to, rate)
		// A fleet has settled with at most 5 % throttled. Members alone never have so few.
		results[i].settled = got.settled(settledBy+p.from, rate, map[bool]float64{true: 1, false: 0.05}[r.alone])
	}
	return results
}

var (
	// steady is a fleet that nothing happens to, after it has settled and from the beginning on.
	steady = scenario{name: "30 to 90 s", parts: []part{{-30, 30}, {-60, 30}}}

	// halfCutOff cuts the way of every second member to the store for a minute.
	halfCutOff = scenario{name: "half cut off, back", events: []event{
		{0, func(p *play) { p.cut(true) }},
		{60, func(p *play) { p.cut(false) }},
	}, parts: []part{{0, 60}, {60, 90}}}

	// replaced replaces one member after the other.
	replaced = scenario{name: "all members replaced", events: []event{{0, func(p *play) {
		for i := range p.stop {
			p.begin(i, 1)
			p.pass(time.Minute / time.Duration(len(p.stop)))
		}
	}}}, parts: []part{{0, 60}}}

	flushed = scenario{name: "flushed", events: []event{{0, func(p *play) { p.store.memory.Load().Flush() }}}, parts: []part{{0, 40}}}

	// failover takes the store away for two seconds, and then a replica takes its place that has
	// missed the last five seconds before and whose clock is half a second behind.
	failover = scenario{name: "failover", change: func(r *run) { r.replicated = true }, events: []event{
		{-5, func(p *play) { p.store.behind.Store(true) }},
		{0, func(p *play) { p.store.goAway(false) }},
		{2, func(p *play) { p.store.promote(-500 * time.Millisecond) }},
	}, parts: []part{{0, 40}}}

	// lull lets demand fall to a tenth for two minutes, and looks at the ten seconds after it.
	lull = scenario{name: "lull", events: []event{
		{0, func(p *play) { p.lull.Store(true) }},
		{120, func(p *play) { p.lull.Store(false) }},
	}, parts: []part{{120, 130}}}

	// joined begins five times as many members as there are at an instant. Each has four workers that
	// send without a break.
	joined = scenario{name: "10 members, then 60", change: func(r *run) {
		r.wants, r.later = slices.Repeat([]demand{{rate: 4000, workers: 4}}, r.members), r.members*5/6
	}, events: []event{{0, func(p *play) {
		for i := p.members - p.later; i < p.members; i++ {
			p.begin(i, 0)
		}
	}}}, parts: []part{{0, 2}, {2, 20}}}
)

func limit(factor float64) func(p *play) { return func(p *play) { p.service.change(factor * p.rate) } }

// rateTimes changes the limit for good. Together the members want five times the limit times wants.
func rateTimes(factor, wants float64) scenario {
	return scenario{
		change: func(r *run) { r.wants = demands(r.rate*wants, r.members) },
		events: []event{{0, limit(factor)}}, factor: factor, parts: []part{{0, 60}, {20, 60}},
	}
}

// brownOut lets the service throttle everything for so many seconds.
func brownOut(length int) scenario {
	return scenario{
		events: []event{{0, limit(0)}, {length, limit(1)}},
		parts:  []part{{length, length + 60}, {length + 20, length + 60}},
	}
}

// gone takes the store away for a minute. It refuses calls or hangs.
func gone(hangs bool) scenario {
	return scenario{name: "store gone, back", events: []event{
		{0, func(p *play) { p.store.goAway(hangs) }},
		{60, func(p *play) { p.store.away.Store(false) }},
	}, parts: []part{{0, 60}, {60, 90}}}
}

// reach is a scenario and what each of its parts must reach, by the mean of some seeds.
type reach struct {
	run
	scenario

	want []bounds
}

// bounds are the least goodput and fairness, and the most of the others; zero means any.
type bounds struct{ goodput, jain, throttled, calls, settled, refused float64 }

func (b bounds) hold(r result) bool {
	most := func(got, want float64) bool { return want == 0 || got <= want }
	return r.goodput >= b.goodput && r.jain >= b.jain && most(r.throttled, b.throttled) &&
		most(r.calls, b.calls) && most(r.settled, b.settled) && most(r.refused, b.refused)
}

// holds plays up to five seeds until the mean is good enough: goroutines of the same instant take turns as the machine
// lets them, so that the figures of single runs differ by a third.
func (c reach) holds(t *testing.T) {
	t.Helper()
	t.Parallel()
	c.roundTrip = cmp.Or(c.roundTrip, time.Millisecond)
	var played [][]result
	for c.seed = range uint64(5) {
		played = append(played, c.scenario.play(t, c.run))
		got, good := mean(played), true
		for i, b := range c.want {
			good = good && b.hold(got[i])
		}
		t.Logf("%d runs: %+.3v", len(played), got)
		if good {
			return
		}
	}
	require.Fail(t, "the fleet does not reach what it must", "%+v", c.want)
}

func TestTenMembersShareFiveASecond(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]reach{
		"burst 1 s": {
			run{rate: 5, members: 10, burst: time.Second},
			steady,
			[]bounds{{goodput: 0.9, throttled: 0.03, calls: 1.3 * 11}},
		},
		"burst 0.1 s": {
			run{rate: 5, members: 10, burst: time.Second / 10},
			steady,
			[]bounds{{goodput: 0.82, throttled: 0.03, calls: 1.3 * 11}},
		},
	} {
		t.Run(name, c.holds)
	}
}
