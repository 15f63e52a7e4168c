package engine

import (
	"context"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/retry"
)

// opinion is what the engine makes of a failure.
type opinion struct {
	failure   error // without a mark that has a reason and is the outermost error
	verdict   classify.Verdict
	throttled bool  // for the limiter of the scope and for together
	rule      error // why there is no retry even if the verdict asks for one; or nil
	gone      error // how the context of the operation has ended; or nil
}

// opinionOn judges a failure. A mark that asks for no retry does not say what happened. So the
// error below the mark is judged where throttles matter, and where the mark forbids a retry with a
// reason, for whether there is a retry that the reason stops.
func (e *Engine) opinionOn(ctx context.Context, r *record, attempt int, failure error) opinion {
	gone := e.gone(ctx)
	verdict := e.judge(&r.op, attempt, failure, gone)
	found := opinion{failure: failure, verdict: verdict, throttled: verdict.Kind() == classify.Throttling, gone: gone}
	if verdict.Retryable() {
		return found
	}
	mark := markOf(failure)
	if mark == nil || mark.Err == nil {
		return found
	}
	ruled := mark.Reason != nil && verdict.Forbids()
	if !ruled && !e.heeds(r) {
		return found
	}
	below := e.judge(&r.op, attempt, mark.Err, gone)
	found.throttled = below.Kind() == classify.Throttling
	if !ruled {
		return found
	}
	if failure == error(mark) { //nolint:errorlint // what is around a mark below it stays
		found.failure = mark.Err
	}
	found.verdict, found.rule = below, mark.Reason
	return found
}

// heeds reports whether it matters if an attempt of an operation was throttled: for the send
// rate, or for an event.
func (e *Engine) heeds(r *record) bool { return r.paced() || e.observed() }

// markOf returns the mark of a failure, which is where Unwrap() error leads to it; nil if
// there is none.
func markOf(failure error) *classify.JudgedError {
	for left := errtree.Max; failure != nil && left > 0; left-- {
		if mark, ok := failure.(*classify.JudgedError); ok && mark != nil { //nolint:errorlint // one error of the walk
			return mark
		}
		failure = errtree.Unwrap(failure)
	}
	return nil
}

// gone returns how the context of an operation has ended; nil if it has not. The deadline counts
// as soon as the time has come: the timers of contexts with one deadline fire one after the other,
// and an attempt may have seen the end on another one.
func (e *Engine) gone(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !e.config.Clock.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// judge returns what the classifiers say of a failure, or the verdict that it carries. gone is how
// the context of the operation has ended, or nil.
func (e *Engine) judge(op *retry.Operation, attempt int, failure, gone error) classify.Verdict {
	if failure == retry.ErrAborted { //nolint:errorlint // the loop's own, never wrapped
		return classify.Forbidden()
	}
	outcome := classify.Outcome{
		Err: failure, Service: e.service(op), Operation: op.Name, Attempt: attempt, CallerGone: gone != nil,
	}
	return outcome.Judge(e.config.Classifier, op.Classifier)
}
