package awssdk_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/standard"
)

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

func TestDelayOfAnUnknownErrorIsTheUsualBackoff(t *testing.T) {
	t.Parallel()
	r := retryer(t, strategy(t, standard.Config{}))
	for attempt, c := range []struct {
		failure error
		most    time.Duration
	}{
		{failed(500), 50 * time.Millisecond}, // of no attempt
		{failed(500), 50 * time.Millisecond},
		{failed(500), 100 * time.Millisecond},
		{failed(429), 4 * time.Second},
		{failed(429), 8 * time.Second},
		{failed(429), 16 * time.Second},
		{failed(429), 20 * time.Second},
		{nil, 3200 * time.Millisecond},
	} {
		longest := time.Duration(0)
		for range 1000 {
			delay, err := r.RetryDelay(attempt, c.failure)
			require.NoError(t, err)
			require.GreaterOrEqual(t, delay, time.Duration(0))
			longest = max(longest, delay)
		}
		require.LessOrEqual(t, longest, c.most)
		require.Greater(t, longest, c.most*9/10, "full jitter")
	}
	delay, err := r.RetryDelay(1<<40, failed(500))
	require.NoError(t, err)
	require.LessOrEqual(t, delay, 20*time.Second)
}
