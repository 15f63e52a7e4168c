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
	for text, c := range map[string]struct {
		verdict classify.Verdict
		kind    classify.Kind
	}{
		"none":                      {classify.RetryAs(classify.KindNone), classify.KindNone},
		"forbid":                    {forbidden, classify.KindNone},
		"retry(throttling)":         {throttle, classify.Throttling},
		"retry(transient)":          {transient, classify.Transient},
		"retry(timeout)":            {timeout, classify.Timeout},
		"retry(server)":             {ofServer, classify.Server},
		"retry(client)":             {ofClient, classify.Client},
		"retry(clock_skew)":         {skew, classify.ClockSkew},
		"retry(timeout, at most 1)": {timeout.AtMost(1), classify.Timeout},
		"retry(unknown)":            {classify.RetryAs(math.MaxUint8), math.MaxUint8},
	} {
		require.Equal(t, strings.HasPrefix(text, "retry"), c.verdict.Retryable(), text)
		require.Equal(t, text == "forbid", c.verdict.Forbids(), text)
		require.Equal(t, c.kind, c.verdict.Kind(), text)
		require.Equal(t, text, c.verdict.String())
		after, hinted := c.verdict.Hint()
		require.Zero(t, after, text)
		require.False(t, hinted, text)
	}
	require.Equal(t, none, classify.RetryAs(classify.KindNone))
	require.Equal(t, "none", classify.KindNone.String(), "it is in no verdict")
}

func TestOnlyARetryCarriesAHint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from   classify.Verdict
		hint   time.Duration
		after  time.Duration
		hinted bool
	}{
		"retry":                         {throttle, 3 * time.Second, 3 * time.Second, true},
		"longest":                       {throttle, math.MaxInt64, math.MaxInt64, true},
		"none at all is a hint":         {throttle, 0, 0, true},
		"negative is no hint":           {throttle, -1, 0, false},
		"a later hint replaces":         {throttle.WithHint(time.Minute), time.Second, time.Second, true},
		"a later negative one does not": {throttle.WithHint(time.Minute), -1, time.Minute, true},
		"no opinion":                    {none, time.Second, 0, false},
		"forbidden":                     {forbidden, time.Second, 0, false},
	} {
		verdict := c.from.WithHint(c.hint)
		after, hinted := verdict.Hint()
		require.Equal(t, c.after, after, name)
		require.Equal(t, c.hinted, hinted, name)
		require.Equal(t, actionOf(c.from), actionOf(verdict), name)
		require.Equal(t, c.from.Kind(), verdict.Kind(), name)
	}
	_, hinted := throttle.Hint()
	require.False(t, hinted, "a verdict does not change")
}

func TestOnlyARetryIsLimitedToANumberOfAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from   classify.Verdict
		atMost int
		want   int
	}{
		"retry":                       {transient, 10, 10},
		"one":                         {transient, 1, 1},
		"the largest":                 {transient, math.MaxInt32, math.MaxInt32},
		"above the largest":           {transient, math.MaxInt, math.MaxInt32},
		"zero is no limit":            {transient, 0, 0},
		"negative is no limit":        {transient, -1, 0},
		"a later smaller one counts":  {transient.AtMost(10), 5, 5},
		"a later larger one does not": {transient.AtMost(5), 10, 5},
		"a later zero does not":       {transient.AtMost(5), 0, 5},
		"beside a hint":               {transient.WithHint(time.Second), 10, 10},
		"no opinion":                  {none, 10, 0},
		"forbidden":                   {forbidden, 10, 0},
	} {
		verdict := c.from.AtMost(c.atMost)
		require.Equal(t, c.want, verdict.MaxAttempts(), name)
		require.Equal(t, actionOf(c.from), actionOf(verdict), name)
		require.Equal(t, c.from.Kind(), verdict.Kind(), name)
		after, hinted := c.from.Hint()
		gotAfter, gotHinted := verdict.Hint()
		require.Equal(t, []any{after, hinted}, []any{gotAfter, gotHinted}, name)
	}
	require.Zero(t, transient.MaxAttempts(), "a verdict does not change")
	require.Equal(t, transient.AtMost(3).WithHint(1), transient.WithHint(1).AtMost(3))
	require.NotEqual(t, transient, transient.AtMost(3))
	require.LessOrEqual(t, unsafe.Sizeof(transient), uintptr(16))
}

