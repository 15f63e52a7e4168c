package fleet

import (
	"math"
	"time"
)

// alone is the send rate of a member that has lost the store: what it sent recently.
type alone struct {
	rate float64 // at the loss
	lost time.Time
	next time.Time // when the next attempt may be sent
	cut  time.Time // the last one, or the loss
	kept float64   // share of the rate right after the last cut

	back time.Time // when the store answered again; zero if it has not
	held float64   // the rate then
}

// begin sets the rate. All members of a fleet lose the store at the same time, so each sends its
// first attempt at its own phase, from 0 to 1.
func (a *alone) begin(now time.Time, rate, phase float64) {
	rate = max(rate, aloneLeast)
	*a = alone{rate: rate, lost: now, cut: now, kept: 1, next: now.Add(seconds(phase / rate))}
}

// Rate returns the rate at now.
func (a *alone) Rate(now time.Time) float64 {
	doubled := math.Floor(float64(now.Sub(a.lost)) / float64(aloneHold))
	return max(a.rate*a.part(now)*math.Pow(2, min(doubled, 60)), leastRate)
}

// part returns the share of the rate that is left after the cuts.
func (a *alone) part(now time.Time) float64 {
	return min(a.kept+(1-a.kept)*float64(now.Sub(a.cut))/float64(aloneBack), 1)
}

// Throttle cuts the rate, unless the attempt was sent before the last cut.
func (a *alone) Throttle(now, sent time.Time) (cut bool) {
	if !sent.After(a.cut) {
		return false
	}
	a.cut, a.kept = now, a.part(now)*aloneCut
	return true
}

// Back notes that the store answers again.
func (a *alone) Back(now time.Time) { a.back, a.held = now, a.Rate(now) }

// Again returns when a member that has just got slots may ask for more. The store sells the whole
// send rate of the fleet to the members that are back, while the others still send as much as
// before. Until they are back too, a member asks for no more than it sent alone.
func (a *alone) Again(now time.Time, slots int) time.Time {
	end := a.back.Add(othersBack)
	if a.back.IsZero() || !now.Before(end) {
		return now
	}
	if again := now.Add(seconds(float64(slots) / a.held)); again.Before(end) {
		return again
	}
	return end
}

// Take takes the tokens of an attempt if they are there, or returns when they will be.
func (a *alone) Take(now time.Time, cost float64) (at time.Time, ok bool) {
	if a.next.After(now) {
		return a.next, false
	}
	if earliest := now.Add(-lateBy); a.next.Before(earliest) {
		a.next = earliest
	}
	a.next = a.next.Add(seconds(cost / a.Rate(now)))
	return now, true
}

// Give returns tokens that were taken but not used.
func (a *alone) Give(now time.Time, cost float64) {
	a.next = a.next.Add(-seconds(cost / a.Rate(now)))
}

// Until returns how long it takes until there are total tokens.
func (a *alone) Until(now time.Time, total float64) time.Duration {
	return max(a.next.Sub(now), 0) + seconds(max(total-1, 0)/a.Rate(now))
}
