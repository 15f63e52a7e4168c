package retry

import (
	"time"

	"github.com/awsretry/awsretry/internal/backoff"
	"github.com/awsretry/awsretry/internal/serviceid"
)

// Defaults returns the built-in numbers of an operation of a service, such as "dynamodb", in any
// spelling that [Operation.Service] accepts. An empty Behavior, and one that is unknown, counts as [V21].
//
// The numbers are those of the AWS SDKs: in aws-sdk-go-v2 they are in aws/retry/standard.go and
// aws/retry/jitter_backoff.go, and in the Smithy retry guide the capacity is MAX_CAPACITY.
func (b Behavior) Defaults(service string) Plan {
	p := Plan{
		MaxAttempts: 3,
		// Each generation has this capacity.
		QuotaCapacity: 500, RetryCost: 14, TimeoutCost: 14, ThrottlingCost: 5,
		Base: 50 * time.Millisecond, ThrottlingBase: time.Second, MaxBackoff: backoff.DefaultMax,
	}
	switch {
	case b == V20:
		p.RetryCost, p.TimeoutCost, p.Base = 5, 10, time.Second
	case serviceid.IsDynamoDB(service):
		p.MaxAttempts, p.Base = 4, 25*time.Millisecond
	}
	return p
}
