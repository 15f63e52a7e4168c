package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/errtree"
)

// Do calls fn until it succeeds or the strategy gives up, waiting before each
// attempt as the strategy says. It returns what the last call of fn returned,
// with one of these errors:
//
//   - nil after success;
//   - the error of fn itself where nobody wants it retried;
//   - ErrNoStrategy, without a call of fn, where there is no strategy to ask;
//   - an *Error with the reason, the last error of fn and the error of ctx, as far
//     as they apply, where something else ended the operation.
//
// fn is called at least once unless ctx is done, its deadline is sooner than the
// wait before the first attempt, adaptive mode may not wait as long, or the first
// attempt would begin after the end of the operation, see Operation.NotAfter. Its
// context comes from ctx and tells which attempt it is, see AttemptFrom. A panic of
// fn, or runtime.Goexit in it, passes through after the strategy has been told.
func Do[T any](
	ctx context.Context, s Strategy, op Operation, fn func(ctx context.Context) (T, error), opts ...Option,
) (value T, err error) {
	if fn == nil {
		return value, errNothingToDo
	}
	if err := checkNil(s); err != nil {
		return value, fmt.Errorf("retry: %w", err)
	}
	var o options
	if len(opts) > 0 {
		o = collect(opts)
		o.change(&op)
	}
	policy, err := policyOf[T](o)
	if err != nil {
		return value, err
	}
	l := loop{strategy: s, timeout: o.attemptTimeout}
	if err := l.begin(ctx, &op); err != nil {
		return value, err
	}
	defer l.abort()
	for {
		if err := l.wait(ctx); err != nil {
			return value, err
		}
		value, err = call(ctx, &l, fn)
		failure, final := err, err == nil
		if policy != nil {
			failure, final = policy(value, err).judge(err)
		}
		if done, err := l.ended(ctx, failure, final); done {
			return value, err
		}
	}
}

// call makes one attempt.
func call[T any](ctx context.Context, l *loop, fn func(ctx context.Context) (T, error)) (T, error) {
	l.attempts++
	attempt := &attemptContext{Context: ctx, attempt: Attempt{Number: l.attempts, Loops: l.around + 1}}
	if l.timeout <= 0 {
		return fn(attempt)
	}
	limited, cancel := clock.WithTimeout(attempt, l.readings.Clock(), l.timeout)
	defer cancel()
	value, err := fn(limited)
	return value, timedOut(ctx, limited, l.timeout, err)
}

var errNothingToDo = errors.New("retry: Do needs a function")

// loop is what Do knows of its operation, whatever T is.
type loop struct {
	strategy Strategy
	timeout  time.Duration // of an attempt
	around   int           // how many loops there are around this one
	readings *clock.Readings
	start    clock.Mark
	token    Token
	denied   error // why there is no token
	done     bool  // the strategy knows that the operation is over
	attempts int   // made so far
	last     error
}

// begin acquires the first token. It takes a pointer because an operation is large.
func (l *loop) begin(ctx context.Context, op *Operation) error {
	if op.MaxAttempts < 0 {
		return fmt.Errorf("retry: MaxAttempts %d: must not be negative", op.MaxAttempts)
	}
	if outer, ok := AttemptFrom(ctx); ok {
		l.around = outer.Loops
	}
	l.token, l.denied = l.strategy.AcquireInitialToken(ctx, *op)
	if errtree.Is(l.denied, ErrNoStrategy) {
		return l.denied
	}
	// Without a token there is nothing to record, and one attempt all the same:
	// a strategy manages retries, it does not gate access.
	l.done = l.denied != nil
	if l.readings = l.token.readings(); l.readings == nil {
		l.readings = readingsOf(l.strategy)
	}
	l.start = l.readings.Mark()
	if l.done && !op.NotAfter.IsZero() && l.readings.Now().After(op.NotAfter) {
		return l.explain(ctx, &Error{Reason: ErrMaxElapsed, Detail: l.denied}, nil)
	}
	return nil
}

// readingsOf are those of the strategy's clock, where there is no token to ask.
func readingsOf(s Strategy) *clock.Readings {
	clk := s.Clock()
	if clk == nil {
		clk = clock.System{}
	}
	return new(clock.NewReadings(clk))
}

// wait returns when the next attempt is due, or why there is none.
func (l *loop) wait(ctx context.Context) error {
	if l.denied != nil {
		if ctx.Err() != nil {
			return l.explain(ctx, &Error{Reason: ErrCanceled, Detail: l.denied}, nil)
		}
		return nil
	}
	err := l.token.Wait(ctx)
	if err == nil {
		return nil
	}
	l.fail(err)
	return l.explain(ctx, err, l.last)
}

