package retry

import (
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

// Mark returns err as an error of the given kind that is retried as far as attempts and quota
// allow. The kind decides the cost of the retry and its backoff. The classifiers are not asked,
// but a hint of the server in err counts, see [classify]. [classify.KindNone] asks for no
// retry, as [Permanent] does. A nil err stays nil.
//
// A mark also counts inside an error that wraps it with %w. Of several marks the outermost one
// counts. A mark does not count inside [errors.Join], or in the [*Error] of an inner loop. [Do]
// removes marks from the error that it returns, so that they do not count in a loop around Do.
// It keeps a mark inside an error of another type: [Permanent] then counts in the loop around
// Do too.
func Mark(err error, kind classify.Kind) error {
	switch {
	case err == nil:
		return nil
	case kind == classify.KindNone:
		return Permanent(err)
	}
	return &classify.JudgedError{Verdict: classify.RetryAs(kind), Err: err}
}

// Permanent returns err as an error that must not be retried, whatever the classifiers say.
// A nil err stays nil. The rules of [Mark] apply to it too.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &classify.JudgedError{Verdict: classify.Forbidden(), Err: err}
}

// unmarked removes the outermost marks.
func unmarked(err error) error {
	for range wire.MaxErrors { // a mark may wrap itself
		judged, ok := err.(*classify.JudgedError) //nolint:errorlint // only the outermost
		if !ok || judged == nil || judged.Err == nil {
			break
		}
		err = judged.Err
	}
	return err
}
