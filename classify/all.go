package classify

// All returns the chain of [Default] with one more classifier, "all", which retries an error that no
// other one knows as [Transient]. So every error is retried, except a [JudgedError] that forbids it,
// such as that of retry.Permanent; an error that says that the request must not be sent again, see
// [Traits]; and any error once the context of the operation has ended.
func All() *Chain { return NewChain(Default(), all{}) }

type all struct{}

func (all) Name() string { return "all" }

func (all) Classify(o Outcome) Verdict {
	if o.CallerGone || o.Previous.Retryable() {
		return Verdict{}
	}
	return RetryAs(Transient)
}

// Func returns a function as a classifier, "func". If the function returns true, the error is
// retried: as earlier classifiers said, else as a throttle or a timeout if the error shows that it is
// one, else as [Transient]. If it returns false, the retry is forbidden. The function must be safe
// for concurrent use.
func Func(retryable func(err error) bool) Classifier { return function(retryable) }

type function func(err error) bool

func (function) Name() string { return "func" }

func (f function) Classify(o Outcome) Verdict {
	if !f(o.Err) {
		return Forbidden()
	}
	if o.Previous.Retryable() {
		return Verdict{}
	}
	said := facts{gone: o.CallerGone}
	said.read(o.Err)
	switch {
	case said.has(throttled), said.status == 429, kindOfCode(said.code) == Throttling, said.throttles(&o):
		return RetryAs(Throttling)
	case said.has(timedOut):
		return RetryAs(Timeout)
	default:
		return RetryAs(Transient)
	}
}
