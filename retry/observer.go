package retry

import "context"

// Observer gets the events of strategies. A strategy calls it with no lock held, in the
// goroutine that caused the event, so a slow observer slows the operation. It must be safe for
// concurrent use. The strategy recovers a panic of the observer, which then misses only that
// event.
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
	// AttemptEnded means that an attempt ended. It sets Err (nil after success), Verdict,
	// Elapsed and Quota.
	AttemptEnded EventKind = iota + 1
	// RetryScheduled means that another attempt follows. It sets Err and Verdict of the last
	// attempt, Delay and Quota.
	RetryScheduled
	// RetryRefused means that no other attempt follows, or that an attempt is not made because
	// its wait was refused. It sets Reason, Err of the last attempt, the refused Delay, and
	// Quota.
	RetryRefused
	// SendWaitBegan means that adaptive mode holds the attempt back. It sets Delay (the wait
	// if the send rate does not change), Waiting and Rate.
	SendWaitBegan
	// SendWaitEnded means that a wait for the send rate is over. It sets Delay (how long it
	// took) and Err (nil if the attempt may be sent).
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
	// attempts multiply. It sets MaxAttempts. [Once] limits an inner operation to one attempt.
	LoopNested
	// SettingIgnored means that a setting has no effect or does not count as written. If fields of
	// a Config are for adaptive mode, and the environment, a file or a flag chose standard mode,
	// Err names the fields and the origin of the mode. If only aws-sdk-go-v2 accepts a value, Err
	// names the value and its place. These events belong to no operation, so OperationID, Operation,
	// Scope and Attempt are zero. If SendLimit of adaptive.Config returns an impossible limit, Err
	// names it, and the event comes with the first operation of the scope.
	SettingIgnored
	// OperationEnded means that the operation is over. It is the last event of an operation, and the
	// only one that every operation has, unless the strategy refuses its first token or its loop
	// drops a token. It sets Attempt (the number of attempts made), Elapsed, BackoffWait, QuotaWait,
	// SendWait, Reason (nil after success), Err and Verdict of the last attempt, and Quota.
	// [Event.Outcome] is a word for how it ended.
	OperationEnded
)

// String returns the kind's name in lower case, such as "retry-scheduled".
func (k EventKind) String() string {
	names := [...]string{
		AttemptEnded: "attempt-ended", RetryScheduled: "retry-scheduled", RetryRefused: "retry-refused",
		SendWaitBegan: "send-wait-began", SendWaitEnded: "send-wait-ended", SendRateChanged: "send-rate-changed",
		ScopeCreated: "scope-created", ScopeEvicted: "scope-evicted", LoopNested: "loop-nested",
		SettingIgnored: "setting-ignored", OperationEnded: "operation-ended",
	}
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return "unknown"
}
