package sim

import (
	"math"
	"slices"
)

// Spread is a figure over several runs: the median, the lowest and the highest. All are NaN if the figure does not
// apply in at least half of the runs.
type Spread struct{ Median, Low, High float64 }

// SpreadOf returns the spread of a figure.
func SpreadOf(runs []*Result, figure func(r *Result) float64) Spread {
	var all []float64
	for _, r := range runs {
		if v := figure(r); !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	if 2*len(all) < len(runs) || len(all) == 0 {
		return Spread{math.NaN(), math.NaN(), math.NaN()}
	}
	slices.Sort(all)
	return Spread{all[(len(all)-1)/2], all[0], all[len(all)-1]}
}

// Median returns the run with the median share of failed calls, the first if there are several. Pictures show this
// run.
func Median(runs []*Result) *Result {
	middle := SpreadOf(runs, func(r *Result) float64 { return r.FailedShare }).Median
	for _, r := range runs {
		if r.FailedShare == middle {
			return r
		}
	}
	return runs[0]
}

// Overlaps reports whether two figures may differ by chance, because their ranges overlap.
func (s Spread) Overlaps(o Spread) bool { return s.Low <= o.High && o.Low <= s.High }
