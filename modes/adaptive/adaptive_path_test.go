package adaptive_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// unavailable is an answer with status 503.
type unavailable struct{}

func (unavailable) Error() string       { return "service unavailable" }
func (unavailable) HTTPStatusCode() int { return 503 }

// The files that the second operation runs through, and the making of a strategy and of a scope does not
// alone, are the path of one retry on the architecture page: lab/scripts/path compares the statements that
// the two tests run.
func TestPathOfOneRetry(t *testing.T)   { retryOnce(t, 1) }
func TestPathOfTwoRetries(t *testing.T) { retryOnce(t, 2) }

// retryOnce lets operations fail once each.
func retryOnce(t *testing.T, operations int) {
	t.Helper()
	s, err := adaptive.New(adaptive.Config{Standard: standard.Config{Base: 1, Random: func() float64 { return 1 }}})
	require.NoError(t, err)
	attempts := 0
	for range operations {
		op := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: "orders"}
		require.NoError(t, retry.DoErr(t.Context(), s, op, func(context.Context) error {
			if attempts++; attempts%2 == 1 {
				return unavailable{}
			}
			return nil
		}))
	}
	require.Equal(t, 2*operations, attempts)
}
