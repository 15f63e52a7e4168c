package classify_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// constant always says the same, to all that ask at the same time.
type constant struct{ verdict classify.Verdict }

func (constant) Name() string                                 { return "constant" }
func (c constant) Classify(classify.Outcome) classify.Verdict { return c.verdict }

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

func TestTheLaterClassifiersHearWhatTheEarlierOnesSaid(t *testing.T) {
	t.Parallel()
	f := &fixed{}
	o := classify.Outcome{Err: statusError(503), Service: "s3", Operation: "GetObject", Attempt: 2}
	o.Judge(classify.Default(), classify.Also(f))
	o.Previous = classify.RetryAs(classify.Transient)
	require.Equal(t, []classify.Outcome{o}, f.asked)
}

func TestJudgeAddsTheHintOfTheErrorToAnyRetry(t *testing.T) {
	t.Parallel()
	o := classify.Outcome{Err: hintError{status: 503, after: time.Second, hinted: true}}
	client := constant{classify.RetryAs(classify.Client)}
	want := client.verdict.WithHint(time.Second)
	require.Equal(t, want, o.Judge(classify.Default(), classify.Also(client)))
	require.Equal(t, want, o.Judge(classify.Default(), client))
	require.Equal(t, want, o.Judge(client, nil))
	require.Equal(t, want, o.Judge(client, classify.Also()))
	require.Equal(t, classify.Verdict{}, o.Judge(nil, nil))
}

func TestJudgeHasNothingToSayOfSuccess(t *testing.T) {
	t.Parallel()
	f := &fixed{verdict: classify.RetryAs(classify.Server)}
	before := classify.RetryAs(classify.Client)
	require.Equal(t, classify.Verdict{}, classify.Outcome{}.Judge(f, f))
	require.Equal(t, before, classify.Outcome{Previous: before}.Judge(f, classify.Also(f)))
	require.Empty(t, f.asked)
}
