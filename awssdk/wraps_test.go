package awssdk

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

// impatient is a retryer that gives attempt tokens of its own.
type impatient struct{ *sdkRetryer }

func (impatient) GetAttemptToken(context.Context) (func(error) error, error) { return released, nil }

func TestRetryerAroundMayWaitForAttemptsItself(t *testing.T) {
	t.Parallel()
	s, err := standard.New(standard.Config{Base: 1, MaxAttempts: 2})
	require.NoError(t, err)
	_, err = inside(t, impatient{retryer(t, s)}, temporary{errors.New("first")}, temporary{errors.New("second")})
	require.Error(t, err)
	require.Equal(t, 486, s.Snapshot().Scopes[0].Quota, "the strategy still decides about retries")
}
