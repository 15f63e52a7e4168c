package retry

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/internal/wire"
)

// Attempt says which attempt of which loop a context belongs to.
type Attempt struct {
	// Number is the number of the attempt in the innermost loop; the first is 1. It is 0
	// for a context of [Once] outside of any loop.
	Number int
	// Loops is how many loops are around the context: 1 in the function of [Do], 2 if another
	// Do is around that one.
	Loops int
	// MaxAttempts is how many attempts all these loops together may make: the product of their
	// limits. A loop whose attempt is over counts once.
	MaxAttempts int
	// Once is true if operations with the context make only one attempt, see [Once].
	Once bool
}

// AttemptFrom returns the attempt that ctx belongs to. It reports false for a context that
// does not come from [Do], [Token.Context] or [Once]. Call it before you retry in your own
// loop, to find out whether there is already a loop around it.
func AttemptFrom(ctx context.Context) (Attempt, bool) {
	attempted, ok := ctx.Value(token.AttemptKey{}).(token.Attempted)
	if !ok {
		return Attempt{}, false
	}
	ref, around := attempted.Attempt()
	a, _ := AttemptFrom(around)
	if ref.Number == once {
		a.Once = true
		return a, true
	}
	number, most := int(ref.Number), 1
	if n, ok := ref.MaxAttempts(); ok && !a.Once {
		most = n
	}
	product := int64(max(a.MaxAttempts, 1)) * int64(most)
	a.Number, a.Loops, a.MaxAttempts = number, a.Loops+1, int(min(product, math.MaxInt32))
	return a, true
}

// Once returns a context that limits every operation to one attempt, in all loops and
// clients that use a strategy of this module. Pass it to calls inside an outer loop, so
// that attempts do not multiply.
func Once(ctx context.Context) context.Context {
	return &attemptContext{Context: ctx, ref: token.Ref{Number: once}} // no retry of a loop around helps the operation
}

// attemptContext is the context of one attempt, or of Once. It has its own type so that an attempt costs one
// allocation, of 32 bytes; what else there is to know of the loops around is found on request.
type attemptContext struct {
	context.Context           //nolint:containedctx // it is a context
	ref             token.Ref // of the attempt, or without a token
}

// once is the number of the attempt in a context of Once.
const once = -1

func (c *attemptContext) Value(key any) any {
	if _, ok := key.(token.AttemptKey); ok {
		return c
	}
	return c.Context.Value(key)
}

func (c *attemptContext) Attempt() (token.Ref, context.Context) { return c.ref, c.Context }

// within returns the context of an attempt with that number. The token is that of the attempt, or zero.
func within(ctx context.Context, t Token, number int) context.Context {
	ref := token.Token(t).Ref()
	ref.Number = int32(min(number, math.MaxInt32))
	return &attemptContext{Context: ctx, ref: ref}
}

// refFrom returns the token of the attempt that ctx belongs to, or the zero Ref.
func refFrom(ctx context.Context) token.Ref {
	attempted, ok := ctx.Value(token.AttemptKey{}).(token.Attempted)
	if !ok {
		return token.Ref{}
	}
	ref, _ := attempted.Attempt()
	return ref
}

// AttemptTimeoutError is the error of an attempt that an [AttemptTimeout] ended. It is retried
// as a timeout unless the error of the attempt has a mark, see [Mark]. [errors.As] finds the
// error of the attempt in it. [errors.Is] does not, because the context error inside is not
// the caller's.
type AttemptTimeoutError struct {
	// After is how long the attempt was allowed to take.
	After time.Duration
	// Err is what the attempt returned.
	Err error
}

// Error says how long the attempt was allowed to take and what it returned.
func (e *AttemptTimeoutError) Error() string {
	return fmt.Sprintf("retry: attempt timed out after %v: %v", e.After, e.Err)
}

// Timeout returns true.
func (e *AttemptTimeoutError) Timeout() bool { return true }

// As lets errors.As look into what the attempt returned.
func (e *AttemptTimeoutError) As(target any) bool {
	left := wire.MaxErrors
	return e.find(&left, reflect.ValueOf(target).Elem())
}

// find inspects at most *left errors, also inside another AttemptTimeoutError.
func (e *AttemptTimeoutError) find(left *int, target reflect.Value) bool {
	return wire.FindWithin(left, e.Err, func(err error) bool {
		if found := reflect.ValueOf(err); found.Type().AssignableTo(target.Type()) {
			target.Set(found)
			return true
		}
		switch inner := err.(type) { //nolint:errorlint // one error of the walk
		case *AttemptTimeoutError:
			return inner.find(left, target)
		case interface{ As(target any) bool }:
			return inner.As(target.Addr().Interface())
		default:
			return false
		}
	})
}

// timedOut returns the error of an attempt as an AttemptTimeoutError if the timer of the
// attempt, and not the caller, ended it. A mark in the error then wraps the result.
func timedOut(caller, attempt context.Context, after time.Duration, err error) error {
	if !endedByTimer(caller, attempt, err) {
		return err
	}
	late := error(&AttemptTimeoutError{After: after, Err: unmarked(err)})
	if mark := (classify.Outcome{Err: err}).Judge(nil, nil); mark != (classify.Verdict{}) {
		return &classify.JudgedError{Verdict: mark, Err: late}
	}
	return late
}
