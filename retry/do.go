package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/instant"
	"github.com/awsretry/awsretry/internal/token"
	"github.com/awsretry/awsretry/internal/wire"
)

// Do calls fn until it succeeds or the strategy gives up, and waits before each attempt as the
// strategy says. An error is retried only if a classifier asks for it: [classify.Default] knows the
// errors of AWS and of connections, and [Mark] makes any other error retryable.
//
// Do returns what the last call of fn returned, with one of these errors:
//
//   - nil after success;
//   - the error of fn itself if it is not retryable;
//   - [ErrNoStrategy], without a call of fn, for a strategy that is nil;
//   - another error, without a call of fn, for a nil fn, a negative [Operation.MaxAttempts], an
//     [AttemptTimeout] that is out of range, or a policy for values of another type than T;
//   - an [*Error] if anything else ended the operation, with the reason and, where they apply, the
//     last error of fn and the error of ctx.
//
// A valid Do calls fn at least once unless ctx is done, its deadline comes before the end of the wait
// for the first attempt, the Config of adaptive mode forbids that wait, or the first attempt would
// begin after the end of the operation, see [Operation.NotAfter]. If the strategy refuses the first
// token, Do calls fn once. The context of fn derives from ctx, and [AttemptFrom] returns the attempt
// that it belongs to. A panic or [runtime.Goexit] in fn passes through after the strategy has been
// told.
//
// Several goroutines may call Do at once with the same strategy.
func Do[T any](
	ctx context.Context, s Strategy, op Operation, fn func(ctx context.Context) (T, error), opts ...Option,
) (value T, err error) {
	if fn == nil {
		return value, errNothingToDo
	}
	o, policy, err := prepare[T](s, opts)
	if err != nil {
		return value, err
	}
	l := loop{strategy: s, timeout: o.attemptTimeout, judged: policy != nil}
	return run(ctx, &l, &op, fn, policy)
}

// prepare returns the options of a call with that strategy.
func prepare[T any](s Strategy, opts []Option) (o options, policy func(T, error) error, err error) {
	if err := checkNil(s); err != nil {
		return o, nil, err
	}
	if len(opts) == 0 {
		return o, nil, nil
	}
	o = collect(opts)
	if err := CheckTimeout(o.attemptTimeout); err != nil {
		return o, nil, err
	}
	policy, err = policyOf[T](o)
	return o, policy, err
}

// run is the loop of one operation.
func run[T any](
	ctx context.Context, l *loop, op *Operation, fn func(ctx context.Context) (T, error), policy func(T, error) error,
) (value T, err error) {
	if err := l.begin(ctx, op); err != nil {
		return value, err
	}
	defer l.abort()
	for {
		if err := l.wait(ctx); err != nil {
			return value, err
		}
		value, err = call(ctx, l, op, fn)
		if policy != nil {
			err = policy(value, err)
		}
		if done, err := l.ended(ctx, err); done {
			return value, err
		}
	}
}

// DoErr is [Do] for a function that returns only an error.
func DoErr(ctx context.Context, s Strategy, op Operation, fn func(ctx context.Context) error, opts ...Option) error {
	if fn == nil {
		return errNothingToDo
	}
	_, err := Do(ctx, s, op, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) }, opts...)
	return err
}

// call makes one attempt.
func call[T any](ctx context.Context, l *loop, op *Operation, fn func(ctx context.Context) (T, error)) (T, error) {
	l.attempts++
	attempt := within(ctx, l.token, l.attempts)
	if l.timeout == nil {
		return fn(attempt)
	}
	timed, timer, err := l.startTimer(attempt, *op)
	if err != nil {
		var none T
		return none, err
	}
	defer timer.release()
	value, err := fn(timed)
	return value, timer.stop(ctx, timed, err)
}

var errNothingToDo = errors.New("retry: Do needs a function")

// loop is the part of Do's state that does not depend on T.
type loop struct {
	strategy Strategy
	timeout  AttemptTimeout // or nil
	judged   bool           // by a policy, which may be against a retry
	readings *instant.Readings
	start    instant.Mark
	token    Token
	denied   error  // why there is no token
	done     bool   // the strategy knows that the operation is over
	attempts int    // made so far
	result   Result // of the last one
	last     error
	refusal  *Error // the error of the operation, if the client gave up
}

// begin acquires the first token. It takes a pointer because an operation is large.
func (l *loop) begin(ctx context.Context, op *Operation) error {
	if err := op.check(); err != nil {
		return err
	}
	if l.timeout != nil {
		timeout, err := TimeoutOf(l.timeout, *op)
		if l.timeout = timeout; err != nil {
			return err
		}
	}
	l.token, l.denied = l.strategy.AcquireInitialToken(ctx, *op)
	if l.denied != nil && wire.Is(l.denied, ErrNoStrategy) {
		return l.denied
	}
	// Without a token there is nothing to record, but one attempt is still made: a strategy
	// manages retries, it does not gate access.
	l.done = l.denied != nil
	if owner := token.Token(l.token).Owner(); owner != nil {
		l.readings = owner.Readings()
	} else {
		l.readings = readingsOf(l.strategy)
	}
	l.start = l.readings.Mark()
	if l.done && instant.Late(l.readings.Now(), op.NotAfter) {
		return l.asError(ctx, &Error{Reason: ErrMaxElapsed, Detail: l.denied}, nil)
	}
	return nil
}

