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
		action  string
		kind    classify.Kind
		text    string
	}{
		{classify.Verdict{}, "none", classify.KindNone, "none"},
		{classify.Forbidden(), "forbid", classify.KindNone, "forbid"},
		{classify.RetryAs(classify.Throttling), "retry", classify.Throttling, "retry(throttling)"},
		{classify.RetryAs(classify.Transient), "retry", classify.Transient, "retry(transient)"},
		{classify.RetryAs(classify.Timeout), "retry", classify.Timeout, "retry(timeout)"},
		{classify.RetryAs(classify.Server), "retry", classify.Server, "retry(server)"},
		{classify.RetryAs(classify.Client), "retry", classify.Client, "retry(client)"},
		{classify.RetryAs(classify.ClockSkew), "retry", classify.ClockSkew, "retry(clock_skew)"},
		{classify.RetryAs(math.MaxUint8), "retry", math.MaxUint8, "retry(unknown)"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.action, c.verdict.Action())
			require.Equal(t, c.action == "retry", c.verdict.Retryable())
			require.Equal(t, c.action == "forbid", c.verdict.Forbids())
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
		{"no opinion", classify.Verdict{}, time.Second, 0, false},
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
}
