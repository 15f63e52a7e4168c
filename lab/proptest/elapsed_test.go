package proptest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var errBroken = errors.New("broken")

// TestTimeOfAnOperationIsThatOfItsAttemptsAndWaits plays operations with random failures, limits and
// callers that go away. Each has one end, which is its last event, and whose times add up.
func TestTimeOfAnOperationIsThatOfItsAttemptsAndWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clk := &clock.Fake{}
		var events []retry.Event
		config := adaptive.Config{Standard: standard.Config{
			Clock: clk, Random: func() float64 { return 0.5 },
			MaxAttempts:  drawInt(t, 1, 6, "max attempts"),
			QuotaInitial: new(drawInt(t, 0, 60, "quota")),
			MaxQuotaWait: time.Duration(drawInt(t, 0, 3, "quota wait")) * time.Second,
			QuotaRefill:  20,
			MaxElapsed:   time.Duration(drawInt(t, 0, 20, "max elapsed")) * time.Second,
			Observer:     retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) }),
		}}
		var s retry.Strategy
		var err error
		if drawBool(t, "adaptive") {
			s, err = adaptive.New(config)
		} else {
			s, err = standard.New(config.Standard)
		}
		require.NoError(t, err)
		failures := []error{nil, nil, retry.Mark(errBroken, classify.Transient), retry.Mark(errBroken, classify.Throttling), errBroken, retry.Permanent(errBroken)}
		for range drawInt(t, 1, 10, "operations") {
			events = nil
			ctx, cancel := context.WithCancel(context.Background())
			leaves := drawInt(t, 0, 20, "attempt in which the caller leaves")
			op := retry.Operation{Resource: "orders", LongPolling: drawBool(t, "long poll")}
			made, spent, start := 0, time.Duration(0), clk.Now()
			clk.Run(func() {
				err = retry.DoErr(ctx, s, op, func(context.Context) error {
					d := time.Duration(drawInt(t, 0, 3000, "takes")) * time.Millisecond
					clk.Advance(d)
					made, spent = made+1, spent+d
					if made == leaves {
						cancel()
					}
					return drawFrom(t, "failure", failures...)
				})
			})
			cancel()
			last := events[len(events)-1]
			require.Equal(t, retry.OperationEnded, last.Kind)
			require.Equal(t, err == nil, last.Reason == nil)
			if refusal, ok := errors.AsType[*retry.Error](err); ok {
				require.ErrorIs(t, last.Reason, refusal.Reason)
				require.Equal(t, refusal.Elapsed, last.Elapsed)
			}
			require.Equal(t, made, last.Attempt)
			require.Equal(t, clk.Now().Sub(start), last.Elapsed)
			require.Equal(t, last.Elapsed, spent+last.BackoffWait+last.QuotaWait+last.SendWait)
			attempts, send := time.Duration(0), time.Duration(0)
			for i, e := range events {
				require.Equal(t, last.OperationID, e.OperationID)
				require.Equal(t, e.Kind == retry.OperationEnded, i == len(events)-1)
				switch e.Kind {
				case retry.AttemptEnded:
					attempts += e.Elapsed
				case retry.SendWaitEnded:
					send += e.Delay
				default:
				}
			}
			require.Equal(t, spent, attempts)
			require.Equal(t, send, last.SendWait)
		}
	})
}
