package standard

import (
	"time"

	"github.com/awsretry/awsretry/retry"
)

// Plan is what a strategy will do for an operation, in numbers.
type Plan struct {
	// MaxAttempts is how many attempts it may have, the first included.
	MaxAttempts int
	// QuotaCapacity is the size of its retry quota, and RetryCost, TimeoutCost and
	// ThrottlingCost what a retry takes from it.
	QuotaCapacity, RetryCost, TimeoutCost, ThrottlingCost int
	// Base and ThrottlingBase are the delays before the first retry, without
	// jitter, and MaxBackoff is the longest one.
	Base, ThrottlingBase, MaxBackoff time.Duration
}

// Plan returns the numbers for an operation.
func (s *Strategy) Plan(op retry.Operation) Plan {
	config := s.engine().Config()
	if config == nil {
		return Plan{}
	}
	return Plan{
		MaxAttempts:    s.engine().MaxAttempts(&op),
		QuotaCapacity:  config.Quota.Capacity,
		RetryCost:      config.RetryCost,
		TimeoutCost:    config.TimeoutCost,
		ThrottlingCost: config.ThrottlingCost,
		Base:           s.engine().Base(&op),
		ThrottlingBase: config.ThrottlingBase,
		MaxBackoff:     config.MaxBackoff,
	}
}

// WorstCaseDelay returns the seconds of backoff of an operation that uses up its
// attempts, each retry after the kind of failure with the longest delay, with the
// jitter at its longest. Server hints, attempts themselves and waits for a send
// rate come on top. It is a number of seconds because it may be longer than a
// Duration can be.
func (p Plan) WorstCaseDelay() (seconds float64) {
	delay := max(p.Base, p.ThrottlingBase)
	retries := p.MaxAttempts - 1
	for ; retries > 0 && delay < p.MaxBackoff; retries-- {
		seconds += delay.Seconds()
		delay += min(delay, p.MaxBackoff-delay) // twice the delay may be more than a Duration can be
	}
	return seconds + float64(max(retries, 0))*p.MaxBackoff.Seconds()
}