// few limits what the classifiers before it have judged.
type few struct{}

func (few) Name() string                                 { return "few" }
func (few) Classify(o classify.Outcome) classify.Verdict { return o.Previous.AtMost(2) }

func TestALimitOfAttemptsIsPartOfTheOpinion(t *testing.T) {
	t.Parallel()
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
		{"nothing to limit", classify.Default(), classify.Also(few{}), statusError(404), none},
		{"with the hint of the error", classify.Default(), classify.Also(few{}), hinted, transient.AtMost(2).WithHint(time.Second)},
		{"what the error carries", few{}, nil, &classify.JudgedError{Verdict: throttle.AtMost(7)}, throttle.AtMost(7)},
		{"what the error carries, with its hint", few{}, nil, &classify.JudgedError{Verdict: throttle.AtMost(7), Err: hinted}, throttle.AtMost(7).WithHint(time.Second)},
	} {
		require.Equal(t, c.want, classify.Outcome{Err: c.err}.Judge(c.strategy, c.operation), c.name)
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
	f := &fixed{name: "f", verdict: ofServer}
	for _, want := range []classify.Verdict{forbidden, none, throttle, skew.WithHint(time.Second)} {
		err := error(&classify.JudgedError{Verdict: want, Err: statusError(503)})
		for _, err := range []error{err, fmt.Errorf("call: %w", err), &url.Error{Op: "Get", Err: err}, &aroundError{inner: err}} {
			for _, before := range []classify.Verdict{none, ofClient, forbidden} {
				o := classify.Outcome{Err: err, Previous: before}
				require.Equal(t, want, classify.NewChain(classify.Status(), f).Classify(o))
				require.Equal(t, want, o.Judge(f, f))
				require.Equal(t, want, o.Judge(classify.NewChain(f), classify.Also(f)))
				require.Equal(t, want, o.Judge(nil, nil))
			}
		}
	}
	require.Empty(t, f.asked)
}

func TestTheOutermostVerdictThatAnErrorCarriesCountsUnlessItIsOneOfSeveral(t *testing.T) {
	t.Parallel()
	again := &classify.JudgedError{Verdict: ofServer}
	never := &classify.JudgedError{Verdict: forbidden, Err: statusError(503)}
	for _, c := range []row{
		{"around another", &classify.JudgedError{Verdict: forbidden, Err: fmt.Errorf("call: %w", again)}, forbidden},
		{"no opinion around another", fmt.Errorf("call: %w", &classify.JudgedError{Err: again}), none},
		{"one of one", errors.Join(again), none},
		{"one of two", fmt.Errorf("%w: %w", errors.New("other"), again), none},
		{"one of two below", fmt.Errorf("call: %w", errors.Join(again, errors.New("other"))), none},
		{"the error in it speaks for itself", errors.Join(never), transient},
	} {
		require.Equal(t, c.want, verdictOf(c.err), c.name)
	}
}

func TestACarriedVerdictTakesTheHintOfItsError(t *testing.T) {
	t.Parallel()
	hint := func(after time.Duration) error { return hintError{after: after, hinted: true} }
	judged := func(v classify.Verdict, err error) error { return &classify.JudgedError{Verdict: v, Err: err} }
	for _, c := range []row{
		{"its error", judged(throttle, hint(time.Second)), throttle.WithHint(time.Second)},
		{"joined in it", judged(throttle, errors.Join(hint(1), hint(2))), throttle.WithHint(1)},
		{"below another judged error", judged(throttle, judged(forbidden, hint(1))), throttle.WithHint(1)},
		{"a hint of its own", judged(throttle.WithHint(time.Minute), hint(time.Second)), throttle.WithHint(time.Minute)},
		{"no error in it", judged(throttle, nil), throttle},
		{"no retry", judged(forbidden, hint(time.Second)), forbidden},
		{"no opinion", judged(none, hint(time.Second)), none},
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
	judged := &classify.JudgedError{Verdict: forbidden, Err: cause, Reason: reason}
	require.EqualError(t, judged, "code SlowDown")
	require.ErrorIs(t, judged, cause)
	require.NotErrorIs(t, judged, reason)

	value := &classify.JudgedError{Verdict: throttle}
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
