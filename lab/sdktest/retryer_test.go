package sdktest

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

// TestOperationMayHaveFewerAttempts: a function of the user may say so, for example where a
// loop around the call retries.
func TestOperationMayHaveFewerAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(fail(500, ""))
		cfg := installed(t, s, hermetic(), awssdk.WithOperation(func(ctx context.Context, op retry.Operation, _ any) retry.Operation {
			if _, nested := retry.AttemptFrom(ctx); nested {
				op.MaxAttempts = 1
			}
			return op
		}))
		strategy := strategyOf(t, cfg)
		_, err := retry.Do(t.Context(), strategy, retry.Operation{}, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, describeWith(ctx, cfg)
		})
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.Equal(t, 3, s.requests(), "not nine")
	})
}

func TestConfigOfTheClientsMakesNoDifference(t *testing.T) {
	t.Parallel()
	cfg := configFor(newScript(say(200, "{}")))
	cfg.RetryMaxAttempts, cfg.RetryMode = 9, aws.RetryModeAdaptive
	require.NoError(t, awssdk.Install(&cfg, hermetic(awsretry.WithMaxAttempts(2))))
	require.Equal(t, 2, cfg.RetryMaxAttempts, "the options of Install have the last word")
	require.Equal(t, "adaptive", strategyOf(t, cfg).Snapshot().Mode, "set by hand")
}
