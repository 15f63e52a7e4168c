package classify_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestVerdictsSayWhatTheyWereMadeFrom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdict classify.Verdict
		action  classify.Action
		kind    classify.Kind
		text    string
	}{
		{classify.Verdict{}, classify.NoOpinion, classify.KindNone, "none"},
		{classify.None(), classify.NoOpinion, classify.KindNone, "none"},
		{classify.Forbidden(), classify.Forbid, classify.KindNone, "forbid"},
		{classify.RetryAs(classify.Throttling), classify.Retry, classify.Throttling, "retry(throttling)"},
		{classify.RetryAs(classify.Transient), classify.Retry, classify.Transient, "retry(transient)"},
		{classify.RetryAs(classify.Timeout), classify.Retry, classify.Timeout, "retry(timeout)"},
		{classify.RetryAs(classify.Server), classify.Retry, classify.Server, "retry(server)"},
		{classify.RetryAs(classify.Client), classify.Retry, classify.Client, "retry(client)"},
		{classify.RetryAs(classify.ClockSkew), classify.Retry, classify.ClockSkew, "retry(clock_skew)"},
		{classify.RetryAs(math.MaxUint8), classify.Retry, math.MaxUint8, "retry(unknown)"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.action, c.verdict.Action())
			require.Equal(t, c.kind, c.verdict.Kind())
			require.Equal(t, c.text, c.verdict.String())
			after, hinted := c.verdict.Hint()
			require.Zero(t, after)
			require.False(t, hinted)
		})
	}
}

func TestNamesOutsideOfAnyVerdict(t *testing.T) {
	t.Parallel()
	require.Equal(t, "none", classify.KindNone.String())
	require.Equal(t, "unknown", (classify.ClockSkew + 1).String())
	require.Equal(t, "retry", classify.Retry.String())
	require.Equal(t, "unknown", (classify.Forbid + 1).String())
}

func TestOnlyARetryCarriesAHint(t *testing.T) {
	t.Parallel()
	retry := classify.RetryAs(classify.Throttling)
	for _, c := range []struct {
		name   string
		from   classify.Verdict
		hint   time.Duration
		after  time.Duration
		hinted bool
	}{
		{"retry", retry, 3 * time.Second, 3 * time.Second, true},
		{"longest", retry, math.MaxInt64, math.MaxInt64, true},
		{"none at all is a hint", retry, 0, 0, true},
		{"negative is no hint", retry, -1, 0, false},
		{"most negative is no hint", retry, math.MinInt64, 0, false},
		{"a later hint replaces", retry.WithHint(time.Minute), time.Second, time.Second, true},
		{"a later negative one does not", retry.WithHint(time.Minute), -1, time.Minute, true},
		{"no opinion", classify.None(), time.Second, 0, false},
		{"forbidden", classify.Forbidden(), time.Second, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			verdict := c.from.WithHint(c.hint)
			after, hinted := verdict.Hint()
			require.Equal(t, c.after, after)
			require.Equal(t, c.hinted, hinted)
			require.Equal(t, c.from.Action(), verdict.Action())
			require.Equal(t, c.from.Kind(), verdict.Kind())
		})
	}
	_, hinted := retry.Hint()
	require.False(t, hinted, "a verdict does not change")
	require.Equal(t, retry.WithHint(time.Minute), classify.RetryAfter(classify.Throttling, time.Minute))
	require.Equal(t, retry, classify.RetryAfter(classify.Throttling, -1))
}
