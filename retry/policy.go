package retry

import "github.com/awsretry/awsretry/classify"

// Policy judges what an attempt returned, value and error, and says how the
// operation goes on. It must be safe for concurrent use if it is used so. The
// values T of a waiter can be retried this way, and errors can count as success.
type Policy[T any] func(value T, err error) Directive

// Directive is what a Policy wants. The zero value leaves it to the strategy: no
// error is success, and an error is classified.
type Directive struct {
	do      directive
	verdict classify.Verdict
}

type directive uint8

const (
	leaveIt directive = iota
	succeed
	fail
	again
)

// Default leaves it to the strategy.
func Default() Directive { return Directive{} }

// Succeed ends the operation as a success: the value is returned, without an
// error.
func Succeed() Directive { return Directive{do: succeed} }

// Fail ends the operation as a failure: value and error are returned as they
// are, ErrRejected taking the place of an error that is nil.
func Fail() Directive { return Directive{do: fail} }

// Again asks for another attempt, as far as attempts and quota allow. The kind
// decides what the retry costs and how long its delay is. What the classifiers
// would have said does not matter.
func Again(kind classify.Kind) Directive {
	return Directive{do: again, verdict: classify.RetryAs(kind)}
}

// judge turns what an attempt returned into the failure that the strategy is to
// hear of; nil means success.
func (d Directive) judge(err error) (failure error, final bool) {
	switch d.do {
	case succeed:
		return nil, true
	case fail:
		if err == nil {
			err = ErrRejected
		}
		return err, true
	case again:
		return &classify.JudgedError{Verdict: d.verdict, Err: err}, false
	case leaveIt:
		return err, err == nil
	default:
		return err, err == nil
	}
}
