package awssdk

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestOutcomeOfAnAttemptIsToldOnce(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{})
	require.NoError(t, err)
	r := retryer(t, s)
	release, err := r.GetAttemptToken(t.Context())
	require.NoError(t, err)
	require.NoError(t, release(nil))
	require.NoError(t, release(errors.New("late")))
	require.Zero(t, r.failures.kept())
}

// TestRefusalInsideAnErrorDoesNotCount: the error of an attempt may come from another
// strategy, for example that of the credentials.
func TestRefusalInsideAnErrorDoesNotCount(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{QuotaCapacity: new(0)})
	require.NoError(t, err)
	_, err = inside(t, retryer(t, s), temporary{&retry.Error{Reason: retry.ErrNotRetryable}})
	require.ErrorIs(t, err, retry.ErrQuotaExhausted)
}
