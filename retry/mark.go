package retry

import (
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/errtree"
)

// Mark returns err as an error of the given kind that is to be retried, as far as attempts
// and quota allow. The kind decides what the retry costs and how long its backoff is. What
// the classifiers would say of err does not matter; a hint of the server in err does, see
// [classify]. [classify.KindNone] asks for no retry: it makes the error that [Permanent] makes.
// A nil err stays nil.
//
// A mark also counts below an error that wraps it with %w. Of several marks the outermost one
// counts. A mark does not count below [errors.Join], nor in the [*Error] of an inner loop. [Do]
// takes marks off the error that it returns, so that they do not count in a loop around Do. A
// mark that is below an error of another type stays there: [Permanent] then counts in the loop
// around Do too.
func Mark(err error, kind classify.Kind) error {
	switch {
	case err == nil:
		return nil
	case kind == classify.KindNone:
		return Permanent(err)
	}
	return &classify.JudgedError{Verdict: classify.RetryAs(kind), Err: err}
}

// Permanent returns err as an error that must not be retried, whatever the classifiers would
// say of it. A nil err stays nil. The rules of [Mark] hold for it too.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &classify.JudgedError{Verdict: classify.Forbidden(), Err: err}
}

// unmarked takes off the marks that are the outermost errors.
func unmarked(err error) error {
	for range errtree.Max { // a mark may wrap itself
		judged, ok := err.(*classify.JudgedError) //nolint:errorlint // only the outermost
		if !ok || judged == nil || judged.Err == nil {
			break
		}
		err = judged.Err
	}
	return err
}
