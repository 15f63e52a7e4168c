package classify_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// fixed is a classifier that always says the same. It keeps what it was asked.
type fixed struct {
	name    string
	verdict classify.Verdict
	asked   []classify.Outcome
}

func (f *fixed) Name() string { return f.name }

func (f *fixed) Classify(o classify.Outcome) classify.Verdict {
	f.asked = append(f.asked, o)
	return f.verdict
}

func TestChainTakesTheLastOpinionUnlessItIsForbidden(t *testing.T) {
	t.Parallel()
	none, forbidden := classify.None(), classify.Forbidden()
	server, client := classify.RetryAs(classify.Server), classify.RetryAs(classify.Client)
	for _, c := range []struct {
		name  string
		says  []classify.Verdict
		want  classify.Verdict
		asked int
	}{
		{"nobody", nil, none, 0},
		{"no opinions", []classify.Verdict{none, none, none}, none, 3},
		{"only the first", []classify.Verdict{server, none, none}, server, 3},
		{"only the last", []classify.Verdict{none, none, server}, server, 3},
		{"the later one of two", []classify.Verdict{server, client}, client, 2},
		{"the later one of two, other way round", []classify.Verdict{client, server}, server, 2},
		{"no opinion between two", []classify.Verdict{server, none, client}, client, 3},
		{"forbidden at once", []classify.Verdict{forbidden, server, client}, forbidden, 1},
		{"forbidden after a retry", []classify.Verdict{server, forbidden, client}, forbidden, 2},
		{"forbidden at last", []classify.Verdict{server, client, forbidden}, forbidden, 3},
		{"a hint of its own", []classify.Verdict{server, client.WithHint(time.Second), none}, client.WithHint(time.Second), 3},
		{"overridden with its hint", []classify.Verdict{client.WithHint(time.Second), server}, server, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var all []*fixed
			var classifiers []classify.Classifier
			for _, says := range c.says {
				f := &fixed{verdict: says}
				all, classifiers = append(all, f), append(classifiers, f)
			}
			got := classify.NewChain(classifiers...).Classify(classify.Outcome{Err: errors.New("failed")})
			require.Equal(t, c.want, got)
			for i, f := range all {
				require.Len(t, f.asked, map[bool]int{true: 1}[i < c.asked], "classifier %d", i)
			}
		})
	}
}

func TestChainTellsEachClassifierWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	first := &fixed{verdict: classify.RetryAs(classify.Server)}
	second := &fixed{verdict: classify.None()}
	third := &fixed{verdict: classify.RetryAs(classify.Client)}
	last := &fixed{}
	o := classify.Outcome{
		Err: errors.New("failed"), Service: "s3", Operation: "GetObject", Attempt: 2,
		Previous: classify.RetryAs(classify.Timeout),
	}
	classify.NewChain(first, second, third, last).Classify(o)
	for _, c := range []struct {
		classifier *fixed
		previous   classify.Kind
	}{{first, classify.Timeout}, {second, classify.Server}, {third, classify.Server}, {last, classify.Client}} {
		o.Previous = classify.RetryAs(c.previous)
		require.Equal(t, []classify.Outcome{o}, c.classifier.asked)
	}
}

func TestChainsWithoutClassifiersHaveNoOpinion(t *testing.T) {
	t.Parallel()
	for name, chain := range map[string]*classify.Chain{
		"nil": nil, "zero": {}, "empty": classify.NewChain(), "nil classifiers": classify.NewChain(nil, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, "chain", chain.Name())
			require.Equal(t, classify.None(), chain.Classify(classify.Outcome{Err: statusError(500)}))
			before := classify.RetryAs(classify.Client)
			require.Equal(t, before, chain.Classify(classify.Outcome{Err: statusError(500), Previous: before}))
		})
	}
}

func TestChainLeavesOutNilClassifiersAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	given := []classify.Classifier{
		nil, &fixed{verdict: classify.RetryAs(classify.Server)}, nil, &fixed{verdict: classify.RetryAs(classify.Client)}, nil,
	}
	chain := classify.NewChain(given...)
	require.Nil(t, given[0], "the caller's list is left alone")
	require.NotNil(t, given[1])
	for i := range given {
		given[i] = &fixed{verdict: classify.Forbidden()}
	}
	require.Equal(t, classify.RetryAs(classify.Client), chain.Classify(classify.Outcome{Err: errors.New("failed")}))
}

func TestChainsCanBeNested(t *testing.T) {
	t.Parallel()
	veto := classify.NewChain(&fixed{verdict: classify.Forbidden()})
	silent := classify.NewChain(&fixed{})
	outcome := classify.Outcome{Err: statusError(503)}
	require.Equal(t, classify.RetryAs(classify.Transient), classify.NewChain(classify.Default(), silent).Classify(outcome))
	require.Equal(t, classify.Forbidden(), classify.NewChain(classify.Default(), veto).Classify(outcome))
	require.Equal(t, classify.Forbidden(), classify.NewChain(veto, classify.Default()).Classify(outcome))
}

func TestChainHasNothingToSayOfSuccess(t *testing.T) {
	t.Parallel()
	f := &fixed{verdict: classify.RetryAs(classify.Server)}
	require.Equal(t, classify.None(), classify.NewChain(f).Classify(classify.Outcome{}))
	before := classify.RetryAs(classify.Client)
	require.Equal(t, before, classify.NewChain(f).Classify(classify.Outcome{Previous: before}))
	require.Empty(t, f.asked)
	for _, c := range builtIn() {
		require.Equal(t, classify.None(), c.Classify(classify.Outcome{}), c.Name())
	}
}

// builtIn are the built-in classifiers from the lowest priority to the highest.
func builtIn() []classify.Classifier {
	return []classify.Classifier{
		classify.Status(), classify.Code(), classify.Skew(), classify.Modeled(), classify.Transport(),
		classify.Traits(classify.UnknownOnServerFault),
	}
}

func TestBuiltInClassifiersHaveNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "chain", classify.Default().Name())
	var names []string
	for _, c := range builtIn() {
		names = append(names, c.Name())
	}
	require.Equal(t, []string{"http-status", "aws-code", "clock-skew", "modeled", "transport", "traits"}, names)
}

// TestBuiltInClassifiersAlone asks each of them without a chain.
func TestBuiltInClassifiersAlone(t *testing.T) {
	t.Parallel()
	for i, err := range []error{
		statusError(503), codeError("RequestTimeout"),
		&classify.SkewedError{Used: time.Hour, Err: codeError("AuthFailure")},
		codeError("ReplicatedWriteConflictException"),
		temporaryError{},
		yes,
	} {
		for j, c := range builtIn() {
			got := c.Classify(classify.Outcome{Err: err, Service: "dynamodb"})
			require.Equal(t, i == j, got.Action() == classify.Retry, "%s of %v", c.Name(), err)
		}
	}
}
