package play

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Config returns the Config of the strategy of a case.
func Config(behavior string, given vectors.Given) standard.Config {
	return standard.Config{
		Behavior:      retry.Behavior(behavior),
		Service:       given.Service,
		MaxAttempts:   given.Attempts(),
		QuotaCapacity: given.Capacity(),
		QuotaInitial:  given.InitialQuota,
		MaxBackoff:    vectors.Seconds(given.MaxBackoff),
		Random:        func() float64 { return given.Jitter },
	}
}

// Outcome names how an operation ended, as the vectors do. An error that is not retryable comes as it is.
func Outcome(err error) string {
	_, refused := errors.AsType[*retry.Error](err)
	switch {
	case err == nil:
		return "success"
	case errors.Is(err, retry.ErrAttemptsExhausted):
		return "max_attempts_exceeded"
	case errors.Is(err, retry.ErrDebtLimit):
		return "debt_limit"
	case errors.Is(err, retry.ErrQuotaExhausted):
		return "quota_exceeded"
	case refused:
		return err.Error()
	default:
		return "not_retryable"
	}
}

// Sequence plays a sequence of vectors in a bubble: one operation after the other, until each step has had its attempt.
// operate makes an operation and returns its outcome. Each of its attempts calls attempt once, with a function that takes
// what the service answers and returns when the attempt ends. Sequence holds when attempts come and operations end, and
// what is in the quota then.
func Sequence(t *testing.T, c vectors.Sequence, quota func() int, operate func(attempt func(func(vectors.Response))) string) {
	t.Helper()
	var ended time.Time // when the last attempt did
	played := 0
	requireAfterStep := func(outcome string) {
		want := c.Steps[played-1].Want
		require.Equal(t, want.Outcome, outcome, "step %d", played-1)
		var delay time.Duration
		if want.Delay != nil {
			delay = vectors.Seconds(*want.Delay)
		}
		require.Equal(t, delay, clock.System{}.Now().Sub(ended), "sleep after step %d", played-1)
		require.Equal(t, want.QuotaAfter, quota(), "quota after step %d", played-1)
	}
	for played < len(c.Steps) {
		first := played
		outcome := operate(func(answer func(vectors.Response)) {
			if played > first {
				requireAfterStep("retry")
			}
			require.Less(t, played, len(c.Steps), "an attempt too many")
			played++
			answer(c.Steps[played-1].Response)
			ended = clock.System{}.Now()
		})
		require.Greater(t, played, first, "an operation without an attempt")
		requireAfterStep(outcome)
	}
	if c.FinalQuota != nil {
		require.Equal(t, *c.FinalQuota, quota())
	}
}
