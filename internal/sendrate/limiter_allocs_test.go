//go:build !race

// The race detector allocates by itself.

package sendrate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// stridingClock moves on by a millisecond whenever it is read, so that a caller that reads it
// twice a round makes 500 rounds a second.
type stridingClock struct {
	clock.System
	milliseconds atomic.Int64
}

func (c *stridingClock) Now() time.Time {
	return at(0).Add(time.Duration(c.milliseconds.Add(1)) * time.Millisecond)
}

// flowing returns a limiter that was throttled and has since climbed to about twice the rate of
// a caller that reads the clock twice a round.
func flowing(controller ratelimit.Controller) *sendrate.Limiter {
	clk := new(stridingClock)
	limiter := sendrate.NewLimiter(sendrate.Config{Controller: controller}, clk)
	limiter.Report(ratelimit.Response{Throttled: true})
	for range 60_000 {
		limiter.Report(ratelimit.Response{})
	}
	return limiter
}

func free() *sendrate.Limiter {
	return sendrate.NewLimiter(sendrate.Config{}, clock.System{})
}

// send is one round. It fails where a caller would have to wait.
func send(ctx context.Context, limiter *sendrate.Limiter) error {
	sent, err := limiter.Acquire(ctx, ratelimit.Request{NoWait: true})
	limiter.Report(ratelimit.Response{Sent: sent})
	return err
}

func TestLimiterAllocatesNothingUnlessACallerWaits(t *testing.T) {
	for name, limiter := range map[string]*sendrate.Limiter{
		"free": free(), "in doubt": flowing(ratelimit.FindLimit), "cut per throttle": flowing(ratelimit.CutPerThrottle),
	} {
		t.Run(name, func(t *testing.T) {
			var failed error
			allocations := testing.AllocsPerRun(2000, func() {
				if err := send(t.Context(), limiter); err != nil {
					failed = err
				}
			})
			require.NoError(t, failed)
			require.Zero(t, allocations)
		})
	}
}
