package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// plain is a clock that has only what Clock asks for.
type plain struct{ clock.Clock }

func TestWithTimeoutFollowsTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name string
			clk  clock.Clock
			want error
		}{
			{"system", clock.System{}, context.DeadlineExceeded},
			{"fake", &clock.Fake{}, context.DeadlineExceeded},
			{"any other", plain{clock.System{}}, context.Canceled},
		} {
			pass := func(d time.Duration) {
				if fake, ok := c.clk.(*clock.Fake); ok {
					fake.Advance(d)
				} else {
					require.NoError(t, clock.System{}.Sleep(t.Context(), d))
				}
				synctest.Wait()
			}
			ctx, cancel := clock.WithTimeout(t.Context(), c.clk, time.Minute)
			pass(time.Minute - 1)
			require.NoError(t, ctx.Err(), c.name)
			pass(1)
			require.Equal(t, c.want, ctx.Err(), c.name)
			require.Equal(t, context.DeadlineExceeded, context.Cause(ctx), c.name)
			cancel()

			ctx, cancel = clock.WithTimeout(t.Context(), c.clk, time.Minute)
			cancel()
			require.Equal(t, context.Canceled, ctx.Err(), c.name)
			require.Equal(t, context.Canceled, context.Cause(ctx), c.name)
		}
	})
}
