package retry

import "time"

// Plan is what a [Strategy] will do for an operation, in numbers. The zero Plan is that of
// a strategy that its constructor did not make.
type Plan struct {
	// MaxAttempts is how many attempts the operation may have, the first included.
	MaxAttempts int
	// QuotaCapacity is the size of the retry quota of its scope, in tokens. RetryCost,
	// TimeoutCost and ThrottlingCost are the tokens that a retry takes from it.
	QuotaCapacity, RetryCost, TimeoutCost, ThrottlingCost int
	// Base and ThrottlingBase are the delays before the first retry, without jitter.
	// MinDelay and MaxBackoff are the shortest and the longest delay without a hint of the
	// server.
	Base, ThrottlingBase, MinDelay, MaxBackoff time.Duration
	// MaxElapsed is the time after the beginning of the operation within which an attempt may
	// begin: the limit of the strategy or that of [Operation.MaxElapsed], whichever is
	// shorter. Zero means no such limit. It does not know of [Operation.NotAfter].
	MaxElapsed time.Duration
}

// WorstCaseDelay returns the seconds of backoff of an operation that uses up its
// attempts, each retry after the kind of failure with the longest delay, with the
// jitter at its longest. With standard.Decorrelated the backoff can be longer. Hints of
// the server, the attempts themselves and waits for a send rate come on top. With MaxElapsed
// it is at most that, hints included. It is a number of seconds because it may be longer
// than a [time.Duration] can be.
func (p Plan) WorstCaseDelay() (seconds float64) {
	delay := max(p.Base, p.ThrottlingBase)
	retries := p.MaxAttempts - 1
	for ; retries > 0 && delay < p.MaxBackoff; retries-- {
		seconds += max(delay, p.MinDelay).Seconds()
		delay += min(delay, p.MaxBackoff-delay) // twice the delay may be more than a Duration can be
	}
	seconds += float64(max(retries, 0)) * max(p.MaxBackoff, p.MinDelay).Seconds()
	if p.MaxElapsed > 0 {
		seconds = min(seconds, p.MaxElapsed.Seconds())
	}
	return seconds
}
