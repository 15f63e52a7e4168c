package classify_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestCandidateSkew(t *testing.T) {
	t.Parallel()
	sent := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name   string
		trip   time.Duration
		date   time.Time
		cached bool
		want   time.Duration
		ok     bool
	}{
		{"clocks agree", 2 * time.Second, sent.Add(time.Second), false, 0, true},
		{"server ahead", 2 * time.Second, sent.Add(time.Hour), false, time.Hour - time.Second, true},
		{"server behind", 2 * time.Second, sent.Add(-time.Hour), false, -time.Hour - time.Second, true},
		{"in no time", 0, sent, false, 0, true},
		{"longest exchange", 15 * time.Minute, sent, false, -450 * time.Second, true},
		{"too long an exchange", 15*time.Minute + 1, sent, false, 0, false},
		{"clock set back meanwhile", -1, sent, false, 0, false},
		{"from a cache", 2 * time.Second, sent, true, 0, false},
		{"no date", 2 * time.Second, time.Time{}, false, 0, false},
		{"far in the past", 0, time.Unix(-1<<40, 0), false, math.MinInt64, true},
		{"far in the future", 0, time.Unix(1<<40, 0), false, math.MaxInt64, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := classify.CandidateSkew(sent, sent.Add(c.trip), c.date, c.cached)
			require.Equal(t, c.want, got)
			require.Equal(t, c.ok, ok)
		})
	}
}

func TestSkewsOfAnySize(t *testing.T) {
	t.Parallel()
	const limit = 4 * time.Minute
	for _, c := range []struct {
		used, observed time.Duration
		want           bool
	}{
		{0, limit, false},
		{0, limit + 1, true},
		{0, -limit, false},
		{0, -limit - 1, true},
		{math.MaxInt64, math.MaxInt64 - limit, false},
		{math.MaxInt64, math.MaxInt64 - limit - 1, true},
		{math.MinInt64, math.MaxInt64, true},
		{math.MaxInt64, math.MinInt64, true},
		{-1, math.MaxInt64, true},
		{math.MinInt64, math.MinInt64, false},
		{math.MinInt64, 0, true},
	} {
		for how, err := range wrappings(&skewedError{used: c.used, observed: c.observed, err: codeError("AuthFailure")}) {
			require.Equal(t, c.want, verdictOf(err) == classify.RetryAs(classify.ClockSkew), "%s, %v", how, c)
		}
	}
}

// skewedError is an answer from which the clocks are known.
type skewedError struct {
	used, observed time.Duration
	err            error
}

func (e *skewedError) Error() string { return "skewed" }
func (e *skewedError) Unwrap() error { return e.err }

func (e *skewedError) ClockSkew() (used, observed time.Duration, ok bool) {
	return e.used, e.observed, true
}

// unseenError is an answer without a Date.
type unseenError struct{ codeError }

func (unseenError) ClockSkew() (used, observed time.Duration, ok bool) { return 0, time.Hour, false }

func TestSkewCodes(t *testing.T) {
	t.Parallel()
	skewed := func(code string) error {
		return &skewedError{observed: time.Hour, err: codeError(code)}
	}
	skew, none := classify.RetryAs(classify.ClockSkew), classify.Verdict{}
	added := []string{"RequestExpired"}
	chain := changed(t)(classify.Default().Replace("clock-skew", classify.Skew(added...)))
	added[0] = "ChangedLater"
	for _, c := range []struct {
		name  string
		chain *classify.Chain
		err   error
		want  classify.Verdict
	}{
		{"signature", classify.Default(), skewed("SignatureDoesNotMatch"), skew},
		{"invalid signature", classify.Default(), skewed("InvalidSignatureException"), skew},
		{"access denied", classify.Default(), skewed("AccessDeniedException"), skew},
		{"other code", classify.Default(), skewed("RequestExpired"), none},
		{"other code, added", chain, skewed("RequestExpired"), skew},
		{"no code, others added", chain, skewed(""), none},
		{"built-in code, others added", chain, skewed("AuthFailure"), skew},
		{"without the clocks", classify.Default(), codeError("AuthFailure"), none},
		{"no skew seen", classify.Default(), unseenError{"AuthFailure"}, none},
		{"a throttle stays one", classify.Default(), errors.Join(statusError(429), skewed("AuthFailure")), classify.RetryAs(classify.Throttling)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.chain.Classify(classify.Outcome{Err: c.err}))
		})
	}
}
