package standard

import (
	"strings"
	"time"
)

// Behavior is a generation of retry behavior. AWS has two in the field.
type Behavior string

// The generations.
const (
	// V21 is the default: shorter delays after failures that are not throttles, and
	// fewer retries out of one quota. AWS made it the default of its SDKs on
	// 2026-11-10; aws-sdk-go-v2 has it since v1.48.0.
	V21 Behavior = "v2.1"
	// V20 is the behavior that the SDKs had before, for code that asks for it.
	V20 Behavior = "v2.0"
)

// Valid reports whether b is one of the generations.
func (b Behavior) Valid() bool { return b == V20 || b == V21 }

// DefaultQuotaCapacity is the size of a retry quota in both generations.
const DefaultQuotaCapacity = 500

type defaults struct {
	maxAttempts                            int
	retryCost, timeoutCost, throttlingCost int
	base, throttlingBase                   time.Duration
}

// defaults returns the numbers of a generation for a service.
func (b Behavior) defaults(service string) defaults {
	if b == V20 {
		return defaults{
			maxAttempts: 3,
			retryCost:   5, timeoutCost: 10, throttlingCost: 5,
			base: time.Second, throttlingBase: time.Second,
		}
	}
	d := defaults{
		maxAttempts: 3,
		retryCost:   14, timeoutCost: 14, throttlingCost: 5,
		base: 50 * time.Millisecond, throttlingBase: time.Second,
	}
	if isDynamoDB(service) {
		d.maxAttempts, d.base = 4, 25*time.Millisecond
	}
	return d
}

// MaxAttempts returns how many attempts an operation of the service may have
// unless another number is set: 3, and 4 for DynamoDB and DynamoDB Streams in V21
// and in the empty Behavior, which means V21.
func (b Behavior) MaxAttempts(service string) int { return b.defaults(service).maxAttempts }

// isDynamoDB knows DynamoDB and DynamoDB Streams as endpoints, clients and models
// spell them.
func isDynamoDB(service string) bool {
	for _, name := range [...]string{"dynamodb", "dynamodb-streams", "dynamodb streams", "dynamodb_streams", "dynamodbstreams"} {
		if strings.EqualFold(service, name) {
			return true
		}
	}
	return false
}
