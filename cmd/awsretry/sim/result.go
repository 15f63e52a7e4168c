package sim

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Result is the result of a run. Shares, rates, latencies and the delay are those of the calls that
// ended in the window that counts; the other figures are for the whole run. NaN means that a figure
// does not apply.
type Result struct {
	// Calls is how many ended. Offered is how many calls a second callers want to make, Begun how many begin,
	// Ended how many end, and Goodput how many succeed. OfLimit is the goodput as a share of what the service
	// allows, and OfPossible as a share of what callers want or the service allows, whichever is less.
	Calls                                               int
	Offered, Begun, Ended, Goodput, OfLimit, OfPossible float64
	// FailedShare is the share of the calls that failed, and NoQuotaShare the part of it that failed for lack
	// of quota.
	FailedShare, NoQuotaShare float64
	// NoAttemptsShare is the part that failed because all attempts had, and NoTimeShare the rest: the calls that a
	// deadline or MaxElapsed ended.
	NoAttemptsShare, NoTimeShare float64
	// Done is the second at which the last of a number of calls ended; NaN without one, and if they did not end.
	Done float64
	// WithinShare is the share of the calls wanted in the window that begin and succeed in time. It leaves out the
	// Undecided: calls that are open at the end of the run and may still succeed in time.
	WithinShare float64
	Undecided   int
	// AttemptsPerCall counts all attempts, the first included. ThrottledShare is the share of
	// them that the service throttled.
	AttemptsPerCall, ThrottledShare float64
	// The latencies are the times from the beginning of a call to its end, in seconds: LatencyP50 and LatencyP99
	// of calls that succeed, FailedP50 and FailedP99 of those that fail, LatencyMax of all. DelayPerCall is the
	// mean part of that time spent waiting for backoff and send tokens.
	LatencyP50, LatencyP99, FailedP50, FailedP99, LatencyMax, DelayPerCall float64
	// Succeeded and Unsuccessful are the latencies of the calls, sorted.
	Succeeded, Unsuccessful []time.Duration
	// Waiting is how many calls are open at the end of the run, and Oldest how many seconds ago the
	// first of them began.
	Waiting int
	Oldest  float64
	// Recover is how many seconds after the last change of service or load the successes return, for five
	// seconds, to 90 % of their level in the ten seconds before the first change, or of what is possible if
	// that is less. It is NaN if nothing changes, if nothing succeeded before, or if they do not return in
	// the run.
	Recover float64
	// Emptied is the second at which a retry was first refused for lack of quota. LowestQuota is
	// the lowest number of tokens of any client.
	Emptied     float64
	LowestQuota int
	// Duration is how long the run took. Bins are parts of it of length Width; the last one ends
	// with the run and may be shorter.
	Duration, Width time.Duration
	Bins            []Bin
}

// ratio returns a part of a whole; NaN if the whole is zero.
func ratio(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// part is ratio for sums.
func part(of, whole float64) float64 {
	if whole <= 0 {
		return math.NaN()
	}
	return of / whole
}

// Equal reports whether two runs came to the same: each call took as long, and so was each part of the run.
func (r *Result) Equal(other *Result) bool {
	figures := func(r Result) string { // as text, in which NaN equals NaN
		r.Succeeded, r.Unsuccessful = nil, nil
		return fmt.Sprint(r)
	}
	return slices.Equal(r.Succeeded, other.Succeeded) && slices.Equal(r.Unsuccessful, other.Unsuccessful) && figures(*r) == figures(*other)
}

// KeepsUp reports whether at least 95 % of the calls that callers want to make end.
func (r *Result) KeepsUp() bool { return math.IsNaN(r.Offered) || r.Ended >= 0.95*r.Offered }
