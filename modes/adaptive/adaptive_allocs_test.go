//go:build !race

// The race detector lets pools forget at random, so allocations are counted without.

package adaptive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestOperationAllocatesNothing(t *testing.T) {
	for name, limited := range map[string]bool{"before the first throttle": false, "with a limit": true} {
		t.Run(name, func(t *testing.T) {
			config := adaptive.Config{
				Standard: standard.Config{Clock: new(clock.Fake), Random: func() float64 { return 0 }}, NoSendWait: true,
			}
			if limited {
				config.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 1e5, Burst: 1e5} }
			}
			s, err := adaptive.New(config)
			require.NoError(t, err)
			o := operations{t: t, strategy: s}
			require.Zero(t, testing.AllocsPerRun(1000, func() { o.run(0) }), "success")
			require.Zero(t, testing.AllocsPerRun(1000, func() { o.run(1) }), "success after a retry")
			require.NoError(t, o.err)
			require.Equal(t, limited, s.Snapshot().Scopes[0].Limited)
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

func (o *operations) note(err error) {
	if err != nil {
		o.err = err
	}
}
