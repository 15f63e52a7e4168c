package retry

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/token"
)

// Strategy decides whether a failed attempt is made again, and when. It is safe
// for concurrent use and shared by all operations of a client.
//
// An operation acquires a token, waits for it (Token.Wait), makes an attempt, and
// then either ends with RecordSuccess or RecordFailure or asks for another token
// with RefreshRetryToken. Exactly one of RecordSuccess and RecordFailure ends it.
// A token is good for one of these calls: one that has been used gives
// ErrTokenUsed, one of another strategy ErrForeignToken. A token that is dropped
// instead holds nothing; only what a retry took from the quota when it was granted
// is not given back then.
type Strategy interface {
	// AcquireInitialToken begins an operation. The token's Attempt is 1. The
	// strategies of this module never refuse it, unless a function of the user says
	// something impossible of the operation's scope.
	AcquireInitialToken(ctx context.Context, op Operation) (Token, error)

	// RefreshRetryToken reports that the attempt failed and asks for another one.
	// The new token carries the delay before that attempt. If there is to be no
	// further attempt the error is an *Error with the reason; t then accepts one
	// RecordFailure and nothing else, and so does the token that is returned with
	// the error, whose Delay is what remains to be slept before the operation
	// returns: zero but for long polling.
	RefreshRetryToken(ctx context.Context, t Token, failure error) (Token, error)

	// RecordSuccess ends an operation whose last attempt succeeded.
	RecordSuccess(t Token) error

	// RecordFailure ends an operation without success: after a refused refresh,
	// after an attempt that is not to be made again, or before an attempt, if its
	// Wait has failed. A retry that was granted and never made gives back what it
	// took from the quota; it counts as made if its token was waited for.
	RecordFailure(t Token, failure error) error

	// Clock returns the clock that the strategy waits on; nil if its constructor did not
	// make it.
	Clock() clock.Clock

	// Plan returns the numbers by which an operation is retried.
	Plan(op Operation) Plan

	// Snapshot returns the state of the scopes.
	Snapshot() Snapshot
}

// Token is what one operation carries from attempt to attempt. It is a small
// value; what it says of the attempt and the delay stays true however long it is
// kept, but it is good for one call of its strategy only, see Strategy. The zero
// Token belongs to no strategy.
type Token token.Token

// Attempt reports the number of the attempt that the token is for; the first is
// 1.
func (t Token) Attempt() int { return token.Token(t).Attempt() }

// RetryCount reports how many retries that makes: the attempts but the first.
func (t Token) RetryCount() int { return max(t.Attempt()-1, 0) }

// Delay reports the backoff that Wait sleeps. What adaptive mode adds for the
// send rate is known only when the backoff is over.
func (t Token) Delay() time.Duration { return token.Token(t).Delay() }

// WithoutDelay returns the token for a caller that has slept the delay itself:
// its Wait does not sleep it again.
func (t Token) WithoutDelay() Token { return Token(token.Token(t).WithDelay(0)) }

// Wait returns when the attempt may be made: after the backoff, a wait for retry quota
// if the strategy has one, and, in adaptive mode, with a send token. It is the only
// place that waits. A wait that could not end before the deadline of ctx is refused at
// once, and so is an attempt, be it the first, that would begin after the end of the
// operation, see Operation.NotAfter. The error is an *Error that
// holds the last error of the operation, or ErrForeignToken or ErrTokenUsed.
//
// After an error the attempt counts as never made; Wait may then be called again
// and starts over. After success another Wait gives ErrTokenUsed.
func (t Token) Wait(ctx context.Context) error {
	owner := token.Token(t).Owner()
	if owner == nil {
		return ErrForeignToken
	}
	return owner.Wait(ctx, token.Token(t))
}

// Context returns a context for the attempt of the token, as [Do] gives it to its function:
// [AttemptFrom] finds the attempt in it. It is for loops of one's own, which call it before
// the attempt.
func (t Token) Context(ctx context.Context) context.Context {
	around, _ := AttemptFrom(ctx)
	return &attemptContext{Context: ctx, attempt: around.inside(t.Attempt(), t.maxAttempts())}
}

// maxAttempts is how many attempts the operation may make; 1 for the zero Token.
func (t Token) maxAttempts() int {
	if owner := token.Token(t).Owner(); owner != nil {
		return owner.MaxAttempts()
	}
	return 1
}

// readings are those of the strategy's clock; nil for the zero Token.
func (t Token) readings() *clock.Readings {
	if owner := token.Token(t).Owner(); owner != nil {
		return owner.Readings()
	}
	return nil
}

// CheckStrategy returns an error, which is [ErrNoStrategy], for a strategy that cannot be
// used: nil, a nil pointer, the zero Strategy of a mode, or a wrapper around one of these.
// It is for code that is given a strategy and uses it later, such as a constructor.
func CheckStrategy(s Strategy) error {
	if err := checkNil(s); err != nil {
		return err
	}
	if !hasClock(s) {
		return fmt.Errorf("%w: a %T that its constructor did not make: use what that returns, such as standard.New", ErrNoStrategy, s)
	}
	return nil
}

// hasClock reports whether the strategy was made: a zero one has no clock, and the method
// of a wrapper around nil panics.
func hasClock(s Strategy) (made bool) {
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
