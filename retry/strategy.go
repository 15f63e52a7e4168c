package retry

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/token"
)

// Strategy decides whether a failed attempt is made again, and when. It is safe for
// concurrent use and shared by all operations of a client.
//
// An operation acquires a token, waits for it with [Token.Wait] and makes an attempt. Then it
// ends with RecordSuccess or RecordFailure, or it asks for the next token with
// RefreshRetryToken. Exactly one of RecordSuccess and RecordFailure ends an operation. A
// token is good for one call of these methods: a used token returns [ErrTokenUsed], and the
// token of another strategy [ErrForeignToken]. An operation that drops its token leaks
// nothing, but the quota that its retry took is not given back.
//
// Only the strategies of this module issue tokens. To write your own strategy, embed one of
// them and override its methods.
type Strategy interface {
	// AcquireInitialToken begins an operation. The token is for attempt 1. The strategies of
	// this module do not refuse it.
	AcquireInitialToken(ctx context.Context, op Operation) (Token, error)

	// RefreshRetryToken reports that the attempt failed, and asks for another one. The new
	// token carries the delay before that attempt. If there is no further attempt, the error
	// is an [*Error] with the reason. One RecordFailure then ends the operation, with t or
	// with the token that comes with the error. The Delay of that token is how long to sleep
	// before the operation returns, and its Wait sleeps it. It is zero except for an operation
	// that an empty quota slows down, see [Operation.LongPolling].
	RefreshRetryToken(ctx context.Context, t Token, failure error) (Token, error)

	// RecordSuccess ends an operation whose last attempt succeeded. r says what else its answer said; the
	// zero Result is that of most answers.
	RecordSuccess(t Token, r Result) error

	// RecordFailure ends an operation without success: after a refused refresh, after an
	// attempt that must not be made again, or after a Wait that failed. A retry that was
	// granted but not made gives back what it took from the quota. An attempt counts as made once
	// the Wait for its token has succeeded, unless the failure is [ErrCanceled] itself: pass
	// that if your loop calls Wait before it sleeps, and its context ended during the sleep. The
	// send token of that Wait goes back too.
	RecordFailure(t Token, failure error) error

	// Clock returns the clock that the strategy waits on. It is not nil.
	Clock() clock.Clock

	// Plan returns the numbers by which an operation is retried.
	Plan(op Operation) Plan

	// Judge returns what the classifiers say of a failure of an operation. It begins no
	// operation, so it takes nothing from the quota and causes no event.
	Judge(op Operation, failure error) classify.Verdict

	// Snapshot returns the state of the scopes.
	Snapshot() Snapshot
}

// Result says what the answer to a successful attempt said besides its success.
//
// The retry quota counts an answer with throttled entries as a success. For the send rate such an answer is compared
// with the most entries that the service has lately served in one answer. If it served
//   - all of these, it is no throttle;
//   - none, it is a throttle;
//   - some, after four answers without throttled entries, it is a throttle;
//   - some otherwise, it is a part of a throttle. 15 of 20 make a quarter, and four quarters make a throttle.
//
// If each such answer were a throttle, a service whose burst is smaller than a batch would bring the rate to nothing.
type Result struct {
	// Throttled is how many entries of a batch the service throttled. Zero or less means none.
	Throttled int
	// Entries is the size of the batch, also if no entry was throttled. Zero means that the call was no
	// batch, or that its size is not known. Less than Throttled counts as Throttled.
	Entries int
}

// Token is the state that an operation carries from attempt to attempt. It is a small
// value. Attempt and Delay stay valid as long as it is kept, but it is good for only one
// call of its strategy, see [Strategy]. The zero Token belongs to no strategy.
type Token token.Token

// Attempt returns the number of the attempt that the token is for; the first is 1.
func (t Token) Attempt() int { return token.Token(t).Attempt() }

// Delay returns the backoff that Wait sleeps. In adaptive mode a wait for the send rate
// follows; its length is known only when the backoff is over.
func (t Token) Delay() time.Duration { return token.Token(t).Delay() }

// WithoutDelay returns the token for a loop that has slept the delay itself. Its Wait does
// not sleep it again.
func (t Token) WithoutDelay() Token { return Token(token.Token(t).WithDelay(0)) }

// Wait returns when the attempt may be made: after the backoff, after a wait for retry quota
// if the Config allows one, and, in adaptive mode, with a send token. It refuses at once a
// wait that could not end before the deadline of ctx, and an attempt, the first included,
// that would begin after the end of the operation, see [Operation.NotAfter]. The error is an
// [*Error] that holds the last error of the operation, or [ErrForeignToken] or
// [ErrTokenUsed].
//
// After an error the attempt counts as never made, and you may call Wait again, which starts
// over. After success another Wait returns [ErrTokenUsed].
func (t Token) Wait(ctx context.Context) error {
	owner := token.Token(t).Owner()
	if owner == nil {
		return ErrForeignToken
	}
	return owner.Wait(ctx, token.Token(t))
}

// Context returns a context for the attempt of the token, like the one that [Do] passes to its
// function: [AttemptFrom] finds the attempt in it, inside the loops around ctx. Call it before
// the attempt in your own loop. For a used token and for the zero Token, the operation has one
// attempt.
func (t Token) Context(ctx context.Context) context.Context {
	return within(ctx, t, t.Attempt())
}

// CheckStrategy returns an error that wraps [ErrNoStrategy] for a strategy that cannot be used: nil, a
// nil pointer, or a wrapper around nil. Call it in code that keeps a strategy for later, such as a
// constructor.
func CheckStrategy(s Strategy) error {
	if err := checkNil(s); err != nil {
		return err
	}
	if !hasClock(s) {
		return fmt.Errorf("%w: a %T around nil: use what standard.New, adaptive.New or awsretry.Load returns", ErrNoStrategy, s)
	}
	return nil
}

// hasClock reports whether the strategy has a clock. The method of a wrapper around nil panics.
func hasClock(s Strategy) (has bool) {
	defer func() { _ = recover() }()
	return s.Clock() != nil
}

func checkNil(s Strategy) error {
	if s == nil {
		return fmt.Errorf("%w: use what standard.New, adaptive.New or awsretry.Load returns", ErrNoStrategy)
	}
	if v := reflect.ValueOf(s); v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%w: a nil %T: use what its constructor returns, such as standard.New", ErrNoStrategy, s)
	}
	return nil
}
