//go:build !race

package effect

import (
	"context"
	"testing"
	"time"
	_ "unsafe" // for the linkname below

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretryer "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/command/sim"
)

// sleepWithContext is what aws-sdk-go-v2 sleeps with, a variable for its own tests.
//
//go:linkname sleepWithContext github.com/aws/aws-sdk-go-v2/internal/sdk.SleepWithContext
var sleepWithContext func(context.Context, time.Duration) error

// floor is the shortest sleep of aws-sdk-go-v2 here. It cuts the wait for a send
// token to whole nanoseconds, so that it wakes a fraction of one too early; on a
// clock that fires exactly it would then sleep for 0, for ever. A real timer is
// late enough to hide that.
const floor = time.Microsecond

func TestMain(m *testing.M) {
	if sleepWithContext == nil {
		panic("aws-sdk-go-v2 has no such variable any more: its runs would not end")
	}
	sleepWithContext = func(ctx context.Context, d time.Duration) error {
		err := clock.System{}.Sleep(ctx, max(d, floor))
		if w, ok := ctx.Value(waitsKey{}).(*waits); ok {
			w.wakeUps.Add(1)
		}
		return err
	}
	m.Run()
}

// waitsKey marks the context of a wait for a send token, which is counted.
type waitsKey struct{}

func sdkAdaptive(_ *testing.T, w *waits, _ uint64) sim.Client {
	return newSDK(counting{awsretryer.NewAdaptiveMode(), w})
}

func sdkStandard(*testing.T, *waits, uint64) sim.Client { return newSDK(awsretryer.NewStandard()) }

// sdk is the SDK's own loop. A client has one retryer for all tables.
type sdk struct{ loop *awsretryer.Attempt }

func newSDK(retryer aws.RetryerV2) sdk {
	return sdk{awsretryer.NewAttemptMiddleware(retryer, func(request any) any { return request })}
}

func (s sdk) Do(ctx context.Context, _ string, attempt func(context.Context) error) error {
	_, _, err := s.loop.HandleFinalize(ctx, middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(
		func(ctx context.Context, _ middleware.FinalizeInput) (out middleware.FinalizeOutput, m middleware.Metadata, err error) {
			return out, m, attempt(ctx)
		}))
	return err
}

// counting counts the waits of a retryer for send tokens.
type counting struct {
	aws.RetryerV2
	waits *waits
}

func (c counting) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	asked := time.Now()
	release, err := c.RetryerV2.GetAttemptToken(context.WithValue(ctx, waitsKey{}, c.waits))
	if time.Since(asked) > 0 {
		c.waits.delayed.Add(1)
	}
	return release, err
}
