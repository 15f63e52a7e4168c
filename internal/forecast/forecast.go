// Package forecast computes what a plan leads to.
package forecast

import (
	"math"

	"github.com/awsretry/awsretry/retry"
)

// DrainPoint returns the share of failing attempts, from 0 to 1, above which the retry quota
// empties. Below it the quota stays near full. cost is what a retry takes from the quota, in
// tokens: RetryCost, TimeoutCost or ThrottlingCost, if all failures are of that kind. A
// negative cost counts as 0.
//
// It is 1 where retries cannot empty the quota: MaxAttempts is 1 or less, or cost is 0. It is
// 0 where the quota is smaller than cost, because then no retry is ever granted. Otherwise the
// size of the quota does not matter. Tokens that time adds do not count.
//
// At the drain point p an operation of N attempts, each of which fails with probability p on
// its own, changes the quota by nothing on average. A success on the first attempt adds one
// token. A success after k retries gives back what the last of them took, so it costs
// (k-1)*cost. N failures cost (N-1)*cost. The sum over all cases is
//
//	(1-p) - cost*(p^2 + p^3 + ... + p^N) = 0
//
// The "AWS SDKs and Tools Reference Guide" has about 22 % for transient failures and 32 % for
// throttles in v2.1 ("Retry behavior", section on the retry quota).
func DrainPoint(p retry.Plan, cost int) float64 {
	switch {
	case p.MaxAttempts <= 1 || cost <= 0:
		return 1
	case p.QuotaCapacity < cost:
		return 0
	}
	retries, price := float64(p.MaxAttempts)-1, float64(cost)
	low, high := 0.0, 1.0
	for range 60 { // the sum falls from 1 to less than 0, and the distance ends below 1e-18
		middle := (low + high) / 2
		success := 1 - middle
		if success*success > price*middle*middle*(1-math.Pow(middle, retries)) { // both times 1-p
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// RetriesInARow returns how many retries a full quota pays for if nothing is added to it meanwhile, where each
// takes cost tokens. It is at most MaxAttempts-1, which is also the answer for a cost of 0 or less.
func RetriesInARow(p retry.Plan, cost int) int {
	retries := max(p.MaxAttempts-1, 0)
	if cost <= 0 {
		return retries
	}
	return min(retries, max(p.QuotaCapacity, 0)/cost)
}

// WorstCaseDelay returns the seconds of backoff of an operation that uses up its
// attempts or a full quota, each retry after the kind of failure with the longest delay and
// at the price of the cheapest, with the jitter at its longest. Tokens that other operations, time or the
// pool add to the quota do not count. With standard.Decorrelated the backoff can be longer. With a
// function of the program for the backoff, each delay counts as MaxBackoff. Hints of
// the server, the attempts themselves and waits for a send rate come on top. With MaxElapsed
// it is at most that, hints included. It is a number of seconds because it may be longer
// than a time.Duration can be.
func WorstCaseDelay(p retry.Plan) (seconds float64) {
	delay := max(p.Base, p.ThrottlingBase)
	if p.Backoff != nil {
		delay = p.MaxBackoff
	}
	retries := RetriesInARow(p, min(p.RetryCost, p.TimeoutCost, p.ThrottlingCost))
	for ; retries > 0 && delay < p.MaxBackoff; retries-- {
		seconds += max(delay, p.MinDelay).Seconds()
		delay += min(delay, p.MaxBackoff-delay) // twice the delay may be more than a Duration can be
	}
	seconds += float64(retries) * max(p.MaxBackoff, p.MinDelay).Seconds()
	if p.MaxElapsed > 0 {
		seconds = min(seconds, p.MaxElapsed.Seconds())
	}
	return seconds
}
