package classify_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestJudgedErrorIsNotRunThroughTheChain(t *testing.T) {
	t.Parallel()
	for _, want := range []classify.Verdict{
		classify.Forbidden(), classify.None(), classify.RetryAs(classify.Throttling),
		classify.RetryAs(classify.ClockSkew).WithHint(time.Second),
	} {
		t.Run(want.String(), func(t *testing.T) {
			t.Parallel()
			f := &fixed{verdict: classify.RetryAs(classify.Server)}
			chain := classify.NewChain(classify.Status(), f)
			err := &classify.JudgedError{Verdict: want, Err: statusError(503)}
			got := chain.Classify(classify.Outcome{Err: err, Previous: classify.RetryAs(classify.Client)})
			require.Equal(t, want, got)
			require.Empty(t, f.asked)
		})
	}
}

func TestJudgementOfAnInnerCallDoesNotDecideAnOuterOne(t *testing.T) {
	t.Parallel()
	inner := &classify.JudgedError{Verdict: classify.RetryAs(classify.Server)}
	require.Equal(t, classify.None(), verdictOf(fmt.Errorf("wrapped: %w", inner)))
	outer := &classify.JudgedError{Verdict: classify.Forbidden(), Err: inner}
	require.Equal(t, classify.Forbidden(), verdictOf(outer))
}

func TestJudgementTakesTheHintOfItsError(t *testing.T) {
	t.Parallel()
	hinting := hintError{after: time.Second, hinted: true}
	retry := classify.RetryAs(classify.Throttling)
	require.Equal(t, retry.WithHint(time.Second), verdictOf(&classify.JudgedError{Verdict: retry, Err: hinting}))
	own := retry.WithHint(time.Minute)
	require.Equal(t, own, verdictOf(&classify.JudgedError{Verdict: own, Err: hinting}))
	_, ok := classify.Judgement(hinting)
	require.False(t, ok)
}

func TestChainAddsTheHintOfTheErrorToARetryWithoutOne(t *testing.T) {
	t.Parallel()
	retry := classify.RetryAs(classify.Throttling)
	for _, c := range []struct {
		name string
		says classify.Verdict
		err  hintError
		want classify.Verdict
	}{
		{"retry without a hint", retry, hintError{after: time.Second, hinted: true}, retry.WithHint(time.Second)},
		{"hint of zero", retry, hintError{hinted: true}, retry.WithHint(0)},
		{"longest hint", retry, hintError{after: math.MaxInt64, hinted: true}, retry.WithHint(math.MaxInt64)},
		{"negative hint", retry, hintError{after: -1, hinted: true}, retry},
		{"most negative hint", retry, hintError{after: math.MinInt64, hinted: true}, retry},
		{"time that is no hint", retry, hintError{after: time.Second}, retry},
		{"hint of its own", retry.WithHint(time.Minute), hintError{after: time.Second, hinted: true}, retry.WithHint(time.Minute)},
		{"hint of its own, zero", retry.WithHint(0), hintError{after: time.Second, hinted: true}, retry.WithHint(0)},
		{"no opinion", classify.None(), hintError{after: time.Second, hinted: true}, classify.None()},
		{"forbidden", classify.Forbidden(), hintError{after: time.Second, hinted: true}, classify.Forbidden()},
	} {
		for how, err := range wrappings(c.err) {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				got := classify.NewChain(&fixed{verdict: c.says}).Classify(classify.Outcome{Err: err})
				require.Equal(t, c.want, got)
			})
		}
	}
}

func TestAHintMakesNothingRetryable(t *testing.T) {
	t.Parallel()
	for _, status := range []int{0, 200, 400, 403, 404, 501} {
		require.Equal(t, classify.None(), verdictOf(hintError{status, time.Second, true}), "status %d", status)
	}
}

func TestLaterClassifiersOverrideTheStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		want classify.Kind
	}{
		{"throttling code over 500", errors.Join(statusError(500), codeError("SlowDown")), classify.Throttling},
		{"throttling code over 404", errors.Join(statusError(404), codeError("SlowDown")), classify.Throttling},
		{"unknown code under 503", errors.Join(statusError(503), codeError("NoSuchKey")), classify.Transient},
		{"unknown code under 429", errors.Join(statusError(429), codeError("NoSuchKey")), classify.Throttling},
		{"timeout over 503", errors.Join(statusError(503), timeoutError{}), classify.Timeout},
		{"timeout over 400", errors.Join(statusError(400), timeoutError{}), classify.Timeout},
		{"throttling status over a timeout", errors.Join(statusError(429), timeoutError{}), classify.Throttling},
		{"throttling code over a timeout", errors.Join(codeError("SlowDown"), timeoutError{}), classify.Throttling},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, classify.RetryAs(c.want), verdictOf(c.err))
		})
	}
}