func (o *Operation) check() error {
	if o.MaxAttempts < 0 {
		return fmt.Errorf("retry: MaxAttempts %d: must not be negative", o.MaxAttempts)
	}
	return nil
}

// readingsOf returns the readings of the strategy's clock, for use without a token.
func readingsOf(s Strategy) *instant.Readings { return new(instant.NewReadings(clockOf(s))) }

func clockOf(s Strategy) clock.Clock {
	if clk := s.Clock(); clk != nil {
		return clk
	}
	return clock.System{}
}

// wait returns when the next attempt is due, or why there is none.
func (l *loop) wait(ctx context.Context) error {
	if l.denied != nil {
		if ctx.Err() != nil {
			return l.asError(ctx, &Error{Reason: ErrCanceled, Detail: l.denied}, nil)
		}
		return nil
	}
	err := l.token.Wait(ctx)
	if err == nil {
		return nil
	}
	l.fail(err)
	return l.asError(ctx, err, l.last)
}

// ended tells the strategy how the attempt went. It reports whether the
// operation is over, and with what error.
func (l *loop) ended(ctx context.Context, failure error) (done bool, err error) {
	switch {
	case failure == nil:
		l.succeed()
		return true, nil
	case l.denied != nil:
		return true, l.asError(ctx, l.denied, failure)
	}
	next, err := l.strategy.RefreshRetryToken(ctx, l.token, failure)
	if err == nil {
		l.token, l.last = next, failure
		return false, nil
	}
	if next.Delay() > 0 {
		// Long polling: slowed down, then refused. A wait cut short changes nothing.
		_ = next.Wait(ctx)
	}
	l.fail(failure)
	return true, l.asError(ctx, err, failure)
}

// succeed ends the operation as a success, even if the strategy rejects its token.
func (l *loop) succeed() {
	if l.denied == nil {
		_ = l.strategy.RecordSuccess(l.token, l.result)
		l.done = true
	}
}

// fail ends the operation without success. It drops the error of a strategy that rejects
// its own token: there is nowhere to return it. done is set last: if the strategy panics,
// abort tells it once more.
func (l *loop) fail(failure error) {
	if l.denied == nil {
		_ = l.strategy.RecordFailure(l.token, failure)
	}
	l.done = true
}

// abort ends an operation whose attempt or classifier did not return.
func (l *loop) abort() {
	if !l.done {
		l.fail(ErrAborted)
	}
}

// asError returns the error of an operation that the strategy has ended with err: a failure that is not
// retryable as it is, unless a rule has stopped a retry, and otherwise an Error, which is kept.
func (l *loop) asError(ctx context.Context, err, failure error) error {
	own, ok := err.(*Error) //nolint:errorlint // one that is wrapped is not the strategy's own
	if !ok || own == nil {
		own = &Error{Reason: err, Attempts: l.attempts}
	}
	if failure != nil && own.Detail == nil && wire.Is(own.Reason, ErrNotRetryable) {
		return unmarked(failure)
	}
	l.refusal = own.Complete(ctx, l.readings.Since(l.start))
	l.refusal.Last = unmarked(cmp.Or(own.Last, failure))
	return l.refusal
}

// Option changes how [Do] runs one operation. Other limits, such as the number of attempts,
// are fields of [Operation].
type Option interface{ apply(o *options) }

type options struct {
	attemptTimeout AttemptTimeout
	policy         any // a func(T, error) error, or nil
}

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// collect is a separate function so that a Do without options does not pay for the variable
// that they need.
func collect(opts []Option) options {
	var o options
	for _, option := range opts {
		if option != nil {
			option.apply(&o)
		}
	}
	return o
}

// WithAttemptTimeout ends the context of each attempt after the time that t allows, on the strategy's
// clock. The service may have carried out an attempt that was ended, so use it for what may be done
// twice. Do knows of no request body: for uploads use [LimitAttempt]. If the attempt then returns an
// error that wraps one of a context, this becomes an [*AttemptTimeoutError], which is retryable, unlike
// the end of the caller's own context. A mark in the error of the attempt, such as that of [Permanent],
// still counts, and any other error is the answer of the service. With a [FixedTimeout] this end is the
// deadline of the context; with a [LearnedTimeout] it is not, because the attempt may get more time. Nil
// means no limit.
func WithAttemptTimeout(t AttemptTimeout) Option {
	return optionFunc(func(o *options) { o.attemptTimeout = t })
}

// WithPolicy lets a policy judge the value and the error of each attempt. The error that the
// policy returns replaces the attempt's: nil is success, an error of [Mark] asks for a retry,
// an error of [Permanent] ends the operation, and any other error is classified. So a policy
// can retry a value, such as that of a waiter, or turn an error into success.
//
// T must be that of [Do]; for [DoErr] it is struct{}. A policy must be safe for concurrent use
// if operations that use it run at the same time. Nil means no policy.
func WithPolicy[T any](policy func(value T, err error) error) Option {
	return optionFunc(func(o *options) {
		o.policy = nil
		if policy != nil {
			o.policy = policy
		}
	})
}

func policyOf[T any](o options) (func(T, error) error, error) {
	if o.policy == nil {
		return nil, nil
	}
	policy, ok := o.policy.(func(T, error) error)
	if !ok {
		return nil, fmt.Errorf("retry: a policy of type %T does not fit an operation with %T", o.policy, policy)
	}
	return policy, nil
}
