package httpretry

import (
	"context"
	"net"
	"net/http"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/retry"
)

// guard is the strategy of a call as Do sees it: it asks for a retry only of what may be
// sent again, and frees the connection before the backoff.
type guard struct {
	retry.Strategy
	call *call
}

func (g guard) RefreshRetryToken(ctx context.Context, t retry.Token, failure error) (retry.Token, error) {
	c := g.call
	defer c.lease.disarm()
	if !c.mayRepeat(failure) {
		return g.final(t, failure)
	}
	next, err := g.Strategy.RefreshRetryToken(ctx, t, failure)
	if err != nil {
		return next, err
	}
	if !c.body.again() {
		// The base began to read the body after the response was there.
		_ = g.RecordFailure(next, failure)
		return g.final(t, failure)
	}
	if c.response != nil {
		hold(c.response)
	}
	return next, nil
}

// final refuses a retry without asking the strategy, which hears of the attempt by
// RecordFailure, as of any other that is not retried.
func (guard) final(t retry.Token, failure error) (retry.Token, error) {
	return retry.Token{}, &retry.Error{Reason: retry.ErrNotRetryable, Attempts: t.Attempt(), Last: failure}
}

// mayRepeat reports whether the request may be sent again after the failure: a verdict that
// the failure carries may ask for it.
func (c *call) mayRepeat(failure error) bool {
	if !c.body.replayable() {
		return false
	}
	asked := classify.Outcome{Err: failure}.Judge(nil, nil).Retryable()
	return asked || c.config.idempotent(c.request) || unprocessed(failure)
}

// unprocessed reports whether the failure says that the request was not executed:
// there was no connection, or the server refused for now.
func unprocessed(failure error) bool {
	if op, ok := errtree.As[*net.OpError](failure); ok {
		switch op.Op {
		case "dial", "proxyconnect", "socks connect": // the latter two are net/http's
			return true
		}
	}
	if _, ok := errtree.As[*net.DNSError](failure); ok {
		return true
	}
	answer, ok := errtree.As[*ResponseError](failure)
	if !ok {
		return false
	}
	if _, hinted := answer.RetryAfter(); hinted && answer.Status == http.StatusServiceUnavailable {
		return true
	}
	return classify.Default().Classify(classify.Outcome{Err: answer}).Kind() == classify.Throttling
}