// ended tells the strategy how the attempt went. It reports whether the
// operation is over, and with what error.
func (l *loop) ended(ctx context.Context, failure error, final bool) (done bool, err error) {
	switch {
	case failure == nil:
		l.succeed()
		return true, nil
	case final:
		l.fail(failure)
		return true, failure
	case l.denied != nil:
		return true, l.explain(ctx, l.denied, failure)
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
	return true, l.explain(ctx, err, failure)
}

// succeed ends the operation as a success, whatever the strategy thinks of its
// token.
func (l *loop) succeed() {
	if l.denied == nil {
		_ = l.strategy.RecordSuccess(l.token)
		l.done = true
	}
}

// fail ends the operation without success. There is nobody to tell that the
// strategy does not accept its own token. done is set last: if the strategy
// panics, abort tells it once more.
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

// explain completes a copy of the error of a strategy, which may be shared. A
// failure that nobody wants to have retried comes back as it is.
func (l *loop) explain(ctx context.Context, err, failure error) error {
	refusal := Error{Reason: err, Attempts: l.attempts}
	if own, ok := err.(*Error); ok { //nolint:errorlint // one that is wrapped is not the strategy's own
		refusal = *own
	}
	if errtree.Is(refusal.Reason, ErrNotRetryable) && failure != nil {
		return bare(failure)
	}
	if refusal.Last == nil {
		refusal.Last = failure
	}
	if ctx.Err() != nil && refusal.Canceled == nil {
		refusal = *refusal.Because(ctx)
	}
	refusal.Elapsed = l.readings.Since(l.start)
	return &refusal
}

// bare takes off what a policy wrapped around an error.
func bare(failure error) error {
	if judged, ok := failure.(*classify.JudgedError); ok && judged.Err != nil { //nolint:errorlint // only the outermost
		return judged.Err
	}
	return failure
}

// Option changes how Do runs one operation.
type Option interface{ apply(o *options) }

type options struct {
	maxElapsed     time.Duration
	attemptTimeout time.Duration
	policy         any // a Policy[T], or nil
	maxAttempts    int
	classifier     classify.Classifier
	added          *classify.Additions // to classifier, or to what it leaves in place
	scope          string
}

// change sets in op what the options say.
func (o *options) change(op *Operation) {
	if o.maxAttempts != 0 {
		op.MaxAttempts = o.maxAttempts
	}
	if o.classifier != nil {
		op.Classifier = o.classifier
	}
	if o.added != nil {
		op.Classifier = o.added.On(op.Classifier)
	}
	if o.scope != "" {
		op.Scope = o.scope
	}
	if o.maxElapsed > 0 {
		op.MaxElapsed = o.maxElapsed
	}
}

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// collect is a function of its own so that a Do without options does not pay for
// the variable that they need.
func collect(opts []Option) options {
	var o options
	for _, option := range opts {
		if option != nil {
			option.apply(&o)
		}
	}
	return o
}

// WithMaxElapsed sets Operation.MaxElapsed, unless d is zero or negative.
func WithMaxElapsed(d time.Duration) Option {
	return optionFunc(func(o *options) { o.maxElapsed = d })
}

// WithAttemptTimeout ends the context of an attempt d after it began, on the
// strategy's clock. If the attempt then returns an error, that is an
// *AttemptTimeoutError, which is retryable, unlike the end of the caller's own
// context. Zero or negative means no such limit.
func WithAttemptTimeout(d time.Duration) Option {
	return optionFunc(func(o *options) { o.attemptTimeout = d })
}

// WithMaxAttempts sets Operation.MaxAttempts, unless n is zero.
func WithMaxAttempts(n int) Option {
	return optionFunc(func(o *options) { o.maxAttempts = n })
}

// WithoutRetry allows one attempt only.
func WithoutRetry() Option { return WithMaxAttempts(1) }

// WithClassifier sets Operation.Classifier, unless c is nil: it replaces all
// classifiers of the strategy, those of the default chain included, and what
// options before this one added. Several become one with classify.NewChain, which
// without arguments means that nothing is retried.
func WithClassifier(c classify.Classifier) Option {
	return optionFunc(func(o *options) {
		if c != nil {
			o.classifier, o.added = c, nil
		}
	})
}

// WithAddedClassifiers runs the classifiers besides those that the operation has
// otherwise, all of them in the order of their priorities; of equal ones those of the
// strategy come first. Nil ones are left out.
func WithAddedClassifiers(classifiers ...classify.Classifier) Option {
	added := classify.Add(classifiers...)
	return optionFunc(func(o *options) {
		if o.added == nil {
			o.added = added
		} else {
			o.added = o.added.With(added)
		}
	})
}

// WithScope sets Operation.Scope, unless name is empty.
func WithScope(name string) Option {
	return optionFunc(func(o *options) { o.scope = name })
}

// WithPolicy lets the policy judge what attempts return. Its T must be that of
// Do. Nil means no policy.
func WithPolicy[T any](policy Policy[T]) Option {
	return optionFunc(func(o *options) {
		o.policy = nil
		if policy != nil {
			o.policy = policy
		}
	})
}

func policyOf[T any](o options) (Policy[T], error) {
	if o.policy == nil {
		return nil, nil
	}
	policy, ok := o.policy.(Policy[T])
	if !ok {
		return nil, fmt.Errorf("retry: a policy of type %T does not fit an operation with %T", o.policy, policy)
	}
	return policy, nil
}
