package awssdk

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdklimit "github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/awsretry/awsretry/internal/errtree"
	"github.com/awsretry/awsretry/retry"
)

// answer is an error as the SDK gives it, with another one inside that errors.Is and errors.As find. Its types, and what
// errors.Unwrap leads to, are the SDK's.
type answer struct {
	error
	inside error
	text   string // empty for the text of the SDK
}

func (a *answer) Unwrap() error        { return a.error }
func (a *answer) Is(target error) bool { return errtree.Is(a.inside, target) }
func (a *answer) As(target any) bool   { return errors.As(a.inside, target) }

func (a *answer) Error() string {
	if a.text != "" {
		return a.text
	}
	return a.error.Error()
}

// with returns err with another error inside that the text names too.
func with(err, inside error) error {
	if inside == nil || errtree.Is(err, inside) {
		return err
	}
	return &answer{err, inside, errtree.Text(err) + ": " + errtree.Text(inside)}
}

// answerTo returns the error of a call whose loop has ended with err, as the SDK gives it. It adds why the strategy has given
// up, and what the service said before the caller's context ended.
func (c *call) answerTo(err error) error {
	refusal, ours := c.complete(c.ctx, c.refusal).(*retry.Error) //nolint:errorlint // one that is wrapped is not the strategy's own
	switch {
	case err == nil:
		return nil
	case c.denied != nil:
		return with(err, c.denied)
	case c.phase == granted && c.ctx.Err() == nil: // no attempt came of the retry that was granted
		return with(err, c.last.error)
	case c.phase == granted:
		if refusal, ours = c.complete(c.ctx, c.wait(c.ctx)).(*retry.Error); ours { //nolint:errorlint // as above
			return c.canceled(err, refusal, true)
		}
	case c.phase == idle && c.retryer != nil && c.Err() != nil: // before the first attempt
		refusal, ours = (&retry.Error{Reason: retry.ErrCanceled}).Because(c), true
	}
	switch {
	case !ours:
		return err
	case isReason(refusal, retry.ErrAttemptsExhausted):
		return c.exhausted(err, refusal)
	case isReason(refusal, retry.ErrCanceled), isReason(refusal, retry.ErrDeadline):
		return c.canceled(err, refusal, false)
	default:
		return err
	}
}

// exhausted returns the error of a call whose attempts are used up: that of the SDK, also if the strategy has refused the retry
// and not the loop.
func (c *call) exhausted(err error, refusal *retry.Error) error {
	most, used := err.(*sdkretry.MaxAttemptsError) //nolint:errorlint // the loop's own
	switch {
	case c.last == nil || !used && !c.hasTold(err): // a retryer around ours need not have asked for a retry
		return err
	case !used:
		most = &sdkretry.MaxAttemptsError{Attempt: refusal.Attempts, Err: c.last.error}
	}
	return &sdkretry.MaxAttemptsError{Attempt: most.Attempt, Err: &answer{error: unwrapped(most.Err), inside: refusal}}
}

// canceled returns the error of a call whose context has ended, or whose deadline leaves no room for a wait. Where the SDK
// would have slept, its error says only how the context ended. A retry that was due has not been made.
func (c *call) canceled(err error, refusal *retry.Error, due bool) error {
	_, slept := err.(*aws.RequestCanceledError) //nolint:errorlint // the loop's own
	switch {
	case due && slept, c.hasTold(err):
		return &aws.RequestCanceledError{Err: &answer{ended(c), refusal, refusal.Error()}}
	case due, c.last == nil: // between attempts, or before the first
		return with(err, refusal)
	case c.phase == refused: // held has said it
		return err
	}
	text := ""
	if refusal.Last = c.previous; c.previous != nil { // the last attempt says only that the context has ended
		text = ", after " + errtree.Text(c.previous)
	}
	if canceled, ok := errtree.As[*smithy.CanceledError](err); ok && canceled.Err != nil { // of this attempt alone
		canceled.Err = &answer{canceled.Err, refusal, errtree.Text(canceled.Err) + text}
		return err
	}
	return &answer{err, refusal, errtree.Text(err) + text}
}

// hasTold reports whether err has what the loop was told in place of a retry.
func (c *call) hasTold(err error) bool { return c.told != nil && errtree.Is(err, c.told) }

// ended returns the error of a context that has ended, or that ends too early.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.DeadlineExceeded
}

// tellResults puts the errors of a call into the results of its attempts, which the loop has noted with what it carries for
// the retryer.
func tellResults(metadata middleware.Metadata, err error) {
	noted, _ := sdkretry.GetAttemptResults(metadata)
	for i := range noted.Results { // the slice is that of the metadata
		noted.Results[i].Err = unwrapped(noted.Results[i].Err)
	}
	if n := len(noted.Results); n > 0 && err != nil {
		noted.Results[n-1].Err = err
	}
}

// held returns why an attempt is not made, as the SDK says it of an attempt that got no token of its send rate.
func (c *call) held(ctx context.Context, err error) error {
	refusal, ok := c.complete(ctx, err).(*retry.Error) //nolint:errorlint // as in complete
	if !ok || !isReason(err, retry.ErrCanceled) && !isReason(err, retry.ErrDeadline) {
		return c.explain(ctx, err)
	}
	const text = "failed to get retry Send token"
	return &answer{fmt.Errorf(text+", %w", ended(ctx)), refusal, text + ", " + refusal.Error()}
}

// explain completes the error of a strategy for the loop, which joins it to the error of the last attempt.
func (c *call) explain(ctx context.Context, err error) error {
	refusal, ok := c.complete(ctx, err).(*retry.Error) //nolint:errorlint // as in complete
	if !ok {
		return err
	}
	if c.phase != refused && c.last != nil && errtree.Is(refusal.Last, c.last) {
		refusal.Last = nil
	}
	switch {
	case isReason(err, retry.ErrCanceled), isReason(err, retry.ErrDeadline):
		return &aws.RequestCanceledError{Err: refusal}
	case isReason(err, retry.ErrQuotaExhausted):
		return exceeded(refusal)
	default:
		return refusal
	}
}

// complete returns a copy of the error of a strategy with what only the call knows.
func (c *call) complete(ctx context.Context, err error) error {
	own, ok := err.(*retry.Error) //nolint:errorlint // one that is wrapped is not the strategy's own
	if !ok {
		return err
	}
	refusal := *own
	refusal.Elapsed = c.strategy.Clock().Now().Sub(c.start)
	return refusal.Because(ctx)
}

// quotaError is the refusal of a strategy whose quota is empty, and what the SDK says then.
type quotaError struct {
	refusal *retry.Error
	sdks    sdklimit.QuotaExceededError
}

func exceeded(refusal *retry.Error) error {
	available, needed := uint(max(refusal.Available, 0)), uint(max(refusal.Needed, 0)) //nolint:gosec // not negative
	return &quotaError{refusal, sdklimit.QuotaExceededError{Available: available, Requested: needed}}
}

func (e *quotaError) Error() string {
	return fmt.Sprintf("failed to get rate limit token, %v: %v", e.sdks, e.refusal)
}

func (e *quotaError) Unwrap() []error { return []error{e.sdks, e.refusal} }

// isReason reports whether err is the refusal of a strategy for that reason. The error of the
// service, which a refusal holds too, does not matter.
func isReason(err, reason error) bool {
	if refusal, ok := err.(*retry.Error); ok { //nolint:errorlint // one that is wrapped is the service's
		return errtree.Is(refusal.Reason, reason)
	}
	return errtree.Is(err, reason)
}
