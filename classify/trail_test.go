package classify_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func step(name string, v classify.Verdict) classify.Step {
	return classify.Step{Classifier: name, Verdict: v}
}

func TestTheTrailHasWhatEachClassifierSaid(t *testing.T) {
	t.Parallel()
	none, transient := classify.Verdict{}, classify.RetryAs(classify.Transient)
	throttle, forbidden := classify.RetryAs(classify.Throttling), classify.Forbidden()
	throttled := &answer{hintError{status: 503}, "SlowDown"}
	veto := &fixed{name: "veto", verdict: forbidden}
	for _, c := range []struct {
		name  string
		chain *classify.Chain
		err   error
		want  classify.Verdict
		trail classify.Trail
	}{
		{"a verdict and a later one", classify.Default(), throttled, throttle, classify.Trail{
			step("http-status", transient), step("aws-code", throttle), step("clock-skew", none), step("modeled", none), step("transport", none), step("traits", none),
		}},
		{"forbidden ends it", changed(t)(classify.Default().InsertAfter("aws-code", veto)), throttled, forbidden, classify.Trail{
			step("http-status", transient), step("aws-code", throttle), step("veto", forbidden),
		}},
		{"a judged error", classify.Default(), &classify.JudgedError{Verdict: throttle}, throttle, classify.Trail{step("judged", throttle)}},
		{"a judged error that is wrapped", classify.Default(), &ring{&classify.JudgedError{Verdict: throttle}}, throttle, classify.Trail{step("judged", throttle)}},
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

// TestExplainAgreesWithClassify runs many errors through chains of several shapes.
// Classify calls the built-in classifiers in a shorter way where a chain begins with all
// of them, which must not show.
func TestExplainAgreesWithClassify(t *testing.T) {
	t.Parallel()
	middle, last := &fixed{name: "middle", verdict: classify.RetryAs(classify.Client)}, &fixed{name: "last"}
	whole := classify.Default()
	chains := map[string]*classify.Chain{
		"default":         whole,
		"compatible":      classify.AWSCompatible(),
		"without the end": changed(t)(whole.Without("traits", "transport")),
		"without a part":  changed(t)(whole.Without("aws-code", "modeled")),
		"twice":           classify.NewChain(whole, whole),
		"status again":    classify.NewChain(whole, classify.Status(404)),
		"in between":      changed(t)(whole.InsertBefore("transport", middle)),
		"custom at first": changed(t)(whole.InsertBefore("http-status", middle)),
		"custom at last":  classify.NewChain(whole, last),
		"upside down":     classify.NewChain(classify.Traits(true), classify.Transport(), classify.Status()),
		"six of another sort": classify.NewChain(
			classify.Traits(true), classify.Transport(), classify.Modeled(), classify.Skew(), classify.Code(), classify.Status()),
	}
	for name, chain := range chains {
		for _, err := range manyErrors() {
			for _, gone := range []bool{false, true} {
				o := classify.Outcome{Err: err, Service: "DynamoDB", CallerGone: gone}
				want, trail := chain.Explain(o)
				require.Equal(t, want, chain.Classify(o), "%s, %v: %v", name, err, trail)
				require.Equal(t, want, o.Judge(chain, classify.Also()), "%s, %v: %v", name, err, trail)
			}
		}
	}
}

// manyErrors are errors of every sort, and each pair of them joined.
func manyErrors() []error {
	single := []error{
		errors.New("plain"), statusError(404), statusError(429), statusError(503), codeError("SlowDown"),
		codeError("RequestTimeout"), codeError("ReplicatedWriteConflictException"), codeError("NoSuchKey"),
		timeoutError{},
		context.DeadlineExceeded, context.Canceled,
		temporaryError{},
		hintError{status: 500, after: 1, hinted: true},
		no, yes, unknown, faultError(true), throttlingError(true),
		&skewedError{observed: 1 << 40, err: codeError("AuthFailure")},
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
