package sim

import (
	"math"
	"time"
)

// Result is what a run came to. Shares, rates, latencies and the delay are those of the calls that
// ended in the window that counts; the other figures are of the whole run. NaN is what does not
// apply.
type Result struct {
	// Calls is how many ended. Goodput is how many of them succeeded, a second. FailedShare is the
	// share that failed, and NoQuotaShare the part of it that failed for lack of quota.
	Calls                              int
	Goodput, FailedShare, NoQuotaShare float64
	// AttemptsPerCall counts all attempts, the first included. ThrottledShare is the share of
	// them that the service throttled.
	AttemptsPerCall, ThrottledShare float64
	// The latencies are the times from the beginning of a call to its end, in seconds, of calls
	// that fail too. DelayPerCall is how much of that a call waits for backoff and send tokens, on
	// average.
	LatencyP50, LatencyP99, LatencyMax, DelayPerCall float64
	// Recover is how many seconds after the outage the successes are back at 90 % of what they were
	// in the ten seconds before it, for five seconds; NaN if there is no outage, if nothing
	// succeeded before, or if they do not come back in the run.
	Recover float64
	// Emptied is the second at which a retry was first refused for lack of quota. LowestQuota is
	// the lowest number of tokens of any client.
	Emptied     float64
	LowestQuota int
	// Duration is how long the run took. Bins are parts of it that are Width long, but for the last
	// one, which ends with the run.
	Duration, Width time.Duration
	Bins            []Bin
	// Longest is the call that took the longest time.
	Longest Call
	// Beyond is how many attempts a trace had no answer for. Unused is how many of its answers no
	// attempt was made for.
	Beyond, Unused int
}

// ratio is a part of a whole, and NaN of nothing.
func ratio(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}
