package sdktest

import (
	"context"
	"time"

	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
)

// exactAdaptive is the adaptive mode of the SDK on a clock that fires exactly. The SDK cuts the wait for a send token to
// whole nanoseconds, wakes a fraction of one too early, and would then sleep for 0, for ever. Here no sleep is shorter
// than a microsecond.
type exactAdaptive struct{ *sdkretry.AdaptiveMode }

func (r exactAdaptive) GetAttemptToken(ctx context.Context) (release func(error) error, _ error) {
	return r.AdaptiveMode.GetAttemptToken(lateDone{ctx})
}

// lateDone is looked at between the start of a timer and the wait for it.
type lateDone struct{ context.Context } //nolint:containedctx // it is a context

func (c lateDone) Done() <-chan struct{} {
	pause(time.Microsecond)
	return c.Context.Done()
}
