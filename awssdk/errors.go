package awssdk

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdklimit "github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go/middleware"

	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/retry"
)

// answer is an error as the SDK gives it, with another one inside that errors.Is and errors.As find. Its types, and what
// errors.Unwrap leads to, are the SDK's.
type answer struct {
	error
	inside error
	text   string
}

func (a *answer) Error() string        { return a.text }
func (a *answer) Unwrap() error        { return a.error }
func (a *answer) Is(target error) bool { return wire.Is(a.inside, target) }
func (a *answer) As(target any) bool   { return errors.As(a.inside, target) }

// with returns err with another error inside that the text names too.
func with(err, inside error) error {
	if inside == nil || wire.Is(err, inside) {
		return err
	}
	return &answer{err, inside, wire.Text(err) + ": " + wire.Text(inside)}
}

// inResponse returns err with a refusal inside and more text. Programs look at the type of what a response made, so the refusal is
// inside of that too.
func inResponse(err error, refusal *retry.Error, more string) error {
	of, ok := err.(*awshttp.ResponseError) //nolint:errorlint // the outermost
	if !ok || of.ResponseError == nil || of.Err == nil {
		return &answer{err, refusal, wire.Text(err) + more}
	}
	response := *of.ResponseError
	response.Err = &answer{of.Err, refusal, wire.Text(of.Err) + more}
	return &awshttp.ResponseError{ResponseError: &response, RequestID: of.RequestID}
}

// answerTo returns the error of a call whose loop has ended with err, as the SDK gives it. It adds why the strategy has given
// up, and what the service said before the caller's context ended.
func (c *call) answerTo(err error) error {
	refusal := c.refusalOf(c.ctx, c.refusal)
	switch {
	case err == nil:
		return nil
	case c.denied != nil:
		return with(err, c.denied)
	case c.phase == granted && c.ctx.Err() == nil: // no attempt came of the retry that was granted
		return with(err, c.last.error)
	case c.phase == granted:
		if refusal = c.refusalOf(c.ctx, c.wait(c.ctx)); refusal != nil {
			return c.canceled(err, refusal, true)
		}
	case c.phase == idle && c.retryer != nil && c.Err() != nil: // before the first attempt
		refusal = (&retry.Error{Reason: retry.ErrCanceled}).Complete(c, 0)
	}
	most, used := err.(*sdkretry.MaxAttemptsError) //nolint:errorlint // the loop's own
	switch {
	case refusal == nil:
		return err
	case used:
		return usedUp(most.Attempt, unwrapped(most.Err), refusal)
	case isReason(refusal, retry.ErrAttemptsExhausted) && c.last != nil && c.hasTold(err):
		return usedUp(refusal.Attempts, c.last.error, refusal)
	case isReason(refusal, retry.ErrCanceled), isReason(refusal, retry.ErrDeadline):
		return c.canceled(err, refusal, false)
	default:
		return err
	}
}

// usedUp returns the error of the SDK for attempts that are used up, whether the loop or the strategy has found that.
func usedUp(attempts int, err error, refusal *retry.Error) error {
	return &sdkretry.MaxAttemptsError{Attempt: attempts, Err: inResponse(err, refusal, "")}
}

// canceled returns the error of a call whose context has ended, or whose deadline leaves no room for a wait. Where the SDK
// would have slept, its error says only how the context ended. A retry that was due has not been made.
func (c *call) canceled(err error, refusal *retry.Error, due bool) error {
	_, slept := err.(*aws.RequestCanceledError) //nolint:errorlint // the loop's own
	told := c.hasTold(err)
	switch {
	case due && slept, told && isReason(refusal, retry.ErrDeadline):
		return &aws.RequestCanceledError{Err: &answer{ended(c), refusal, refusal.Error()}}
	case due, c.last == nil: // between attempts, or before the first
		return with(err, refusal)
	case told, c.phase == refused: // explain or held has said it
		return err
	}
	more := ""
	if refusal.Last = c.previous; c.previous != nil { // the last attempt says only that the context has ended
		more = ", after " + wire.Text(c.previous)
	}
	return inResponse(err, refusal, more)
}

// hasTold reports whether err has what the loop was told in place of a retry.
func (c *call) hasTold(err error) bool { return c.told != nil && wire.Is(err, c.told) }

// ended returns the error of a context that has ended, or that ends too early.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.DeadlineExceeded
}

// tellResults puts the errors of a call into the results of its attempts, where the loop has noted them with what they carry
// for the retryer.
func (c *call) tellResults(metadata middleware.Metadata, err error) {
	noted, _ := sdkretry.GetAttemptResults(metadata)
	for i := range noted.Results { // the slice is that of the metadata
		of := &noted.Results[i].Err
		if _, used := (*of).(*sdkretry.MaxAttemptsError); used || c.hasTold(*of) { //nolint:errorlint // the loop's own
			*of = err
		}
		*of = unwrapped(*of)
	}
}

// held returns why an attempt is not made, as the SDK says it of an attempt that got no token of its send rate.
func (c *call) held(ctx context.Context, err error) error {
	const text = "failed to get retry Send token, "
	refusal := c.refusalOf(ctx, err)
	switch {
	case refusal == nil:
		return err
	case isReason(err, retry.ErrCanceled), isReason(err, retry.ErrDeadline):
		return &answer{fmt.Errorf(text+"%w", ended(ctx)), refusal, text + refusal.Error()}
	case isReason(err, retry.ErrSendRateLimited):
		return fmt.Errorf(text+"%w", refusal)
	default:
		return refusal
	}
}

// explain completes the error of a strategy for the loop, which joins it to the error of the last attempt.
func (c *call) explain(ctx context.Context, err error) error {
	refusal := c.refusalOf(ctx, err)
	if refusal == nil {
		return err
	}
	if c.last != nil && wire.Is(refusal.Last, c.last) {
		refusal.Last = nil
	}
	switch {
	case isReason(err, retry.ErrCanceled):
		return &canceledError{&answer{ended(ctx), refusal, "failed to get rate limit token, " + refusal.Error()}}
	case isReason(err, retry.ErrDeadline):
		return &aws.RequestCanceledError{Err: refusal}
	case isReason(err, retry.ErrQuotaExhausted):
		return exceeded(refusal)
	default:
		return refusal
	}
}

// canceledError is final to the SDK.
type canceledError struct{ *answer }

func (*canceledError) CanceledError() bool { return true }

// refusalOf returns an error of the strategy with what only the call knows; nil for another error.
func (c *call) refusalOf(ctx context.Context, err error) *retry.Error {
	own, ok := err.(*retry.Error) //nolint:errorlint // one that is wrapped is not the strategy's own
	if !ok {
		return nil
	}
	return own.Complete(ctx, c.strategy.Clock().Now().Sub(c.start))
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
		return wire.Is(refusal.Reason, reason)
	}
	return wire.Is(err, reason)
}
