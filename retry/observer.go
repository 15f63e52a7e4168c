package retry

import "context"

// Observer is told what strategies do. A strategy calls it with no lock held, in the goroutine
// that caused the event, so that an operation takes longer by the time that the observer
// takes. It must be safe for concurrent use. The strategy recovers a panic of the observer,
// which then misses this event only.
type Observer interface {
	// Observe is called once for each event. ctx is the context of the operation.
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is a function that is an [Observer].
type ObserverFunc func(ctx context.Context, e Event)

// Observe calls the function.
func (f ObserverFunc) Observe(ctx context.Context, e Event) { f(ctx, e) }

// EventKind says what happened.
type EventKind uint8

// The kinds of events. Each comment names the fields that the kind sets besides Kind, Time,
// OperationID, Operation, Scope and Attempt, which every event has.
const (
	// AttemptEnded means that an attempt came back. It sets Err, which is nil after success,
	// Verdict, Elapsed and Quota.
	AttemptEnded EventKind = iota + 1
	// RetryScheduled means that another attempt follows. It sets Err and Verdict of the last
	// attempt, Delay and Quota.
	RetryScheduled
	// RetryRefused means that no other attempt follows, or that the attempt itself is not
	// made because its wait was refused. It sets Reason, Err of the last attempt, Delay that
	// was refused, and Quota.
	RetryRefused
	// SendWaitBegan means that adaptive mode holds the attempt back. It sets Delay, which is
	// the wait if the send rate stays as it is, Waiting and Rate.
	SendWaitBegan
	// SendWaitEnded means that a wait for the send rate is over. It sets Delay, which is the
	// time that it took, and Err, which is nil if the attempt may be sent.
	SendWaitEnded
	// SendRateChanged means that a response has changed the send rate. It sets Rate and
	// RateBefore.
	SendRateChanged
	// ScopeCreated means that an operation was the first of its scope. The scope of the
	// strategy as a whole exists from the start.
	ScopeCreated
	// ScopeEvicted means that the state of a scope was dropped when another scope was
	// created. Scope is the one that was dropped, not that of Operation.
	ScopeEvicted
	// LoopNested means that an operation begins in an attempt of another loop, so that their
	// attempts multiply. It sets MaxAttempts. [Once] keeps an inner operation to one attempt.
	LoopNested
	// SettingIgnored means that a setting has no effect or counts otherwise than it was written.
	// Either fields of a Config are for adaptive mode, and the environment, a file or a flag chose
	// standard mode: then Err names the fields and the origin of the mode. Or only aws-sdk-go-v2
	// accepts a value: then Err names the value and its place. The event belongs to no operation,
	// so that OperationID, Operation, Scope and Attempt are zero.
	SettingIgnored
	// ScopesThrottledTogether means that three or more scopes of one service were throttled
	// within a second, so that the limit of the service is probably wider than a scope. It sets
	// Scopes. Scope is the service: account, service and region of Operation. The event is the
	// last one of an attempt, after SendRateChanged. In the minute that follows the service has
	// no such event.
	//
	// Every throttled attempt counts, retried or not, in both modes. Operations without a
	// Service do not count, nor does the scope of the strategy as a whole, nor that of
	// [OverflowKey]. Of more than 256 services at a time some are not watched.
	ScopesThrottledTogether
	// OperationEnded means that the operation is over. It is the last event of the operation, and
	// the only one that every operation has. An operation does not have it if the strategy refuses
	// its first token, or if its loop drops a token. It sets Attempt, which is the number of
	// attempts that were made, Elapsed, BackoffWait, QuotaWait, SendWait, Reason, which is nil after
	// success, Err and Verdict of the last attempt, and Quota. [Event.Outcome] is a word for it.
	OperationEnded
)

// String returns the kind's name in lower case, such as "retry-scheduled".
func (k EventKind) String() string {
	names := [...]string{
		AttemptEnded: "attempt-ended", RetryScheduled: "retry-scheduled", RetryRefused: "retry-refused",
		SendWaitBegan: "send-wait-began", SendWaitEnded: "send-wait-ended", SendRateChanged: "send-rate-changed",
		ScopeCreated: "scope-created", ScopeEvicted: "scope-evicted", LoopNested: "loop-nested",
		SettingIgnored: "setting-ignored", ScopesThrottledTogether: "scopes-throttled-together",
		OperationEnded: "operation-ended",
	}
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return "unknown"
}
