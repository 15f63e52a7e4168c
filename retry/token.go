package retry

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/token"
)

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

// readings are those of the strategy's clock; nil for the zero Token.
func (t Token) readings() *clock.Readings {
	if owner := token.Token(t).Owner(); owner != nil {
		return owner.Readings()
	}
	return nil
}
