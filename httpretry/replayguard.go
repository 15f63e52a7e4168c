package httpretry

import (
	"context"
	"errors"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// replayGuard is the strategy that Do gets: it forbids the retry of a request that must not or
// cannot be sent again, and frees the connection before the backoff.
type replayGuard struct {
	retry.Strategy
	call *call
}

func (g replayGuard) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	c := g.call
	defer c.timer.limit.Lift(false)
	judged, rule := failure, c.rule(failure)
	if rule != nil {
		judged = &classify.JudgedError{Verdict: classify.Forbidden(), Err: failure, Reason: rule}
	}
	next, err := g.Strategy.RefreshRetryToken(ctx, t, judged)
	if err != nil {
		return next, err
	}
	if rule == nil && !c.body.again() {
		rule = c.notAgain("its body was read after the response had come") // while the strategy decided
	}
	if rule != nil { // the rule came too late, or the user's wrapper did not pass it on
		_ = g.RecordFailure(next, failure)
		return retry.Token{}, &retry.Error{Reason: retry.ErrNotRetryable, Detail: rule, Attempts: t.Attempt(), Last: failure}
	}
	if c.response != nil {
		c.hold(c.response)
	}
	return next, nil
}

// rule returns why the request must not be sent again after the failure, even if the
// strategy allows it; nil if it may.
func (c *call) rule(failure error) error {
	carried := classify.Outcome{Err: failure}.Judge(nil, nil) // by a mark of the policy
	switch {
	case carried.Forbids():
		return nil // there is no retry to stop
	case !c.body.replayable():
		return c.notAgain("its body was read and the request has no GetBody")
	case carried.Retryable(), c.config.idempotent(c.request), c.unsent(),
		classify.Unprocessed(failure, classify.Default().Classify(classify.Outcome{Err: failure})):
		return nil
	default:
		return c.notAgain("it may have been executed and is not idempotent")
	}
}

func (c *call) notAgain(why string) error {
	return errors.New("httpretry: " + methodOf(c.request) + " is not sent again: " + why)
}
