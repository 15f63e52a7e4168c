package retry

import "time"

// Plan has the numbers by which a [Strategy] retries an operation.
type Plan struct {
	// MaxAttempts is how many attempts the operation may have, the first included.
	MaxAttempts int
	// QuotaCapacity is the size of the retry quota of its scope, in tokens. RetryCost,
	// TimeoutCost and ThrottlingCost are the tokens that a retry takes from it. All three are zero
	// if the quota is switched off, see standard.Config.NoQuota.
	QuotaCapacity, RetryCost, TimeoutCost, ThrottlingCost int
	// DebtLimit is standard.Config.DebtLimit.
	DebtLimit bool
	// Base and ThrottlingBase are the delays before the first retry, without jitter; both are
	// zero with a Backoff. MinDelay and MaxBackoff are the shortest and the longest delay without
	// a hint of the server.
	Base, ThrottlingBase, MinDelay, MaxBackoff time.Duration
	// Backoff is the function of the program that decides the delays, see standard.Config.Backoff.
	// Its results are within MinDelay and MaxBackoff. Nil means that delays double.
	Backoff func(attempt int, err error) time.Duration
	// MaxElapsed is how long after the start of the operation an attempt may begin: the limit
	// of the strategy or [Operation.MaxElapsed], whichever is shorter. Zero means no such
	// limit. It ignores [Operation.NotAfter].
	MaxElapsed time.Duration
}
