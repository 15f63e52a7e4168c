package retry

import (
	"fmt"
	"time"

	"github.com/awsretry/awsretry/classify"
)

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
