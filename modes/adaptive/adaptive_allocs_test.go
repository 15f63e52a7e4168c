//go:build !race

// The race detector lets pools forget at random, so allocations are counted without.

package adaptive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestOperationAllocatesNothing(t *testing.T) {
	for name, throttled := range map[string]bool{"before the first throttle": false, "after a throttle": true} {
		t.Run(name, func(t *testing.T) {
			clk := new(clock.Fake)
			s, err := adaptive.New(adaptive.Config{
				Standard:   standard.Config{Clock: clk, Random: func() float64 { return 0 }},
				NoSendWait: true,
			})
			require.NoError(t, err)
			o := operations{t: t, strategy: s}
			if throttled {
				o.throttle(clk)
			}
			require.Zero(t, testing.AllocsPerRun(1000, func() { o.run(0) }), "success")
			require.Zero(t, testing.AllocsPerRun(1000, func() { o.run(1) }), "success after a retry")
			require.NoError(t, o.err)
			limited := s.Snapshot().Scopes[0].Limited
			require.Equal(t, throttled, limited)
		})
	}
}

// operations runs operations and remembers what went wrong.
type operations struct {
	t        *testing.T
	strategy retry.Strategy
	err      error
}

// run makes an operation with so many retries.
func (o *operations) run(retries int) {
	ctx := o.t.Context()
	token, err := o.strategy.AcquireInitialToken(ctx, retry.Operation{})
	o.note(err)
	o.note(token.Wait(ctx))
	for range retries {
		token, err = o.strategy.RefreshRetryToken(ctx, token, errServer)
		o.note(err)
		o.note(token.Wait(ctx))
	}
	o.note(o.strategy.RecordSuccess(token, retry.Result{}))
}

// throttle ends ten seconds of a high rate with a throttle and lets the bucket fill, so that no
// attempt has to wait afterwards.
func (o *operations) throttle(clk *clock.Fake) {
	ctx := o.t.Context()
	for range 20 {
		for range 5000 {
			o.run(0)
		}
		clk.Advance(500 * time.Millisecond)
	}
	token, err := o.strategy.AcquireInitialToken(ctx, retry.Operation{})
	o.note(err)
	o.note(token.Wait(ctx))
	o.note(o.strategy.RecordFailure(token, errThrottle))
	clk.Advance(time.Second)
}

func (o *operations) note(err error) {
	if err != nil {
		o.err = err
	}
}
