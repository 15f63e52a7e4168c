package classify

// All returns the chain of [Default] with one more classifier, "all": an error that no other one
// knows is retried as [Transient]. So every error is retried, with these exceptions: one of [JudgedError]
// that forbids it, as that of retry.Permanent does; one that says itself that the request must not be
// sent again, see [Traits]; and any error once the context of the operation has ended.
func All() *Chain { return NewChain(Default(), all{}) }

type all struct{}

func (all) Name() string { return "all" }

func (all) Classify(o Outcome) Verdict {
	if o.CallerGone || o.Previous.Retryable() {
		return Verdict{}
	}
	return RetryAs(Transient)
}

// Func returns a function as a classifier, "func". An error for which it returns true is retried: as
// a throttle or a timeout if the error shows that it is one, as the classifiers before have said, and
// otherwise as [Transient]. For any other error it forbids the retry. The function must be safe for
// concurrent use.
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
	case said.has(throttled), said.status == 429, kindOfCode(said.code) == Throttling:
		return RetryAs(Throttling)
	case said.has(timedOut):
		return RetryAs(Timeout)
	default:
		return RetryAs(Transient)
	}
}
