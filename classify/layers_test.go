package classify_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// says is a classifier that has no opinion and writes down that it was asked.
func says(name string, p classify.Priority, asked *[]string) classify.Classifier {
	return classify.WithPriority(recorder{name, asked}, p)
}

type recorder struct {
	name  string
	asked *[]string
}

func (r recorder) Name() string { return r.name }

func (r recorder) Classify(classify.Outcome) classify.Verdict {
	*r.asked = append(*r.asked, r.name)
	return classify.None()
}

func TestAChainRunsByPriorityAndEqualOnesAsTheyWereRegistered(t *testing.T) {
	t.Parallel()
	var asked []string
	of := func(name string, p classify.Priority) classify.Classifier { return says(name, p, &asked) }
	status, code := classify.StatusPriority(), classify.CodePriority()
	chain := classify.NewChain(
		of("last of equals", classify.Priority{}), of("highest", classify.After(classify.Priority{})),
		of("after status", classify.After(status)), of("code", code),
		classify.NewChain(of("nested chain, before status", classify.Before(status)), of("nested chain", classify.Priority{})),
		of("status", status), of("status again", status), of("before code", classify.Before(code)),
	)
	chain.Classify(classify.Outcome{Err: errors.New("failed")})
	require.Equal(t, []string{
		"nested chain, before status", "status", "status again", "after status", "before code", "code",
		"last of equals", "nested chain", "highest",
	}, asked)
}

// TestTheOrderDoesNotDependOnTheLayer registers the same classifiers with the
// strategy and with the operation, in all ways to share them out.
func TestTheOrderDoesNotDependOnTheLayer(t *testing.T) {
	t.Parallel()
	names := []string{"before status", "after code", "before traits", "plain", "highest"}
	priorities := []classify.Priority{
		classify.Before(classify.StatusPriority()), classify.After(classify.CodePriority()),
		classify.Before(classify.TraitsPriority()),
		{},
		classify.After(classify.Priority{}),
	}
	for shared := range 1 << len(names) {
		var asked []string
		strategy, operation := classify.Default(), classify.Add()
		for i, name := range slices.Backward(names) {
			if c := says(name, priorities[i], &asked); shared&(1<<i) == 0 {
				strategy = strategy.With(c)
			} else {
				operation = operation.With(c)
			}
		}
		got := classify.Layered(strategy, operation, classify.Outcome{Err: statusError(503)})
		require.Equal(t, classify.RetryAs(classify.Transient), got)
		require.Equal(t, names, asked, "shared out as %b", shared)
	}
}

// constant always says the same, to whoever asks at the same time.
type constant struct{ verdict classify.Verdict }

func (constant) Name() string                                 { return "constant" }
func (c constant) Classify(classify.Outcome) classify.Verdict { return c.verdict }

func TestWhatAnOperationDoesToTheClassifiersOfItsStrategy(t *testing.T) {
	t.Parallel()
	veto := constant{classify.Forbidden()}
	client, server := constant{classify.RetryAs(classify.Client)}, constant{classify.RetryAs(classify.Server)}
	early := classify.WithPriority(client, classify.Before(classify.StatusPriority()))
	none, transient := classify.None(), classify.RetryAs(classify.Transient)
	var nothing *classify.Additions
	for _, c := range []struct {
		name                string
		strategy, operation classify.Classifier
		want                classify.Verdict
	}{
		{"nothing", classify.Default(), nil, transient},
		{"adds none", classify.Default(), classify.Add(), transient},
		{"adds nil ones", classify.Default(), classify.Add(nil, nil), transient},
		{"adds a nil list", classify.Default(), nothing, transient},
		{"adds one", classify.Default(), classify.Add(client), client.verdict},
		{"adds two, of which the later counts", classify.Default(), classify.Add(client, server), server.verdict},
		{"adds one to others", classify.Default(), classify.Add(client).With(server), server.verdict},
		{"adds one after the strategy's own", classify.NewChain(server), classify.Add(client), client.verdict},
		{"adds a lower one", classify.Default(), classify.Add(early), transient},
		{"forbids", classify.Default(), classify.Add(veto), veto.verdict},
		{"cannot lift what the strategy forbids", classify.NewChain(veto), classify.Add(client), veto.verdict},
		{"adds to a strategy that has no chain", server, classify.Add(client), client.verdict},
		{"adds a lower one to a strategy that has no chain", server, classify.Add(early), server.verdict},
		{"adds to an empty chain", classify.NewChain(), classify.Add(client), client.verdict},
		{"replaces all", classify.Default(), classify.NewChain(client), client.verdict},
		{"replaces all by nobody", classify.Default(), classify.NewChain(), none},
		{"replaces all by one", classify.Default(), server, server.verdict},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, classify.Layered(c.strategy, c.operation, classify.Outcome{Err: statusError(503)}))
		})
	}
}

