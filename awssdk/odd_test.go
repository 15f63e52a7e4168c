package awssdk_test

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

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
			other, err := r.GetAttemptToken(t.Context()) // so that there is an error to look for
			require.NoError(t, err)
			require.NoError(t, other(failed(500)))
			release, err := r.GetAttemptToken(t.Context())
			require.NoError(t, err)
			require.NoError(t, release(odd))
			require.False(t, r.IsErrorRetryable(odd))
			_, err = r.GetRetryToken(t.Context(), odd) // which takes the error for retryable
			require.NoError(t, err)
			_, err = r.RetryDelay(1, odd)
			require.NoError(t, err)
		})
	}
}
