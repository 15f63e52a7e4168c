package classify_test

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestTheTrailSaysWhoSaidWhat(t *testing.T) {
	t.Parallel()
	none, transient := classify.None(), classify.RetryAs(classify.Transient)
	throttle, forbidden := classify.RetryAs(classify.Throttling), classify.Forbidden()
	throttled := &answer{hintError{status: 503}, "SlowDown"}
	veto := classify.WithPriority(&fixed{name: "veto", verdict: forbidden}, classify.After(classify.CodePriority()))
	for _, c := range []struct {
		name  string
		chain *classify.Chain
		err   error
		want  classify.Verdict
		trail classify.Trail
	}{
		{"a verdict and a later one", classify.Default(), throttled, throttle, classify.Trail{
			{"http-status", transient}, {"aws-code", throttle}, {"clock-skew", none}, {"modeled", none}, {"transport", none}, {"traits", none},
		}},
		{"forbidden ends it", classify.Default().With(veto), throttled, forbidden, classify.Trail{
			{"http-status", transient}, {"aws-code", throttle}, {"veto", forbidden},
		}},
		{"a judged error", classify.Default(), &classify.JudgedError{Verdict: throttle}, throttle, classify.Trail{{"judged", throttle}}},
		{"no classifiers", classify.NewChain(), throttled, none, nil},
		{"no chain", nil, throttled, none, nil},
		{"no error", classify.Default(), nil, none, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, trail := c.chain.Explain(classify.Outcome{Err: c.err})
			require.Equal(t, c.want, got)
			require.Equal(t, c.trail, trail)
		})
	}
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

// TestExplainAgreesWithClassify runs the errors of all other tests that can be
// listed through chains of several shapes: the built-in classifiers that a chain
// begins with are called in a shorter way, which must not show.
func TestExplainAgreesWithClassify(t *testing.T) {
	t.Parallel()
	late := classify.WithPriority(classify.Status(404), classify.After(classify.TraitsPriority()))
	middle := classify.WithPriority(&fixed{name: "middle", verdict: classify.RetryAs(classify.Client)}, classify.Before(classify.TransportPriority()))
	chains := map[string]*classify.Chain{
		"default":         classify.Default(),
		"compatible":      classify.AWSCompatible(),
		"without the end": classify.Default().Without("traits", "transport"),
		"without a part":  classify.Default().Without("aws-code", "modeled"),
		"twice":           classify.Default().With(classify.Default()),
		"out of place":    classify.Default().With(late),
		"in between":      classify.Default().With(middle),
		"custom at last":  classify.Default().With(&fixed{name: "last", verdict: classify.None()}),
		"upside down": classify.NewChain(
			classify.WithPriority(classify.Traits(classify.UnknownRetried), classify.Before(classify.StatusPriority())),
			classify.Transport(), classify.Status(),
		),
	}
	for name, chain := range chains {
		for _, err := range manyErrors() {
			o := classify.Outcome{Err: err, Service: "DynamoDB"}
			want, trail := chain.Explain(o)
			require.Equal(t, want, chain.Classify(o), "%s, %v: %v", name, err, trail)
			require.Equal(t, want, classify.Layered(chain, classify.Add(), o), "%s, %v: %v", name, err, trail)
		}
	}
}

// manyErrors are errors of every sort, and each pair of them joined.
func manyErrors() []error {
	single := []error{
		errors.New("plain"), statusError(404), statusError(429), statusError(503), codeError("SlowDown"),
		codeError("RequestTimeout"), codeError("ReplicatedWriteConflictException"), codeError("NoSuchKey"),
		timeoutError{},
		temporaryError{},
		hintError{status: 500, after: 1, hinted: true},
		safetyError(classify.SafetyNo), safetyError(classify.SafetyYes), safetyError(classify.SafetyUnknown),
		faultError(classify.FaultServer), throttlingError(true),
		&classify.SkewedError{Observed: 1 << 40, Err: codeError("AuthFailure")},
		&classify.JudgedError{Verdict: classify.Forbidden(), Err: statusError(503)},
	}
	all := single
	for _, a := range single {
		for _, b := range single {
			all = append(all, errors.Join(a, b))
		}
	}
	return all
}