func TestAdditionsAloneAddToTheDefaultChain(t *testing.T) {
	t.Parallel()
	added := classify.Add(&fixed{verdict: classify.None()})
	require.Equal(t, "additions", added.Name())
	require.Equal(t, classify.RetryAs(classify.Transient), added.Classify(classify.Outcome{Err: statusError(503)}))
	var nothing *classify.Additions
	before := classify.RetryAs(classify.Client)
	require.Equal(t, before, nothing.Classify(classify.Outcome{Err: statusError(503), Previous: before}))
	require.Equal(t, classify.None(), nothing.With().With(nil).Classify(classify.Outcome{Err: statusError(404)}))
}

func TestAdditionsLeaveAJudgedErrorAlone(t *testing.T) {
	t.Parallel()
	f := &fixed{verdict: classify.Forbidden()}
	judged := &classify.JudgedError{Verdict: classify.RetryAs(classify.Server), Err: statusError(503)}
	got := classify.Layered(classify.Default(), classify.Add(f), classify.Outcome{Err: judged})
	require.Equal(t, judged.Verdict, got)
	require.Empty(t, f.asked)
}

func TestAChainIsChangedByMakingAnother(t *testing.T) {
	t.Parallel()
	chain := classify.Default()
	err := statusError(503)
	judge := func(c *classify.Chain) classify.Verdict { return c.Classify(classify.Outcome{Err: err}) }
	transient, none := classify.RetryAs(classify.Transient), classify.None()
	require.Equal(t, none, judge(chain.Without("http-status")))
	require.Equal(t, none, judge(chain.Without("http-status", "no such one")))
	require.Equal(t, none, judge(chain.Replace(classify.Status(500), nil)))
	require.Equal(t, transient, judge(chain.Replace(classify.Status(503))))
	require.Equal(t, transient, judge(chain.With(nil)))
	require.Equal(t, transient, judge(chain.Without("http-status").With(classify.Status())))
	require.Equal(t, classify.Forbidden(), judge(chain.With(&fixed{verdict: classify.Forbidden()})))
	require.Equal(t, transient, judge(chain), "the first one is as it was")
	var nothing *classify.Chain
	require.Equal(t, transient, judge(nothing.With(classify.Status())))
	require.Equal(t, none, judge(nothing.Without("http-status")))
}

func TestAChainUnderAPriorityStaysInOnePiece(t *testing.T) {
	t.Parallel()
	var asked []string
	inner := classify.NewChain(says("inner last", classify.After(classify.Priority{}), &asked), says("inner first", classify.StatusPriority(), &asked))
	outer := classify.NewChain(
		says("code", classify.CodePriority(), &asked),
		classify.WithPriority(inner, classify.Before(classify.CodePriority())),
		says("status", classify.StatusPriority(), &asked),
	)
	outer.Classify(classify.Outcome{Err: errors.New("failed")})
	require.Equal(t, []string{"status", "inner first", "inner last", "code"}, asked)
}

func TestAdditionsOnWhatAnOperationHas(t *testing.T) {
	t.Parallel()
	client, server := classify.RetryAs(classify.Client), classify.RetryAs(classify.Server)
	added := classify.Add(classify.WithPriority(&fixed{verdict: client}, classify.After(classify.Priority{})))
	low := &fixed{verdict: server}
	o := classify.Outcome{Err: statusError(404)}
	for _, operation := range []classify.Classifier{nil, classify.Add(low), low, classify.NewChain(low)} {
		require.Equal(t, client, classify.Layered(classify.Default(), added.On(operation), o))
	}
	silent := classify.Add(&fixed{})
	require.Equal(t, server, classify.Layered(classify.NewChain(), silent.On(classify.Add(low)), o))
	require.Equal(t, server, classify.Layered(classify.NewChain(), silent.On(low), o))
	require.Equal(t, classify.None(), classify.Layered(low, silent.On(classify.NewChain()), o), "it had replaced the strategy's")
	require.Equal(t, server, classify.Layered(low, silent.On(nil), o))
}
