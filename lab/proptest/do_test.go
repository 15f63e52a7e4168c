package proptest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/retry"
)

// Operations one after the other, each in a loop of its own: the instants of their
// attempts and of their ends are those of the rules.
func TestDoInAdaptiveModeIsAsItsRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := newAdaptiveRun(t)
		run.clock.Run(func() {
			for range drawInt(t, 1, 12, "operations") {
				run.clock.Advance(drawPause(t, "pause"))
				run.do(t)
				run.check(t)
			}
		})
	})
}

// do runs an operation through Do and through the model at the same time.
func (r *adaptiveRun) do(t *rapid.T) {
	o := &sending{operationModel: operationModel{op: drawOperation(t), attempt: 1}}
	o.op.MaxAttempts = max(o.op.MaxAttempts, 0) // Do refuses a negative number
	r.quotas.scope(o.op)
	rate := r.rate(o.op)
	failures, made := drawInt(t, 0, 5, "failures"), 0
	due, outcome := r.clock.Now(), retried

	_, err := retry.Do(t.Context(), r.strategy, o.op, func(ctx context.Context) (struct{}, error) {
		require.Equal(t, retried, outcome, "an attempt too many")
		r.wasSent(t, o, due)
		attempt, ok := retry.AttemptFrom(ctx)
		require.True(t, ok)
		require.Equal(t, retry.Attempt{Number: o.attempt, Loops: 1, MaxAttempts: r.strategy.Plan(o.op).MaxAttempts}, attempt)

		r.clock.Advance(drawFrom(t, "latency", 0, time.Millisecond, 70*time.Millisecond, time.Second))
		if made++; made > failures {
			r.report(o, false)
			r.quotas.succeed(&o.operationModel)
			due, outcome = r.clock.Now(), "success"
			return struct{}{}, nil
		}
		f := drawFailure(t)
		f.hint = min(f.hint, time.Hour)
		r.report(o, f.kind == throttle)
		var delay time.Duration
		outcome, delay = r.quotas.fail(&o.operationModel, f, limits{})
		due = r.clock.Now().Add(delay) // of the next attempt, or of the end of a long poll
		return struct{}{}, f.err()
	})
	require.Equal(t, due, r.clock.Now())
	switch outcome {
	case "success":
		require.NoError(t, err)
	case retried: // but not made
		r.quotas.end(&o.operationModel)
		require.ErrorIs(t, err, retry.ErrSendRateLimited)
		want := rate.until(due, r.cost())
		require.True(t, r.refuses(want) || r.borderline(want), "it would have been a wait of %v s", want)
	case notRetryable:
		_, refused := errors.AsType[*retry.Error](err)
		require.False(t, refused, "it is to come back as it is: %v", err)
	default:
		require.Equal(t, outcome, outcomeOf(err))
	}
}
