package sim

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// demand is what a member wants.
type demand struct {
	rate    float64 // operations per second, if nothing holds them back
	workers int
}

// every is the time from one operation of a worker to its next.
func (d demand) every() time.Duration {
	return time.Duration(float64(d.workers) / d.rate * float64(time.Second))
}

// offered is what all members together want, over what the service allows.
const offered = 5

// demands returns those of the members: half of them want half an equal share, four tenths
// want twice an equal share, and one tenth wants the rest of what is offered. Each has so many
// workers that a worker has one operation a second at most.
func demands(rate float64, members int) []demand {
	share := rate / float64(members)
	hungry, modest := max(members/10, 1), members/2
	rest := offered*rate - share*(0.5*float64(modest)+2*float64(members-modest-hungry))
	all := make([]demand, members)
	for i := range all {
		wanted := 2 * share
		switch {
		case i < hungry:
			wanted = rest / float64(hungry)
		case i >= members-modest:
			wanted = share / 2
		}
		all[i] = demand{rate: wanted, workers: max(int(math.Ceil(wanted)), 1)}
	}
	return all
}

// even returns the demands of members with one worker each that want the same.
func even(rate float64, members int) []demand {
	return slices.Repeat([]demand{{rate: offered * rate / float64(members), workers: 1}}, members)
}

// entitled returns what each member is due of the rate: what it wants, or an equal share of
// what the others leave if that is less.
func entitled(rate float64, all []demand) []float64 {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].rate, all[b].rate) })
	due := make([]float64, len(all))
	for n, i := range order {
		due[i] = min(all[i].rate, rate/float64(len(order)-n))
		rate -= due[i]
	}
	return due
}
