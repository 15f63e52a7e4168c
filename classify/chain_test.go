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
	for name, c := range map[string]struct {
		says  []classify.Verdict
		want  classify.Verdict
		asked int
	}{
		"no classifiers":             {nil, none, 0},
		"no opinions":                {[]classify.Verdict{none, none, none}, none, 3},
		"only the first":             {[]classify.Verdict{ofServer, none, none}, ofServer, 3},
		"only the last":              {[]classify.Verdict{none, none, ofServer}, ofServer, 3},
		"no opinion between two":     {[]classify.Verdict{ofServer, none, ofClient}, ofClient, 3},
		"forbidden at once":          {[]classify.Verdict{forbidden, ofServer, ofClient}, forbidden, 1},
		"forbidden after a retry":    {[]classify.Verdict{ofServer, forbidden, ofClient}, forbidden, 2},
		"forbidden at last":          {[]classify.Verdict{ofServer, ofClient, forbidden}, forbidden, 3},
		"a hint of its own":          {[]classify.Verdict{ofServer, ofClient.WithHint(1), none}, ofClient.WithHint(1), 3},
		"overridden with its hint":   {[]classify.Verdict{ofClient.WithHint(1), ofServer}, ofServer, 2},
		"forbidden before the chain": {[]classify.Verdict{ofServer}, forbidden, 0},
	} {
		var all []*fixed
		var classifiers []classify.Classifier
		for _, says := range c.says {
			f := &fixed{verdict: says}
			all, classifiers = append(all, f), append(classifiers, nil, f)
		}
		o := classify.Outcome{Err: errors.New("failed"), Service: "s3", Operation: "GetObject", Attempt: 2}
		if c.asked == 0 {
			o.Previous = c.want
		}
		require.Equal(t, c.want, classify.NewChain(classifiers...).Classify(o), name)
		for i, f := range all {
			if i >= c.asked {
				require.Empty(t, f.asked, name)
				continue
			}
			require.Equal(t, []classify.Outcome{o}, f.asked, "%s: classifier %d is told what was said before", name, i)
			if f.verdict != none {
				o.Previous = f.verdict
			}
		}
	}
}

func TestChainsWithoutClassifiersHaveNoOpinion(t *testing.T) {
	t.Parallel()
	for name, chain := range map[string]*classify.Chain{
		"nil": nil, "zero": {}, "empty": classify.NewChain(), "nil classifiers": classify.NewChain(nil, nil),
	} {
		require.Equal(t, "chain", chain.Name(), name)
		for _, before := range []classify.Verdict{none, ofClient} {
			require.Equal(t, before, chain.Classify(classify.Outcome{Err: statusError(500), Previous: before}), name)
		}
	}
}

func TestChainKeepsTheClassifiersThatItWasGiven(t *testing.T) {
	t.Parallel()
	given := []classify.Classifier{nil, constant{ofServer}, nil, constant{ofClient}, nil}
	chain := classify.NewChain(given...)
	require.Nil(t, given[0], "the caller's list is left alone")
	require.NotNil(t, given[1])
	for i := range given {
		given[i] = constant{forbidden}
	}
	require.Equal(t, ofClient, chain.Classify(classify.Outcome{Err: errors.New("failed")}))
}

