package retry

import "github.com/awsretry/awsretry/classify"

// Mark returns err as an error of the given kind that is to be retried, as far as attempts
// and quota allow. The kind decides what the retry costs and how long its backoff is. What
// the classifiers would say of err does not matter; a hint of the server in err does, see
// [classify]. A nil err stays nil.
//
// A mark counts for the innermost loop that sees it, also below an error that wraps it with
// %w. It does not count below [errors.Join], nor in the [*Error] of an inner loop. [Do] returns
// err without its mark.
func Mark(err error, kind classify.Kind) error {
	if err == nil {
		return nil
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

// unmarked takes the mark off an error that is the mark itself.
func unmarked(err error) error {
	if judged, ok := err.(*classify.JudgedError); ok && judged.Err != nil { //nolint:errorlint // only the outermost
		return judged.Err
	}
	return err
}
