package classify_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"
	"unsafe"

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
		{classify.RetryAs(classify.KindNone), "none", classify.KindNone, "none"},
		{classify.Forbidden(), "forbid", classify.KindNone, "forbid"},
		{classify.RetryAs(classify.Throttling), "retry", classify.Throttling, "retry(throttling)"},
		{classify.RetryAs(classify.Transient), "retry", classify.Transient, "retry(transient)"},
		{classify.RetryAs(classify.Timeout), "retry", classify.Timeout, "retry(timeout)"},
		{classify.RetryAs(classify.Server), "retry", classify.Server, "retry(server)"},
		{classify.RetryAs(classify.Client), "retry", classify.Client, "retry(client)"},
		{classify.RetryAs(classify.ClockSkew), "retry", classify.ClockSkew, "retry(clock_skew)"},
		{classify.RetryAs(classify.Timeout).AtMost(1), "retry", classify.Timeout, "retry(timeout, at most 1)"},
		{classify.RetryAs(math.MaxUint8), "retry", math.MaxUint8, "retry(unknown)"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.action, actionOf(c.verdict))
			require.Equal(t, c.action == "retry", c.verdict.Retryable())
			require.Equal(t, c.action == "forbid", c.verdict.Forbids())
			require.Equal(t, c.kind, c.verdict.Kind())
			require.Equal(t, c.text, c.verdict.String())
			after, hinted := c.verdict.Hint()
			require.Zero(t, after)
			require.False(t, hinted)
		})
	}
	require.Equal(t, "none", classify.KindNone.String(), "it is in no verdict")
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
			require.Equal(t, actionOf(c.from), actionOf(verdict))
			require.Equal(t, c.from.Kind(), verdict.Kind())
		})
	}
	_, hinted := retry.Hint()
	require.False(t, hinted, "a verdict does not change")
}

func TestOnlyARetryIsLimitedToANumberOfAttempts(t *testing.T) {
	t.Parallel()
	retry := classify.RetryAs(classify.Transient)
	for _, c := range []struct {
		name   string
		from   classify.Verdict
		atMost int
		want   int
	}{
		{"retry", retry, 10, 10},
		{"one", retry, 1, 1},
		{"the largest", retry, math.MaxInt32, math.MaxInt32},
		{"above the largest", retry, math.MaxInt, math.MaxInt32},
		{"zero is no limit", retry, 0, 0},
		{"negative is no limit", retry, -1, 0},
		{"most negative is no limit", retry, math.MinInt, 0},
		{"a later smaller one counts", retry.AtMost(10), 5, 5},
		{"a later larger one does not", retry.AtMost(5), 10, 5},
		{"a later zero does not", retry.AtMost(5), 0, 5},
		{"beside a hint", retry.WithHint(time.Second), 10, 10},
		{"no opinion", classify.Verdict{}, 10, 0},
		{"forbidden", classify.Forbidden(), 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			verdict := c.from.AtMost(c.atMost)
			require.Equal(t, c.want, verdict.MaxAttempts())
			require.Equal(t, actionOf(c.from), actionOf(verdict))
			require.Equal(t, c.from.Kind(), verdict.Kind())
			after, hinted := c.from.Hint()
			gotAfter, gotHinted := verdict.Hint()
			require.Equal(t, []any{after, hinted}, []any{gotAfter, gotHinted})
		})
	}
	require.Zero(t, retry.MaxAttempts(), "a verdict does not change")
	require.Equal(t, retry.AtMost(3).WithHint(1), retry.WithHint(1).AtMost(3))
	require.NotEqual(t, retry, retry.AtMost(3))
	require.LessOrEqual(t, unsafe.Sizeof(retry), uintptr(16))
}

// few limits what the classifiers before it have judged.
type few struct{}

func (few) Name() string                                 { return "few" }
func (few) Classify(o classify.Outcome) classify.Verdict { return o.Previous.AtMost(2) }

func TestALimitOfAttemptsIsPartOfTheOpinion(t *testing.T) {
	t.Parallel()
	transient, throttle := classify.RetryAs(classify.Transient), classify.RetryAs(classify.Throttling)
	ten := constant{transient.AtMost(10)}
	hinted := hintError{status: 503, after: time.Second, hinted: true}
	for _, c := range []struct {
		name                string
		strategy, operation classify.Classifier
		err                 error
		want                classify.Verdict
	}{
		{"the last opinion counts", classify.Default(), classify.Also(ten), statusError(503), ten.verdict},
		{"a later opinion takes it away", classify.NewChain(ten, classify.Status()), nil, statusError(503), transient},
		{"a later classifier without an opinion leaves it", classify.NewChain(ten, classify.Code()), nil, statusError(503), ten.verdict},
		{"a throttle that stays a throttle keeps it", classify.NewChain(constant{throttle.AtMost(10)}, classify.Status()), nil, statusError(503), throttle.AtMost(10)},
		{"the opinion before it", classify.Default(), classify.Also(few{}), statusError(503), transient.AtMost(2)},
		{"the opinion before it and the smaller number", ten, classify.Also(few{}), statusError(404), transient.AtMost(2)},
		{"nothing to limit", classify.Default(), classify.Also(few{}), statusError(404), classify.Verdict{}},
		{"with the hint of the error", classify.Default(), classify.Also(few{}), hinted, transient.AtMost(2).WithHint(time.Second)},
		{"what the error carries", few{}, nil, &classify.JudgedError{Verdict: throttle.AtMost(7)}, throttle.AtMost(7)},
		{"what the error carries, with its hint", few{}, nil, &classify.JudgedError{Verdict: throttle.AtMost(7), Err: hinted}, throttle.AtMost(7).WithHint(time.Second)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, classify.Outcome{Err: c.err}.Judge(c.strategy, c.operation))
		})
	}
	verdict, trail := classify.NewChain(classify.Status(), few{}).Explain(classify.Outcome{Err: statusError(503)})
	require.Equal(t, transient.AtMost(2), verdict)
	require.Equal(t, "http-status: retry(transient); few: retry(transient, at most 2)", trail.String())
}

// actionOf returns the word for what a verdict asks for.
func actionOf(v classify.Verdict) string {
	word, _, _ := strings.Cut(v.String(), "(")
	return word
}

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

func TestATrailIsOneAttributeOfALogRecord(t *testing.T) {
	t.Parallel()
	_, trail := classify.NewChain(classify.Status(), classify.Code()).Explain(classify.Outcome{Err: statusError(503)})
	require.Equal(t, "http-status: retry(transient); aws-code: none", trail.String())
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})).Info("classified", "trail", trail)
	require.Equal(t, "level=INFO msg=classified trail=\"http-status: retry(transient); aws-code: none\"\n", out.String())
}
