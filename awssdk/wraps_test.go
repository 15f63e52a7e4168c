package awssdk

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

// correcting is a retryer that asks the one that it wraps, and then retries every error.
type correcting struct{ *sdkRetryer }

func (r correcting) IsErrorRetryable(err error) bool {
	_ = r.sdkRetryer.IsErrorRetryable(err)
	return true
}

func TestRetryerAroundMayOverruleTheStrategy(t *testing.T) {
	t.Parallel()
	for _, errs := range [][]error{
		{errors.New("first"), nil},
		{errors.New("first"), temporary{errors.New("second")}, errors.New("third"), nil},
		{errors.New("first"), errors.New("second"), errors.New("third"), errors.New("fourth")},
	} {
		s, err := standard.New(standard.Config{Base: 1, MaxAttempts: 4})
		require.NoError(t, err)
		r := correcting{retryer(t, s)}
		c, err := inside(t, r, errs...)
		require.ErrorIs(t, err, errs[len(errs)-1])
		require.Equal(t, over, c.phase)
	}
}

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
