package classify_test

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestAnErrorThatCarriesItsVerdictIsNotClassified(t *testing.T) {
	t.Parallel()
	for _, want := range []classify.Verdict{
		classify.Forbidden(),
		{},
		classify.RetryAs(classify.Throttling),
		classify.RetryAs(classify.ClockSkew).WithHint(time.Second),
	} {
		t.Run(want.String(), func(t *testing.T) {
			t.Parallel()
			f := &fixed{name: "f", verdict: classify.RetryAs(classify.Server)}
			err := error(&classify.JudgedError{Verdict: want, Err: statusError(503)})
			for _, err := range []error{err, fmt.Errorf("call: %w", err), &url.Error{Op: "Get", Err: err}, &aroundError{inner: err}} {
				for _, before := range []classify.Verdict{{}, classify.RetryAs(classify.Client), classify.Forbidden()} {
					o := classify.Outcome{Err: err, Previous: before}
					require.Equal(t, want, classify.NewChain(classify.Status(), f).Classify(o))
					require.Equal(t, want, o.Judge(f, f))
					require.Equal(t, want, o.Judge(classify.NewChain(f), classify.Also(f)))
					require.Equal(t, want, o.Judge(nil, nil))
				}
			}
			require.Empty(t, f.asked)
		})
	}
}

func TestTheOutermostVerdictThatAnErrorCarriesCounts(t *testing.T) {
	t.Parallel()
	inner := &classify.JudgedError{Verdict: classify.RetryAs(classify.Server)}
	outer := &classify.JudgedError{Verdict: classify.Forbidden(), Err: fmt.Errorf("call: %w", inner)}
	require.Equal(t, classify.Forbidden(), verdictOf(outer))
	none := &classify.JudgedError{Err: inner}
	require.Equal(t, classify.Verdict{}, verdictOf(fmt.Errorf("call: %w", none)))
}

func TestAVerdictOfOneOfSeveralErrorsDoesNotDecideForAll(t *testing.T) {
	t.Parallel()
	again := &classify.JudgedError{Verdict: classify.RetryAs(classify.Server)}
	require.Equal(t, classify.Verdict{}, verdictOf(errors.Join(again)))
	require.Equal(t, classify.Verdict{}, verdictOf(fmt.Errorf("%w: %w", errors.New("other"), again)))
	require.Equal(t, classify.Verdict{}, verdictOf(fmt.Errorf("call: %w", errors.Join(again, errors.New("other")))))
	never := &classify.JudgedError{Verdict: classify.Forbidden(), Err: statusError(503)}
	require.Equal(t, classify.RetryAs(classify.Transient), verdictOf(errors.Join(never)), "the error in it speaks for itself")
}

func TestACarriedVerdictTakesTheHintOfItsError(t *testing.T) {
	t.Parallel()
	hint := func(after time.Duration) error { return hintError{after: after, hinted: true} }
	throttle := classify.RetryAs(classify.Throttling)
	judged := func(v classify.Verdict, err error) error { return &classify.JudgedError{Verdict: v, Err: err} }
	for _, c := range []struct {
		name string
		err  error
		want classify.Verdict
	}{
		{"its error", judged(throttle, hint(time.Second)), throttle.WithHint(time.Second)},
		{"joined in it", judged(throttle, errors.Join(hint(1), hint(2))), throttle.WithHint(1)},
		{"below another judged error", judged(throttle, judged(classify.Forbidden(), hint(1))), throttle.WithHint(1)},
		{"a hint of its own", judged(throttle.WithHint(time.Minute), hint(time.Second)), throttle.WithHint(time.Minute)},
		{"no error in it", judged(throttle, nil), throttle},
		{"no retry", judged(classify.Forbidden(), hint(time.Second)), classify.Forbidden()},
		{"no opinion", judged(classify.Verdict{}, hint(time.Second)), classify.Verdict{}},
		{"around it", &aroundError{answer: answer{hintError: hintError{after: 1, hinted: true}}, inner: judged(throttle, nil)}, throttle},
		{
			"around it and in it",
			&aroundError{answer: answer{hintError: hintError{after: 1, hinted: true}}, inner: judged(throttle, hint(2))},
			throttle.WithHint(2),
		},
	} {
		require.Equal(t, c.want, verdictOf(c.err), c.name)
		require.Equal(t, c.want, classify.Outcome{Err: c.err}.Judge(nil, nil), c.name)
	}
}

func TestAJudgedErrorSpeaksForItsError(t *testing.T) {
	t.Parallel()
	cause, reason := codeError("SlowDown"), errors.New("not sent again")
	judged := &classify.JudgedError{Verdict: classify.Forbidden(), Err: cause, Reason: reason}
	require.EqualError(t, judged, "code SlowDown")
	require.ErrorIs(t, judged, cause)
	require.NotErrorIs(t, judged, reason)

	value := &classify.JudgedError{Verdict: classify.RetryAs(classify.Throttling)}
	require.EqualError(t, value, "classify: judged retry(throttling)")
	require.NoError(t, value.Unwrap())
	value.Reason = reason
	require.EqualError(t, value, "classify: judged retry(throttling): not sent again")
	require.NoError(t, value.Unwrap())
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
		{"no opinion", classify.Verdict{}, hintError{after: time.Second, hinted: true}, classify.Verdict{}},
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
		require.Equal(t, classify.Verdict{}, verdictOf(hintError{status, time.Second, true}), "status %d", status)
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
