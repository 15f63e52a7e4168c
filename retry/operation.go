package retry

import (
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
