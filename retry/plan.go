package retry

import "time"

// Plan is what a [Strategy] will do for an operation, in numbers.
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
