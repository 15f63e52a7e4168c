package awssdk_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
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

// hinted returns an error whose response has a hint in milliseconds.
func hinted(hint string) error {
	response := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}}
	response.Header.Set("X-Amz-Retry-After", hint)
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: response}, Err: failed(response.StatusCode)}
}

// slept returns how long the loop of the SDK has slept.
func slept(t *testing.T, r aws.Retryer, errs ...error) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		attempts, err := loop(t.Context(), r, errs...)
		took = time.Since(began)
		require.NoError(t, err)
		require.Equal(t, len(errs), attempts)
	})
	return took
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

func TestHintIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		hint        string
		maxHint     time.Duration
		sleeps, ask time.Duration // what the loop sleeps, and what RetryDelay returns
	}{
		"none":                     {"", 0, 50 * ms, 50 * ms},
		"less than the backoff":    {"20", 0, 50 * ms, 50 * ms},
		"the backoff":              {"50", 0, 50 * ms, 0},
		"five seconds or less":     {"2000", 0, 2000 * ms, 0},
		"five seconds and a bit":   {"5020", 0, 5020 * ms, 20 * ms},
		"more":                     {"9000", 0, 5050 * ms, 50 * ms},
		"more than MaxHint":        {"9000", 2000 * ms, 2000 * ms, -3000 * ms},
		"read by the loop alone":   {"+9000", 0, 50 * ms, -4950 * ms},
		"no Duration for the loop": {"9223372036854775807", 0, 5050 * ms, 5050 * ms},
	} {
		r := &asked{RetryerV2: retryer(t, strategy(t, standard.Config{Base: 50 * ms, MaxHint: c.maxHint}))}
		require.Equal(t, c.sleeps, slept(t, r, hinted(c.hint), nil), name)
		require.Equal(t, c.ask, r.delay, name)
	}
}

// asked is a retryer that notes the delay of the one that it wraps.
type asked struct {
	aws.RetryerV2
	delay time.Duration
}

func (r *asked) RetryDelay(attempt int, err error) (delay time.Duration, askErr error) {
	r.delay, askErr = r.RetryerV2.RetryDelay(attempt, err)
	return r.delay, askErr
}
