// Package play runs operations of strategies in tests.
package play

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Adaptive returns a strategy in adaptive mode on a fake clock, without jitter. change may be nil.
func Adaptive(t *testing.T, change func(c *adaptive.Config)) (retry.Strategy, *clock.Fake) {
	t.Helper()
	clk := &clock.Fake{}
	config := adaptive.Config{Standard: standard.Config{Clock: clk, Random: func() float64 { return 1 }}}
	if change != nil {
		change(&config)
	}
	s, err := adaptive.New(config)
	require.NoError(t, err)
	return s, clk
}

// Answers returns a function that fails with each of the errors in turn, and then succeeds.
func Answers(errs ...error) func(context.Context) (int, error) {
	n := 0
	return func(context.Context) (int, error) {
		n++
		if n <= len(errs) {
			return n, errs[n-1]
		}
		return n, nil
	}
}

// Do runs an operation on the fake clock of its strategy. Its attempts fail with the errors.
func Do(ctx context.Context, clk *clock.Fake, s retry.Strategy, op retry.Operation, errs ...error) (err error) {
	clk.Run(func() { _, err = retry.Do(ctx, s, op, Answers(errs...)) })
	return err
}

// Sent begins an operation and waits until its attempt is sent.
func Sent(t *testing.T, s retry.Strategy) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	return token
}

// errThrottle is how the attempts of Fail and Refresh end.
var errThrottle = vectors.Response{Status: 400, ErrorCode: "ThrottlingException", Kind: "throttling"}.Err()

// Fail ends an operation after an attempt that was throttled.
func Fail(s retry.Strategy, token retry.Token) error { return s.RecordFailure(token, errThrottle) }

// Refresh asks for a retry after an attempt that was throttled, and ends the operation without it.
func Refresh(s retry.Strategy, token retry.Token) error {
	token, _ = s.RefreshRetryToken(context.Background(), token, errThrottle)
	return s.RecordFailure(token, errThrottle)
}

// Sleep sleeps on the time of a bubble.
func Sleep(t *testing.T, d time.Duration) {
	t.Helper()
	require.NoError(t, clock.System{}.Sleep(t.Context(), d))
}
