package awssdk_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"
)

// recorder is a retryer that retries everything after the same delay, and notes what the loop asks.
type recorder struct {
	aws.NopRetryer
	delay time.Duration
	limit int

	limits, tokens, ended int
	numbers               []int
}

func (*recorder) IsErrorRetryable(error) bool { return true }

func (r *recorder) MaxAttempts() int {
	r.limits++
	return r.limit
}

func (r *recorder) GetAttemptToken(context.Context) (func(error) error, error) {
	r.tokens++
	return func(error) error {
		r.ended++
		return nil
	}, nil
}

func (r *recorder) RetryDelay(attempt int, _ error) (time.Duration, error) {
	r.numbers = append(r.numbers, attempt)
	return r.delay, nil
}

// TestLoopOfTheSDKIsAsThisPackageAssumes fails with a version of the SDK whose loop numbers delays
// or adds hints in another way.
func TestLoopOfTheSDKIsAsThisPackageAssumes(t *testing.T) {
	t.Parallel()
	for hint, seconds := range map[string]int{
		"": 1, "-1": 1, "soon": 1, "500": 1, "3000": 3, "6000": 6, "9000": 1 + 5,
	} {
		for _, limit := range []int{-1, 0, 4} {
			r := &recorder{delay: time.Second, limit: limit}
			want := 3 * time.Duration(seconds) * time.Second
			require.Equal(t, want, slept(t, r, hinted(hint), hinted(hint), hinted(hint), nil), "hint %q", hint)
			require.Equal(t, []int{1, 2, 3}, r.numbers, "the number of the attempt that failed")
			require.Equal(t, 1, r.limits, "the limit holds for the whole call")
			require.Equal(t, 4, r.tokens, "a token for each attempt")
			require.Equal(t, 4, r.ended)
		}
	}
}
