package awssdk_test

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestWithoutMiddlewaresTheLoopHasTheNumbersOfTheStrategy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := strategy(t, standard.Config{MaxAttempts: 4, Base: 10 * time.Millisecond, MaxBackoff: 20 * time.Millisecond})
		began := time.Now()
		attempts, err := loop(t.Context(), retryer(t, s), failed(500), failed(503), failed(500), failed(500))
		_, usedUp := errors.AsType[*sdkretry.MaxAttemptsError](err)
		require.True(t, usedUp)
		require.Equal(t, 4, attempts)
		require.LessOrEqual(t, time.Since(began), 50*time.Millisecond, "with full jitter")
		require.Equal(t, 500, s.Snapshot().Scopes[0].Quota, "the retryer has a quota of its own")

		last := failed(404)
		attempts, err = loop(t.Context(), retryer(t, s), failed(500), last)
		require.Equal(t, 2, attempts)
		require.Equal(t, last, err)
	})
}

// A loop that asks again and again with one error gets as many retries as the quota pays for, as from the SDK.
func TestWithoutMiddlewaresEachQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	failure := failed(500)
	for name, r := range map[string]aws.RetryerV2{
		"SDK": sdkretry.NewStandard(), "awsretry": retryer(t, strategy(t, standard.Config{})),
	} {
		granted := 0
		for {
			if _, err := r.GetRetryToken(t.Context(), failure); err != nil {
				break
			}
			granted++
		}
		require.Equal(t, 500/14, granted, name)
	}
}

func TestWithoutQuotaNoRetryIsRefused(t *testing.T) {
	t.Parallel()
	r := retryer(t, strategy(t, standard.Config{NoQuota: true}))
	for _, failure := range []error{failed(500), failed(429)} {
		for range 1000 {
			release, err := r.GetRetryToken(t.Context(), failure)
			require.NoError(t, err)
			require.NoError(t, release(nil))
		}
	}
}

func TestWithoutMiddlewaresTheClassifierOfTheStrategyJudges(t *testing.T) {
	t.Parallel()
	errGone := errors.New("gone")
	s := strategy(t, standard.Config{Classifier: classify.NewChain(classify.Func(func(err error) bool { return errors.Is(err, errGone) }))})
	r := retryer(t, s)
	require.True(t, r.IsErrorRetryable(errGone))
	require.False(t, r.IsErrorRetryable(failed(500)))
	require.False(t, r.IsErrorRetryable(nil))
	require.NoError(t, r.GetInitialToken()(nil)) //nolint:staticcheck // older loops call it
}

func TestStrategyOfAConfig(t *testing.T) {
	t.Parallel()
	s := strategy(t, standard.Config{})
	installed := aws.Config{}
	require.NoError(t, awssdk.Install(&installed, awssdk.WithStrategy(s)))
	for name, c := range map[string]struct {
		retryer func() aws.Retryer
		want    retry.Strategy
	}{
		"Install":         {installed.Retryer, s},
		"none":            {nil, nil},
		"a nil interface": {func() aws.Retryer { return nil }, nil},
		"another one":     {func() aws.Retryer { return aws.NopRetryer{} }, nil},
		"one around ours": {func() aws.Retryer { return sdkretry.AddWithMaxAttempts(installed.Retryer(), 5) }, nil},
	} {
		got, ok := awssdk.StrategyOf(aws.Config{Retryer: c.retryer})
		require.Equal(t, c.want != nil, ok, name)
		require.Equal(t, c.want, got, name)
	}
}

// fielded is an error whose methods read a field, so that those of a nil pointer panic.
type fielded struct{ inner error }

func (e *fielded) Error() string { return e.inner.Error() }

func (e *fielded) Unwrap() error { return e.inner }

// holding is an error that can be compared only if what it holds can.
type holding struct{ what any }

func (holding) Error() string { return "holding" }

// The loop of the SDK v1.48.0 panics by itself with the nil pointers (aws/retry/middleware.go, wrapAsClockSkew).
// Any other loop may call the retryer.
func TestErrorsThatPanicAreNotRetried(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]error{
		"nil pointer":                     (*fielded)(nil),
		"nil pointer of the net package":  (*net.OpError)(nil),
		"nil pointer among joined errors": errors.Join((*fielded)(nil), (*net.OpError)(nil)),
		"not to be compared":              holding{[]int{1}},
		"wrapped, not to be compared":     fmt.Errorf("wrap: %w", holding{[]int{1}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := retryer(t, strategy(t, standard.Config{}))
			require.False(t, r.IsErrorRetryable(odd))
			_, err := r.GetRetryToken(t.Context(), odd) // which takes the error for retryable
			require.NoError(t, err)
			_, err = r.RetryDelay(1, odd)
			require.NoError(t, err)
		})
	}
}