func TestSuccessIsNotJudged(t *testing.T) {
	t.Parallel()
	f := &fixed{verdict: ofServer}
	require.Equal(t, none, classify.NewChain(f).Classify(classify.Outcome{}))
	before := ofClient
	require.Equal(t, before, classify.NewChain(f).Classify(classify.Outcome{Previous: before}))
	require.Equal(t, none, classify.Outcome{}.Judge(f, f))
	require.Equal(t, before, classify.Outcome{Previous: before}.Judge(f, classify.Also(f)))
	require.Empty(t, f.asked)
	for _, c := range builtIn() {
		require.Equal(t, none, c.Classify(classify.Outcome{}), c.Name())
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
	return none
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

func TestAnUnknownNameIsAnErrorThatSaysWhichThereAre(t *testing.T) {
	t.Parallel()
	for chain, names := range map[*classify.Chain]string{
		classify.NewChain(classify.Status(), classify.Code()): `["http-status" "aws-code"]`, nil: "[]", {}: "[]",
	} {
		for _, change := range []func(name string, f ...classify.Classifier) (*classify.Chain, error){
			chain.InsertBefore, chain.InsertAfter, chain.Replace,
			func(name string, _ ...classify.Classifier) (*classify.Chain, error) { return chain.Without(name) },
		} {
			got, err := change("modelled", constant{})
			require.Nil(t, got)
			require.EqualError(t, err, `classify: the chain has no classifier of this name: "modelled", only `+names)
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
		"judged below":     fmt.Errorf("call: %w", &classify.JudgedError{Verdict: forbidden, Err: call(503, "X")}),
		"judged":           &classify.JudgedError{Verdict: ofServer, Err: call(404, "X")},
		"end of an answer": errors.Join(io.ErrUnexpectedEOF, statusError(200)),
	} {
		o := classify.Outcome{Err: err, Service: "Bedrock AgentCore"}
		for i, classifies := range []func() classify.Verdict{
			func() classify.Verdict { return strategy.Classify(o) }, func() classify.Verdict { return mixed.Classify(o) },
			func() classify.Verdict { return also.Classify(o) }, func() classify.Verdict { return o.Judge(strategy, also) },
			func() classify.Verdict { return o.Judge(constant{}, also) }, func() classify.Verdict { return o.Judge(nil, nil) },
		} {
			require.Zero(t, testing.AllocsPerRun(100, func() { classifies() }), "%s %d", name, i)
		}
	}
}

func TestWhatAnOperationDoesToTheClassifiersOfItsStrategy(t *testing.T) {
	t.Parallel()
	veto, client, server := constant{forbidden}, constant{ofClient}, constant{ofServer}
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
		require.Equal(t, c.want, classify.Outcome{Err: statusError(503)}.Judge(c.strategy, c.operation), c.name)
	}
}

func TestClassifiersFromAlsoAloneAddToTheDefaultChain(t *testing.T) {
	t.Parallel()
	require.Equal(t, "also", classify.Also().Name())
	for status, want := range map[statusError]classify.Verdict{503: transient, 404: none} {
		require.Equal(t, want, classify.Also(constant{}).Classify(classify.Outcome{Err: status}))
		require.Equal(t, ofClient, classify.Also(constant{ofClient}).Classify(classify.Outcome{Err: status}))
	}
}

func BenchmarkDefaultChain(b *testing.B) {
	call := func(status int, code string) error {
		return fmt.Errorf("operation error S3: GetObject: %w", &answer{hintError{status: status}, codeError(code)})
	}
	for _, c := range []row{
		{name: "server", err: call(503, "ServiceUnavailable")},
		{name: "throttled", err: call(400, "ThrottlingException")},
		{name: "final", err: call(404, "NoSuchKey")},
		{name: "timeout", err: &url.Error{Op: "Get", Err: opError("read", os.ErrDeadlineExceeded)}},
		{name: "closed", err: &url.Error{Op: "Get", Err: io.EOF}},
		{name: "plain", err: errors.New("plain")},
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
	asked := hintError{after: time.Second, hinted: true}
	for name, c := range map[string]struct {
		says classify.Verdict
		err  hintError
		want classify.Verdict
	}{
		"retry without a hint":  {throttle, asked, throttle.WithHint(time.Second)},
		"hint of zero":          {throttle, hintError{hinted: true}, throttle.WithHint(0)},
		"longest hint":          {throttle, hintError{after: math.MaxInt64, hinted: true}, throttle.WithHint(math.MaxInt64)},
		"negative hint":         {throttle, hintError{after: -1, hinted: true}, throttle},
		"time that is no hint":  {throttle, hintError{after: time.Second}, throttle},
		"hint of its own":       {throttle.WithHint(time.Minute), asked, throttle.WithHint(time.Minute)},
		"hint of its own, zero": {throttle.WithHint(0), asked, throttle.WithHint(0)},
		"no opinion":            {none, asked, none},
		"forbidden":             {forbidden, asked, forbidden},
	} {
		for how, err := range wrappings(c.err) {
			require.Equal(t, c.want, classify.NewChain(constant{c.says}).Classify(classify.Outcome{Err: err}), "%s, %s", name, how)
		}
	}
}

func step(name string, v classify.Verdict) classify.Step {
	return classify.Step{Classifier: name, Verdict: v}
}

func TestTheTrailHasWhatEachClassifierSaid(t *testing.T) {
	t.Parallel()
	throttled, judged := &answer{hintError{status: 503}, "SlowDown"}, &classify.JudgedError{Verdict: throttle}
	veto := &fixed{name: "veto", verdict: forbidden}
	for name, c := range map[string]struct {
		chain *classify.Chain
		err   error
		want  classify.Verdict
		trail classify.Trail
	}{
		"a verdict and a later one": {classify.Default(), throttled, throttle, classify.Trail{
			step("http-status", transient), step("aws-code", throttle), step("clock-skew", none),
			step("modeled", none), step("transport", none), step("protocol", none), step("traits", none),
		}},
		"forbidden ends it": {changed(t)(classify.Default().InsertAfter("aws-code", veto)), throttled, forbidden, classify.Trail{
			step("http-status", transient), step("aws-code", throttle), step("veto", forbidden),
		}},
		"a judged error":                 {classify.Default(), judged, throttle, classify.Trail{step("judged", throttle)}},
		"a judged error that is wrapped": {classify.Default(), &ring{judged}, throttle, classify.Trail{step("judged", throttle)}},
		"no classifiers":                 {classify.NewChain(), throttled, none, nil},
		"no chain":                       {nil, throttled, none, nil},
		"no error":                       {classify.Default(), nil, none, nil},
	} {
		got, trail := c.chain.Explain(classify.Outcome{Err: c.err})
		require.Equal(t, c.want, got, name)
		require.Equal(t, c.trail, trail, name)
	}
}

// TestExplainAgreesWithClassify runs many errors through chains of several shapes.
// Classify calls the built-in classifiers in a shorter way where a chain begins with all
// of them, which must not show.
func TestExplainAgreesWithClassify(t *testing.T) {
	t.Parallel()
	middle, last := &fixed{name: "middle", verdict: ofClient}, &fixed{name: "last"}
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
