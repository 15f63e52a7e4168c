package awssdk

import (
	"context"
	"io"
	"net/http"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/internal/body"
	"github.com/awsretry/awsretry/retry"
)

// WithAttemptTimeout limits the time of each attempt until the headers of its response arrive. It never cuts off the
// reading of a response body, such as that of GetObject. An attempt that takes longer fails with a
// [*retry.AttemptTimeoutError], which is retried as a timeout. The deadline of the call still applies.
//
// The service may have carried out an attempt that was ended.
//
// While a request body is sent, the time starts again with each part. What was sent waits in the kernel,
// where its progress cannot be seen. So a body above 64 KiB also adds its size at 128 KiB a second to the
// time: 40 s for 5 MiB. A body of unknown size, such as that of an event stream, has no timeout. If a Read
// of a request body does not return, the SDK waits for it.
//
// A [retry.TimeoutFunc] chooses by operation. Long polls have no timeout, unless such a function returns one. The timeout
// applies to all clients of the config, including those for its credentials, but not to a client with its own Retryer.
//
// A nil t changes nothing. A t that is out of range is an error, see [retry.CheckTimeout].
func WithAttemptTimeout(t retry.AttemptTimeout) Option {
	return func(o *options) {
		if t != nil {
			o.timeout = t
		}
	}
}

// limitMiddleware is around the exchange of a request and a response. It is the last one of its step, so
// that neither credentials nor signing count, and that it gets the response before its body is read. Where our loop was taken
// out or replaced, the context may have the call around this one, whose limit does not count here.
type limitMiddleware struct{ *calls }

func (limitMiddleware) ID() string { return "awsretry.Limit" }

func (m limitMiddleware) HandleDeserialize(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
	c := callFrom(ctx)
	request, ok := in.Request.(*smithyhttp.Request)
	if !ok || c == nil || c.calls != m.calls || c.gate.Load() != gateOpen || c.timed == nil || c.phase != sent {
		return next.HandleDeserialize(ctx, in)
	}
	op := c.timed.op
	if c.unseekable || c.denied != nil || c.chain.decides {
		op.MaxAttempts = 1 // as far as the timer knows
	}
	ctx, limit, err := retry.LimitAttempt(ctx, c.strategy, op, c.timed.timeout, bodySize(request))
	if limit == nil || err != nil {
		if err == nil {
			out, metadata, err = next.HandleDeserialize(ctx, in)
		}
		return out, metadata, err
	}
	kept := false
	defer func() { // also after a panic
		if !kept {
			limit.Release()
		}
	}()
	if stream := request.GetStream(); stream != nil {
		if watched, err := request.SetStream(body.Sent{Reader: stream, Moved: limit.Progress}); err == nil {
			in.Request = watched
		}
	}
	out, metadata, err = next.HandleDeserialize(ctx, in)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	answered := err == nil && ok && response != nil && response.Response != nil
	inTime := limit.Lift(answered && response.StatusCode < http.StatusBadRequest)
	switch {
	case err != nil || !inTime:
		if late := limit.Late(&smithyhttp.RequestSendError{Err: context.Cause(ctx)}); late != nil {
			// In place of the error of the client, which says that the caller has canceled.
			err = late
		}
		if answered && err != nil && response.Body != nil {
			_ = response.Body.Close()
		}
	case answered && response.Body != nil && response.Body != http.NoBody:
		response.Body, kept = body.Received{ReadCloser: response.Body, Done: limit.Release}, true
	}
	return out, metadata, err
}

// timesOut reports whether attempts of an operation may have a timeout.
func (s *shared) timesOut(op *retry.Operation) bool {
	_, chosen := s.timeout.(retry.TimeoutFunc)
	return s.timeout != nil && (chosen || !op.LongPolling)
}

// bodySize returns the number of bytes in the body of a request, or -1 if it is not known, as for an event stream.
func bodySize(request *smithyhttp.Request) int64 {
	switch request.GetStream().(type) {
	case nil:
		return 0
	case *io.PipeReader:
		return -1
	default:
		return request.ContentLength
	}
}
