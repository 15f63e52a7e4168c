package retry

import (
	"strings"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// Operation says what is about to be attempted. Its zero value is an operation
// of which nothing is known; it shares one scope with all others of that sort.
type Operation struct {
	// Account is the AWS account whose limits count, such as "111122223333"; empty
	// where that is not known, or all operations are of one account.
	Account string
	// Service is the service id in lower case, such as "dynamodb". It selects the
	// defaults of the service, if there are any. Another spelling is another scope.
	Service string
	// Region is where the operation goes, such as "eu-central-1".
	Region string
	// Name is the name of the operation, such as "GetItem".
	Name string
	// Resource is what the service throttles by: a table, a bucket, a queue.
	Resource string
	// Scope, if set, is the scope by name, instead of account, service, region and
	// resource.
	Scope string
	// LongPolling marks an operation that is called again and again to wait for
	// something. In behavior v2.1 it is slowed down, not just refused, when the
	// retry quota is empty.
	LongPolling bool
	// MaxAttempts, if not zero, is how many attempts the operation may have instead
	// of what the strategy allows, the first included. Do refuses a negative number;
	// a strategy takes it for 1.
	MaxAttempts int
	// Classifier, if not nil, judges the failures of the operation instead of the
	// strategy's classifier, or besides it if it comes from classify.Add.
	Classifier classify.Classifier
	// MaxElapsed, if positive, ends the operation with ErrMaxElapsed if an attempt,
	// be it the first, would begin later than this after its first token was acquired.
	// It does not cut an attempt short.
	MaxElapsed time.Duration
	// NotAfter, if not zero, is the instant on the strategy's clock after which no
	// attempt begins, the first included. The strategy sets it from MaxElapsed if that is sooner.
	NotAfter time.Time
}

// ScopeKey identifies a scope: operations with the same key share a retry quota and, in
// adaptive mode, a send rate. It is comparable. Its fields are those of Operation that make
// operations belong together, with Operation.Name as Operation; the zero value is
// the scope of the strategy as a whole.
type ScopeKey struct {
	// Scope is a name of its own; a key that has one usually has nothing else.
	Scope string
	// Account, Service, Region, Operation and Resource say what the service throttles
	// together; empty ones do not matter.
	Account, Service, Region, Operation, Resource string

	overflow bool
}

// OverflowKey returns the key of the scope that operations share when a strategy
// has as many scopes as it may.
func OverflowKey() ScopeKey { return ScopeKey{overflow: true} }

// Key returns the scope of the operation: Scope if it is set, else account, service,
// region and resource. A strategy uses it unless it is given a function for that.
func (o Operation) Key() ScopeKey {
	if o.Scope != "" {
		return ScopeKey{Scope: o.Scope}
	}
	return ScopeKey{Account: o.Account, Service: o.Service, Region: o.Region, Resource: o.Resource}
}

// IsZero reports whether k is the scope of the strategy as a whole.
func (k ScopeKey) IsZero() bool {
	return len(k.Scope)|len(k.Account)|len(k.Service)|len(k.Region)|len(k.Operation)|len(k.Resource) == 0 && !k.overflow
}

// String returns the name if there is one, and account, service, region, operation and
// resource with a slash in between, without an account or operation that is empty;
// nothing for the strategy as a whole. It is for people: two keys may look the same.
func (k ScopeKey) String() string {
	if k.overflow {
		return "(overflow)"
	}
	parts := make([]string, 0, 6)
	for _, part := range [...]struct {
		text   string
		always bool
	}{{k.Scope, false}, {k.Account, false}, {k.Service, true}, {k.Region, true}, {k.Operation, false}, {k.Resource, true}} {
		if part.always || part.text != "" {
			parts = append(parts, part.text)
		}
	}
	return strings.TrimRight(strings.Join(parts, "/"), "/")
}
