package retry

import (
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/instant"
)

// Operation says what is called, and which limits apply. The zero value says nothing about
// the call; all such operations share one scope.
type Operation struct {
	// Account is the AWS account whose limits apply, such as "111122223333". Leave it empty if
	// the account is not known, or if all operations use one account.
	Account string
	// Service is the service id in lower case, such as "dynamodb". It selects the service's
	// defaults, if any. A different spelling is a different scope.
	Service string
	// Region is where the operation goes, such as "eu-central-1".
	Region string
	// Name is the name of the operation, such as "GetItem". It does not change the scope
	// unless standard.Config.Scope says so.
	Name string
	// Resource is what the service throttles by: a table, a bucket, a queue, an operation.
	Resource string
	// Scope names the scope of the operation. If it is set, account, service, region and
	// resource do not matter for the scope.
	Scope string

	// LongPolling marks an operation that a program calls again and again to wait for
	// something. In behavior v2.1 an empty retry quota slows it down: it sleeps the backoff
	// before it is refused.
	LongPolling bool
	// NotIdempotent says that the operation must not be carried out twice. A failure is then retried only if it says that the
	// attempt was not carried out, see [classify.Unprocessed], or carries a verdict of [Mark]; another one that is retryable ends
	// the operation with [ErrNotRetryable]. By default every operation may be carried out twice, as in the AWS SDKs.
	NotIdempotent bool
	// Unpaced exempts the operation from the send rate of adaptive mode: it takes no send
	// tokens, its attempts are never held back, and their answers do not change the rate.
	Unpaced bool
	// MaxAttempts is how many attempts the operation may have, the first included. It
	// overrides the strategy's number, and zero means that number. [Do] refuses a negative
	// number; a strategy reads it as 1.
	MaxAttempts int
	// Classifier judges the failures of the operation instead of the strategy's classifier, or
	// after it if it comes from [classify.Also]. Nil means the strategy's.
	Classifier classify.Classifier
	// MaxElapsed ends the operation with [ErrMaxElapsed] if an attempt, the first included,
	// would begin more than this after the operation began. It does not cut an attempt short.
	// Zero or less means no limit but the strategy's, see standard.Config.MaxElapsed.
	MaxElapsed time.Duration
	// NotAfter is the instant on the strategy's clock after which no attempt begins, the first
	// included. The zero time means no such limit. The earliest of NotAfter, MaxElapsed and the
	// strategy's limit applies; events have it as the NotAfter of their Operation.
	NotAfter time.Time
}

// ScopeKey identifies a scope. Operations with the same key share a retry quota and, in
// adaptive mode, a send rate. Its fields have the meaning that they have in [Operation]. The
// zero value is the scope of the strategy as a whole. A ScopeKey is comparable.
type ScopeKey struct {
	// Scope is the name of the scope. A key with a name usually has no other field.
	Scope string
	// Account, Service, Region, Name and Resource say what the service throttles together.
	// Empty ones do not matter.
	Account, Service, Region, Name, Resource string

	overflow bool
}

// OverflowKey returns the key of the scope that operations share when a strategy has no room
// for more scopes.
func OverflowKey() ScopeKey { return ScopeKey{overflow: true} }

// Key returns the scope of the operation: Scope if it is set, else account, service, region
// and resource. A strategy uses it unless standard.Config.Scope returns another key.
func (o Operation) Key() ScopeKey {
	if o.Scope != "" {
		return ScopeKey{Scope: o.Scope}
	}
	return ScopeKey{Account: o.Account, Service: o.Service, Region: o.Region, Resource: o.Resource}
}

// endTogether turns MaxElapsed into NotAfter, so that it limits all operations made from this one
// together.
func (o *Operation) endTogether(readings *instant.Readings) {
	if o.MaxElapsed <= 0 {
		return
	}
	if end := readings.Now().Add(o.MaxElapsed); o.NotAfter.IsZero() || end.Before(o.NotAfter) {
		o.NotAfter = end
	}
}

// Clone returns an equal key whose texts lie in one new string, so that it keeps no larger text in memory
// that they may be parts of. Use it for keys that you keep.
func (k ScopeKey) Clone() ScopeKey {
	text := strings.Clone(k.Scope + k.Account + k.Service + k.Region + k.Name + k.Resource)
	for _, part := range [...]*string{&k.Scope, &k.Account, &k.Service, &k.Region, &k.Name, &k.Resource} {
		n := len(*part)
		*part, text = text[:n], text[n:]
	}
	return k
}

// IsZero reports whether k is the scope of the strategy as a whole.
func (k ScopeKey) IsZero() bool {
	return len(k.Scope)|len(k.Account)|len(k.Service)|len(k.Region)|len(k.Name)|len(k.Resource) == 0 && !k.overflow
}

// String returns a text for people, such as "dynamodb/eu-central-1/orders": name, account,
// service, region, operation and resource, separated by slashes. An empty name, account or
// operation is left out. The scope of the strategy as a whole is the empty text, and
// [OverflowKey] is "(overflow)". Two keys may have the same text.
func (k ScopeKey) String() string {
	if k.overflow {
		return "(overflow)"
	}
	parts := make([]string, 0, 6)
	for _, part := range [...]struct {
		text   string
		always bool
	}{{k.Scope, false}, {k.Account, false}, {k.Service, true}, {k.Region, true}, {k.Name, false}, {k.Resource, true}} {
		if part.always || part.text != "" {
			parts = append(parts, part.text)
		}
	}
	return strings.TrimRight(strings.Join(parts, "/"), "/")
}
