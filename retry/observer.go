package retry

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/classify"
)

// Observer is told what strategies do. It is called with no lock held, by the
// goroutine that caused the event, and must be safe for concurrent use; what it
// takes, the operation takes longer. A panic of an observer is recovered and
// harms nothing but its own event.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is a function that is an Observer.
type ObserverFunc func(ctx context.Context, e Event)

// Observe calls the function.
func (f ObserverFunc) Observe(ctx context.Context, e Event) { f(ctx, e) }

// EventKind is what happened.
type EventKind uint8

// The kinds of events, with the fields that they set besides Time, Operation, Scope
// and Attempt, which all have.
const (
	// AttemptEnded: an attempt came back. Err, which is nil after success, Verdict
	// where it was asked for one, Quota.
	AttemptEnded EventKind = iota + 1
	// RetryScheduled: another attempt will be made. Err and Verdict of the last one,
	// Delay, Quota.
	RetryScheduled
	// RetryRefused: no other attempt will be made, or, if its wait was refused, the
	// attempt itself. Reason, Err of the last attempt, Delay that was refused, Quota.
	RetryRefused
	// SendWaitBegan: adaptive mode holds the attempt back. Delay if the send rate
	// stays as it is, Waiting, Rate.
	SendWaitBegan
	// SendWaitEnded: that is over. Delay that it took, Err, which is nil if the
	// attempt may be sent.
	SendWaitEnded
	// SendRateChanged: Rate, RateBefore.
	SendRateChanged
	// ScopeCreated: an operation was the first of its scope. The scope of the strategy
	// as a whole is there from the start.
	ScopeCreated
	// ScopeEvicted: the state of a scope was dropped when another scope was created.
	// Scope, which is not that of Operation.
	ScopeEvicted
)

// String returns the kind's name in lower case, such as "retry-scheduled".
func (k EventKind) String() string {
	switch k {
	case AttemptEnded:
		return "attempt-ended"
	case RetryScheduled:
		return "retry-scheduled"
	case RetryRefused:
		return "retry-refused"
	case SendWaitBegan:
		return "send-wait-began"
	case SendWaitEnded:
		return "send-wait-ended"
	case SendRateChanged:
		return "send-rate-changed"
	case ScopeCreated:
		return "scope-created"
	case ScopeEvicted:
		return "scope-evicted"
	default:
		return "unknown"
	}
}

// Event is one thing that happened. Fields that its kind does not set are zero and
// mean nothing.
type Event struct {
	Kind EventKind
	// Time is when it happened, on the strategy's clock.
	Time time.Time
	// Operation is the operation that caused the event.
	Operation Operation
	// Scope is the scope that it is about. It is the overflow's for operations that
	// share that.
	Scope ScopeKey
	// Attempt is the number of the attempt that ended or is waiting.
	Attempt int
	// Err is the error of the attempt or of the wait.
	Err error
	// Verdict is what the classifiers said of Err.
	Verdict classify.Verdict
	// Delay is the backoff before the next attempt, or a wait for the send rate.
	Delay time.Duration
	// Reason is why a retry was refused, such as ErrQuotaExhausted.
	Reason error
	// Quota is how many retry quota tokens are left in the scope.
	Quota int
	// Rate and RateBefore are fill rates in sends per second.
	Rate, RateBefore float64
	// Waiting is how many callers wait in front.
	Waiting int
}
