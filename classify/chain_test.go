package classify_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

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

func TestSuccessIsNotJudged(t *testing.T) {
	t.Parallel()
	f := &fixed{verdict: classify.RetryAs(classify.Server)}
	require.Equal(t, classify.Verdict{}, classify.NewChain(f).Classify(classify.Outcome{}))
	before := classify.RetryAs(classify.Client)
	require.Equal(t, before, classify.NewChain(f).Classify(classify.Outcome{Previous: before}))
	require.Equal(t, classify.Verdict{}, classify.Outcome{}.Judge(f, f))
	require.Equal(t, before, classify.Outcome{Previous: before}.Judge(f, classify.Also(f)))
	require.Empty(t, f.asked)
	for _, c := range builtIn() {
		require.Equal(t, classify.Verdict{}, c.Classify(classify.Outcome{}), c.Name())
	}
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

// TestVerdictsAllocateNothing runs alone: other tests allocate too.
func TestVerdictsAllocateNothing(t *testing.T) {
	call := func(status int, code string) error {
		return fmt.Errorf("operation: %w", &answer{hintError{status, time.Second, true}, codeError(code)})
	}
	strategy := classify.NewChain(classify.Default(), classify.Code(classify.Codes{"Odd": classify.Transient}))
	mixed := classify.NewChain(constant{}, strategy, constant{})
	also := classify.Also(classify.Status(404), constant{})
	for name, err := range map[string]error{
		"server error":     call(503, "ServiceUnavailable"),
		"throttle":         call(400, "ThrottlingException"),
		"final":            call(404, "NoSuchKey"),
		"modeled":          call(409, "RetryableConflictException"),
		"wire":             call(400, "com.amazon#Throttling:http://x"),
		"smithy":           errors.Join(statusError(400), smithyError{"ConditionalCheckFailedException", 2}),
		"safe":             fmt.Errorf("%w, %w", yes, statusError(404)),
		"unsafe":           no,
		"skew":             &skewedError{observed: time.Hour, err: codeError("AuthFailure")},
		"timeout":          &url.Error{Op: "Get", Err: opError("read", os.ErrDeadlineExceeded)},
		"closed":           &url.Error{Op: "Get", Err: io.EOF},
		"plain":            errors.New("plain"),
		"judged below":     fmt.Errorf("call: %w", &classify.JudgedError{Verdict: classify.Forbidden(), Err: call(503, "X")}),
		"judged":           &classify.JudgedError{Verdict: classify.RetryAs(classify.Server), Err: call(404, "X")},
		"end of an answer": errors.Join(io.ErrUnexpectedEOF, statusError(200)),
	} {
		o := classify.Outcome{Err: err, Service: "Bedrock AgentCore"}
		require.Zero(t, testing.AllocsPerRun(100, func() { strategy.Classify(o) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { mixed.Classify(o) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { also.Classify(o) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { o.Judge(strategy, also) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { o.Judge(constant{}, also) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { o.Judge(strategy, constant{}) }), name)
		require.Zero(t, testing.AllocsPerRun(100, func() { o.Judge(nil, nil) }), name)
	}
}

func TestWhatAnOperationDoesToTheClassifiersOfItsStrategy(t *testing.T) {
	t.Parallel()
	veto := constant{classify.Forbidden()}
	client, server := constant{classify.RetryAs(classify.Client)}, constant{classify.RetryAs(classify.Server)}
	none, transient := classify.Verdict{}, classify.RetryAs(classify.Transient)
	var noChain *classify.Chain
	for _, c := range []struct {
		name                string
		strategy, operation classify.Classifier
		want                classify.Verdict
	}{
		{"nothing", classify.Default(), nil, transient},
		{"nothing at all", nil, nil, none},
		{"adds none", classify.Default(), classify.Also(), transient},
		{"adds nil ones", classify.Default(), classify.Also(nil, nil), transient},
		{"adds one", classify.Default(), classify.Also(client), client.verdict},
		{"adds one without an opinion", classify.Default(), classify.Also(constant{}), transient},
		{"adds two, of which the later counts", classify.Default(), classify.Also(client, server), server.verdict},
		{"adds one to others", classify.Default(), classify.Also(classify.Also(client), server), server.verdict},
		{"adds a chain", classify.Default(), classify.Also(classify.NewChain(client, server)), server.verdict},
		{"adds one after the strategy's own", classify.NewChain(server), classify.Also(client), client.verdict},
		{"adds one after what the strategy adds", classify.Also(server), classify.Also(client), client.verdict},
		{"adds nothing to what the strategy adds", classify.Also(constant{}), classify.Also(), transient},
		{"leaves what the strategy adds", classify.Also(server), nil, server.verdict},
		{"forbids", classify.Default(), classify.Also(veto, client), veto.verdict},
		{"cannot lift what the strategy forbids", classify.NewChain(veto), classify.Also(client), veto.verdict},
		{"adds to a strategy that has no chain", server, classify.Also(client), client.verdict},
		{"adds to a strategy that forbids without a chain", veto, classify.Also(client), veto.verdict},
		{"adds to a strategy without a classifier", nil, classify.Also(client), client.verdict},
		{"adds to an empty chain", classify.NewChain(), classify.Also(client), client.verdict},
		{"adds to a nil chain", noChain, classify.Also(client), client.verdict},
		{"replaces all", classify.Default(), classify.NewChain(client), client.verdict},
		{"replaces all by no classifier", classify.Default(), classify.NewChain(), none},
		{"replaces all by a nil chain", classify.Default(), noChain, none},
		{"replaces all by one", classify.Default(), server, server.verdict},
		{"replaces what forbids", veto, server, server.verdict},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, classify.Outcome{Err: statusError(503)}.Judge(c.strategy, c.operation))
		})
	}
}

func TestClassifiersFromAlsoAloneAddToTheDefaultChain(t *testing.T) {
	t.Parallel()
	require.Equal(t, "also", classify.Also().Name())
	none, transient, client := classify.Verdict{}, classify.RetryAs(classify.Transient), classify.RetryAs(classify.Client)
	require.Equal(t, transient, classify.Also(constant{}).Classify(classify.Outcome{Err: statusError(503)}))
	require.Equal(t, client, classify.Also(constant{client}).Classify(classify.Outcome{Err: statusError(503)}))
	require.Equal(t, none, classify.Also().Classify(classify.Outcome{Err: statusError(404)}))
	require.Equal(t, client, classify.Also(constant{client}).Classify(classify.Outcome{Err: statusError(404)}))
}

func BenchmarkDefaultChain(b *testing.B) {
	call := func(status int, code string) error {
		return fmt.Errorf("operation error S3: GetObject: %w", &answer{hintError{status: status}, codeError(code)})
	}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"server", call(503, "ServiceUnavailable")},
		{"throttled", call(400, "ThrottlingException")},
		{"final", call(404, "NoSuchKey")},
		{"timeout", &url.Error{Op: "Get", Err: opError("read", os.ErrDeadlineExceeded)}},
		{"closed", &url.Error{Op: "Get", Err: io.EOF}},
		{"plain", errors.New("plain")},
	} {
		b.Run("case="+c.name, func(b *testing.B) {
			b.ReportAllocs()
			chain := classify.Default()
			for b.Loop() {
				chain.Classify(classify.Outcome{Err: c.err, Attempt: 1})
			}
		})
	}
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

func TestForbiddenBeforeTheChainStays(t *testing.T) {
	t.Parallel()
	o := classify.Outcome{Err: statusError(503), Previous: classify.Forbidden()}
	require.Equal(t, classify.Forbidden(), classify.Default().Classify(o))
}

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
