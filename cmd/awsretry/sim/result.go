package sim

import (
	"math"
	"time"
)

// Result is the result of a run.
type Result struct {
	Figures
	// Calls is how many ended in the window that counts, and Ended how many a second.
	Calls int
	Ended float64
	// Succeeded and Unsuccessful are the latencies of these calls, sorted.
	Succeeded, Unsuccessful []time.Duration
	// Bins are parts of the run of length Width; the last one ends with the run and may be shorter.
	Width time.Duration
	Bins  []Bin
}

// KeepsUp reports whether at least 95 % of the calls that callers want to make end.
func (r *Result) KeepsUp() bool { return math.IsNaN(r.Offered) || r.Ended >= 0.95*r.Offered }

// part returns a part of a whole; NaN if the whole is zero.
func part[T int | float64](of, whole T) float64 {
	if whole <= 0 {
		return math.NaN()
	}
	return float64(of) / float64(whole)
}

// quantile returns a quantile of sorted times, in seconds; NaN if there are none.
func quantile(sorted []time.Duration, percent int) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)].Seconds()
}
