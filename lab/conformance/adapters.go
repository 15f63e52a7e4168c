package conformance

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// FromRetryer returns the New of a [Subject] that is an [aws.Retryer] or an [aws.RetryerV2], such as a
// wrapper around one of the SDK. Its operations run in the loop of the SDK that the test is built
// with. The suite tests this loop too: it keeps the attempt limit, reads the server hint and finds the
// clock skew. The loop does not tell a retryer about a long poll.
func FromRetryer(newRetryer func(*Settings) aws.Retryer) func(*Settings) (Do, error) {
	return func(s *Settings) (Do, error) {
		retryer := newRetryer(s)
		if retryer == nil {
			return nil, errors.New("a nil aws.Retryer")
		}
		loop := awsretry.NewAttemptMiddleware(retryer, smithyhttp.RequestCloner)
		return func(ctx context.Context, attempt func(context.Context) error) error {
			request := smithyhttp.NewStackRequest().(*smithyhttp.Request) //nolint:forcetypeassert // as documented
			handler := middleware.FinalizeHandlerFunc(func(ctx context.Context, in middleware.FinalizeInput) (
				out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
			) {
				metadata, err = timed(ctx, attempt)
				return out, metadata, err
			})
			_, _, err := loop.HandleFinalize(&lateContext{Context: ctx}, middleware.FinalizeInput{Request: request}, handler)
			return err
		}, nil
	}
}

// timed makes an attempt and measures the clock skew as a client does.
func timed(ctx context.Context, attempt func(context.Context) error) (middleware.Metadata, error) {
	_, metadata, err := awsmiddleware.RecordResponseTiming{}.HandleDeserialize(ctx, middleware.DeserializeInput{},
		middleware.DeserializeHandlerFunc(func(ctx context.Context, _ middleware.DeserializeInput) (
			out middleware.DeserializeOutput, metadata middleware.Metadata, err error,
		) {
			err = attempt(ctx)
			if response, failed := HTTPResponse(err); failed == nil { //nolint:bodyclose // in memory
				out.RawResponse = &smithyhttp.Response{Response: response}
			}
			return out, metadata, err
		}))
	return metadata, err
}

// lateContext is the context of an operation in a bubble. The adaptive mode of aws-sdk-go-v2 cuts the
// wait for a send token to whole nanoseconds, so it wakes a fraction too early and then sleeps for 0. A
// real timer is late enough to hide that, but the clock of a bubble is exact, so the sleeps would never
// end. Each sleep calls Done: many calls at one instant make time pass.
type lateContext struct {
	context.Context //nolint:containedctx // it is a context

	at    time.Time
	asked int
}

// Done returns the channel of the wrapped context. The loop of one operation runs in one goroutine.
func (c *lateContext) Done() <-chan struct{} {
	if now := time.Now(); !now.Equal(c.at) {
		c.at, c.asked = now, 0
	}
	if c.asked++; c.asked > 1000 {
		_ = clock.System{}.Sleep(c.Context, time.Microsecond) // the caller sees its end next
	}
	return c.Context.Done()
}

// FromStrategy returns the New of a [Subject] that is a [retry.Strategy], of this module or a wrapper
// around one. Its operations run in [retry.DoErr]. The loop reads the server hint and the clock skew, as
// the client of a service does.
func FromStrategy(newStrategy func(*Settings) (retry.Strategy, error)) func(*Settings) (Do, error) {
	return func(s *Settings) (Do, error) {
		strategy, err := newStrategy(s)
		if err == nil {
			err = retry.CheckStrategy(strategy)
		}
		if err != nil {
			return nil, err
		}
		operation := retry.Operation{Service: s.Service(), LongPolling: s.LongPolling()}
		return func(ctx context.Context, attempt func(context.Context) error) error {
			return retry.DoErr(ctx, strategy, operation, func(ctx context.Context) error {
				sent := time.Now()
				return observe(attempt(ctx), sent)
			})
		}, nil
	}
}

// observe adds to an error what a client of a service reads in the response: the server hint and the
// clock skew.
func observe(err error, sent time.Time) error {
	response, _ := HTTPResponse(err) //nolint:bodyclose // in memory
	if err == nil || response == nil {
		return err
	}
	date, _ := http.ParseTime(response.Header.Get("Date"))
	e := observedError{error: err, hint: response.Header.Get("X-Amz-Retry-After")}
	e.skew, e.dated = classify.CandidateSkew(sent, time.Now(), date, response.Header.Get("Age") != "")
	return e
}

// observedError is the error of a response, for the classifiers of this module.
type observedError struct {
	error

	hint  string
	skew  time.Duration
	dated bool
}

func (e observedError) Unwrap() error { return e.error }

func (e observedError) RetryAfter() (time.Duration, bool) {
	return classify.ParseRetryAfterMillis(e.hint)
}

func (e observedError) ClockSkew() (used, observed time.Duration, ok bool) { return 0, e.skew, e.dated }
