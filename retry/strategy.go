package retry

import "context"

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
}
