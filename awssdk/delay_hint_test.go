package awssdk

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

func TestHintIsWaitedForOnce(t *testing.T) {
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
		synctest.Test(t, func(t *testing.T) {
			s, err := standard.New(standard.Config{Base: 50 * ms, MaxHint: c.maxHint, Random: func() float64 { return 1 }})
			require.NoError(t, err)
			r, began := &asked{sdkRetryer: retryer(t, s)}, time.Now()
			response := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{retryAfterHeader: {c.hint}}}
			_, err = inside(t, r, &smithyhttp.ResponseError{
				Response: &smithyhttp.Response{Response: response}, Err: errors.New("busy"),
			}, nil)
			require.NoError(t, err)
			require.Equal(t, c.sleeps, time.Since(began), name)
			require.Equal(t, c.ask, r.delay, name)
		})
	}
}

// The function is told what the SDK tells a BackoffDelayer, and the loop sleeps as long: in a call, and in a client
// without the middlewares.
func TestBackoffOfTheUserIsABackoffDelayerOfTheSDK(t *testing.T) {
	t.Parallel()
	answers := []error{}
	for _, hint := range []string{"", "20", "11000", "90000"} {
		response := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{retryAfterHeader: {hint}}}
		answers = append(answers, &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: response}, Err: temporary{errors.New("hint " + hint)},
		})
	}
	for name, delay := range map[string]time.Duration{"longer each time": 3 * time.Second, "none": 0, "negative": -time.Nanosecond} {
		var told []string
		backoff := func(attempt int, err error) time.Duration {
			found, _ := errors.AsType[temporary](err)
			told = append(told, fmt.Sprint(attempt, found))
			return delay * time.Duration(attempt)
		}
		s, err := standard.New(standard.Config{Backoff: backoff, MaxAttempts: 5})
		require.NoError(t, err)
		ofSDK := sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
			o.MaxAttempts = 5
			o.Backoff = sdkretry.BackoffDelayerFunc(func(attempt int, err error) (time.Duration, error) { return backoff(attempt, err), nil })
		})
		own, slept := retryer(t, s), map[string]time.Duration{}
		for who, r := range map[string]aws.Retryer{"SDK": ofSDK, "plain": own, "call": nil} {
			told = nil
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				if r != nil {
					err = bare(t.Context(), r, append(answers, nil)...)
				} else {
					_, err = inside(t, own, append(answers, nil)...)
				}
				require.NoError(t, err)
				slept[who] = time.Since(began)
			})
			require.Equal(t, []string{"1 hint ", "2 hint 20", "3 hint 11000", "4 hint 90000"}, told, "%s, %s", name, who)
		}
		require.Equal(t, slept["SDK"].Round(time.Microsecond), slept["plain"], name)
		require.Equal(t, slept["SDK"].Round(time.Microsecond), slept["call"], name)
	}
}

// asked is a retryer that notes the delay of the one that it wraps.
type asked struct {
	*sdkRetryer
	delay time.Duration
}

func (r *asked) RetryDelay(attempt int, err error) (delay time.Duration, askErr error) {
	r.delay, askErr = r.sdkRetryer.RetryDelay(attempt, err)
	return r.delay, askErr
}
