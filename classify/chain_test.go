package classify_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// changed returns what changes a chain without an error.
func changed(t *testing.T) func(*classify.Chain, error) *classify.Chain {
	t.Helper()
	return func(c *classify.Chain, err error) *classify.Chain {
		t.Helper()
		require.NoError(t, err)
		return c
	}
}

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
	none, forbidden := classify.Verdict{}, classify.Forbidden()
	server, client := classify.RetryAs(classify.Server), classify.RetryAs(classify.Client)
	for _, c := range []struct {
		name  string
		says  []classify.Verdict
		want  classify.Verdict
		asked int
	}{
		{"no classifiers", nil, none, 0},
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
	second := &fixed{verdict: classify.Verdict{}}
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
			require.Equal(t, classify.Verdict{}, chain.Classify(classify.Outcome{Err: statusError(500)}))
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
	require.Equal(t, classify.Verdict{}, classify.NewChain(f).Classify(classify.Outcome{}))
	before := classify.RetryAs(classify.Client)
	require.Equal(t, before, classify.NewChain(f).Classify(classify.Outcome{Previous: before}))
	require.Empty(t, f.asked)
	for _, c := range builtIn() {
		require.Equal(t, classify.Verdict{}, c.Classify(classify.Outcome{}), c.Name())
	}
}

// builtIn are the built-in classifiers in the order of the default chain.
func builtIn() []classify.Classifier {
	return []classify.Classifier{
		classify.Status(), classify.Code(), classify.Skew(), classify.Modeled(), classify.Transport(),
		classify.Traits(false),
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
		&skewedError{used: time.Hour, err: codeError("AuthFailure")},
		codeError("ReplicatedWriteConflictException"),
		temporaryError{},
		yes,
	} {
		for j, c := range builtIn() {
			got := c.Classify(classify.Outcome{Err: err, Service: "dynamodb"})
			require.Equal(t, i == j, got.Retryable(), "%s of %v", c.Name(), err)
		}
	}
}

// says is a classifier that has no opinion and writes down that it was asked.
type says struct {
	name  string
	asked *[]string
}

func (r says) Name() string { return r.name }

func (r says) Classify(classify.Outcome) classify.Verdict {
	*r.asked = append(*r.asked, r.name)
	return classify.Verdict{}
}

func TestAChainIsChangedByMakingAnother(t *testing.T) {
	t.Parallel()
	var asked []string
	of := func(name string) classify.Classifier { return says{name, &asked} }
	chain := classify.NewChain(of("a"), of("b"), of("a"), of("c"))
	for _, c := range []struct {
		name  string
		chain *classify.Chain
		want  string
	}{
		{"as it is", chain, "a b a c"},
		{"before the first", changed(t)(chain.InsertBefore("a", of("x"), of("y"))), "x y a b a c"},
		{"before another", changed(t)(chain.InsertBefore("c", of("x"))), "a b a x c"},
		{"before, nothing", changed(t)(chain.InsertBefore("c", nil)), "a b a c"},
		{"after the last", changed(t)(chain.InsertAfter("a", of("x"), of("y"))), "a b a x y c"},
		{"after another", changed(t)(chain.InsertAfter("c", of("x"))), "a b a c x"},
		{"after, nothing", changed(t)(chain.InsertAfter("a")), "a b a c"},
		{"a chain", changed(t)(chain.InsertAfter("b", classify.NewChain(of("x"), of("y")))), "a b x y a c"},
		{"one from Also", changed(t)(chain.InsertBefore("b", classify.Also(of("x"), nil, of("y")))), "a x y b a c"},
		{"replaced", changed(t)(chain.Replace("b", of("x"))), "a x a c"},
		{"replaced by several", changed(t)(chain.Replace("b", nil, of("x"), of("y"))), "a x y a c"},
		{"two replaced", changed(t)(chain.Replace("a", of("x"))), "x b c"},
		{"replaced by nothing", changed(t)(chain.Replace("a")), "b c"},
		{"replaced by its name", changed(t)(chain.Replace("a", of("a"))), "a b c"},
		{"without one", changed(t)(chain.Without("b")), "a a c"},
		{"without two of a name", changed(t)(chain.Without("a")), "b c"},
		{"without several", changed(t)(chain.Without("a", "c", "a")), "b"},
		{"without all", changed(t)(chain.Without("a", "b", "c")), ""},
		{"without none", changed(t)(chain.Without()), "a b a c"},
		{"no chain, without none", changed(t)((*classify.Chain)(nil).Without()), ""},
		{"several chains", classify.NewChain(of("x"), chain, nil, (*classify.Chain)(nil), classify.NewChain(of("y"))), "x a b a c y"},
		{"and what Also returns", classify.NewChain(chain, classify.Also(classify.Also(of("x")), of("y"))), "a b a c x y"},
	} {
		asked = nil
		c.chain.Classify(classify.Outcome{Err: errors.New("failed")})
		require.Equal(t, c.want, strings.Join(asked, " "), c.name)
		asked = nil
		_, trail := c.chain.Explain(classify.Outcome{Err: errors.New("failed")})
		require.Len(t, trail, len(asked), c.name)
	}
}

func TestBuiltInClassifiersCanBeMovedAndLeftOut(t *testing.T) {
	t.Parallel()
	o := classify.Outcome{Err: joinAnswer(503, "SlowDown")}
	transient, throttle := classify.RetryAs(classify.Transient), classify.RetryAs(classify.Throttling)
	whole := classify.Default()
	require.Equal(t, transient, changed(t)(whole.Without("aws-code")).Classify(o))
	require.Equal(t, throttle, changed(t)(whole.Without("http-status")).Classify(o))
	require.Equal(t, classify.Verdict{}, changed(t)(whole.Without("http-status", "aws-code")).Classify(o))
	client := &fixed{name: "client", verdict: classify.RetryAs(classify.Client)}
	require.Equal(t, throttle, changed(t)(whole.InsertBefore("aws-code", client)).Classify(o))
	require.Equal(t, client.verdict, changed(t)(whole.InsertAfter("aws-code", client)).Classify(o))
	require.Equal(t, throttle, whole.Classify(o), "the first one is as it was")
}

func TestAnUnknownNameIsAnErrorThatSaysWhichThereAre(t *testing.T) {
	t.Parallel()
	f := &fixed{name: "x"}
	for _, change := range []func(c *classify.Chain) (*classify.Chain, error){
		func(c *classify.Chain) (*classify.Chain, error) { return c.InsertBefore("modelled", f) },
		func(c *classify.Chain) (*classify.Chain, error) { return c.InsertAfter("modelled", f) },
		func(c *classify.Chain) (*classify.Chain, error) { return c.Replace("modelled", f) },
		func(c *classify.Chain) (*classify.Chain, error) { return c.Without("modelled") },
	} {
		chain, err := change(classify.NewChain(classify.Status(), classify.Code()))
		require.Nil(t, chain)
		require.EqualError(t, err, `classify: the chain has no classifier of this name: "modelled", only ["http-status" "aws-code"]`)
		for _, empty := range []*classify.Chain{nil, {}} {
			_, err = change(empty)
			require.EqualError(t, err, `classify: the chain has no classifier of this name: "modelled", only []`)
		}
	}
	_, err := classify.Default().Without("modeled", "")
	require.ErrorContains(t, err, `this name: "", only`)
}
