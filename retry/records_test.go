package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

type named struct{}

// told is an event and the context that it came with.
type told struct {
	retry.Event
	name any
}

// The state of an operation goes to the next one when it ends, whatever that is like.
func TestOperationKnowsNothingOfTheOneBefore(t *testing.T) {
	t.Parallel()
	all := retry.Operation{
		Account: "111122223333", Service: "s3", Region: "eu-west-1", Name: "GetObject", Resource: "orders",
		MaxAttempts: 2, MaxElapsed: time.Hour, LongPolling: true,
	}
	changed := func(change func(op *retry.Operation)) retry.Operation {
		op := all
		change(&op)
		return op
	}
	ops := []retry.Operation{
		all,
		changed(func(op *retry.Operation) { op.Account = "444455556666" }),
		changed(func(op *retry.Operation) { op.Account = "" }),
		changed(func(op *retry.Operation) { op.Service = "sqs" }),
		changed(func(op *retry.Operation) { op.Region = "us-east-1" }),
		changed(func(op *retry.Operation) { op.Resource = "users" }),
		changed(func(op *retry.Operation) { op.Name = "PutObject" }),
		changed(func(op *retry.Operation) { op.Scope = "mine" }),
		changed(func(op *retry.Operation) { op.Scope = "yours" }),
		{},
		{Name: "ListBuckets", MaxAttempts: 3},
	}
	clk := &clock.Fake{}
	var last told
	for mode, s := range modes(t, clk, func(c *standard.Config) {
		c.Observer = retry.ObserverFunc(func(ctx context.Context, e retry.Event) { last = told{e, ctx.Value(named{})} })
	}) {
		for _, before := range ops {
			for _, op := range ops {
				t.Run(mode, func(t *testing.T) { oneAfterAnother(t, clk, s, before, op, &last) })
			}
		}
	}
}

// oneAfterAnother lets an operation fail after a retry, and begins another one.
func oneAfterAnother(t *testing.T, clk *clock.Fake, s retry.Strategy, before, op retry.Operation, last *told) {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), before)
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	token, err = s.RefreshRetryToken(t.Context(), token, errServer)
	require.NoError(t, err)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.NoError(t, s.RecordFailure(token, errServer))
	quotas := quotasOf(s)

	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), named{}, "second"))
	cancel()
	token, err = s.AcquireInitialToken(ctx, op)
	require.NoError(t, err)
	refusal, ok := errors.AsType[*retry.Error](token.Wait(ctx))
	require.True(t, ok)
	require.Equal(t, &retry.Error{Reason: retry.ErrCanceled, Scope: op.Key(), Detail: context.Canceled}, refusal)
	if op.MaxElapsed > 0 {
		op.NotAfter = clk.Now().Add(op.MaxElapsed)
	}
	require.Equal(t, op, last.Operation)
	require.Equal(t, op.Key(), last.Scope)
	require.Equal(t, "second", last.name)
	require.NoError(t, last.Err)
	require.Equal(t, 1, token.Attempt())
	require.NoError(t, s.RecordFailure(token, refusal))
	for key, quota := range quotasOf(s) {
		if before, ok := quotas[key]; ok {
			require.Equal(t, before, quota, "it had taken nothing to give back")
		}
	}
}

func quotasOf(s retry.Strategy) map[retry.ScopeKey]int {
	quotas := make(map[retry.ScopeKey]int)
	for _, scope := range s.(snapshotter).Snapshot().Scopes {
		quotas[scope.Key] = scope.Quota
	}
	return quotas
}

// panicsFor is a classifier that panics for as many times.
type panicsFor struct{ left *int }

func (panicsFor) Name() string { return "panics for a while" }

func (p panicsFor) Classify(classify.Outcome) classify.Verdict {
	if *p.left--; *p.left >= 0 {
		panic("classifier")
	}
	return classify.RetryAs(classify.Transient)
}

func TestTokenIsWhatItWasAfterAPanicOfTheClassifier(t *testing.T) {
	t.Parallel()
	const times = 3
	for _, mode := range []string{"standard", "adaptive"} {
		for name, waits := range map[string]bool{"new": false, "waited for": true} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				left := times
				s := modes(t, &clock.Fake{}, func(c *standard.Config) { c.Classifier = panicsFor{&left} })[mode]
				for range 2 { // operations
					left = times
					token := acquire(t, s)
					if waits {
						require.NoError(t, token.Wait(t.Context()))
					}
					for range times {
						require.PanicsWithValue(t, "classifier", func() {
							_, _ = s.RefreshRetryToken(t.Context(), token, errServer)
						})
						require.Equal(t, 500, s.(snapshotter).Snapshot().Scopes[0].Quota)
					}
					if waits {
						require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
					} else {
						require.NoError(t, token.Wait(t.Context()))
					}
					next, err := s.RefreshRetryToken(t.Context(), token, errServer)
					require.NoError(t, err)
					require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
					require.NoError(t, next.WithoutDelay().Wait(t.Context()))
					require.NoError(t, s.RecordSuccess(next))
				}
			})
		}
	}
}

func TestTokenAcceptsOneRecordFailureAfterAPanicBeyondTheClassifier(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, func(c *standard.Config) {
		c.Random = func() float64 { panic("random") }
	}) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			token := acquire(t, s)
			require.NoError(t, token.Wait(t.Context()))
			require.PanicsWithValue(t, "random", func() { _, _ = s.RefreshRetryToken(t.Context(), token, errServer) })
			require.Equal(t, retry.ErrTokenUsed, s.RecordSuccess(token))
			_, err := s.RefreshRetryToken(t.Context(), token, errServer)
			require.Equal(t, retry.ErrTokenUsed, err)
			require.NoError(t, s.RecordFailure(token, errServer))
			require.Equal(t, retry.ErrTokenUsed, s.RecordFailure(token, errServer))
			require.Equal(t, 500, s.(snapshotter).Snapshot().Scopes[0].Quota)
		})
	}
}

// Long polling that the quota refuses sleeps once more before it ends.
func TestRefusedTokenIsWaitedForBeforeItsOperationEnds(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := modes(t, clk, func(c *standard.Config) { c.QuotaInitial = new(0) })[mode]
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{LongPolling: true})
			require.NoError(t, err)
			require.NoError(t, token.Wait(t.Context()))
			refused, err := s.RefreshRetryToken(t.Context(), token, errServer)
			require.ErrorIs(t, err, retry.ErrQuotaExhausted)
			require.Equal(t, time.Second, refused.Delay())

			waited := make(chan error)
			go func() { waited <- refused.Wait(t.Context()) }()
			require.NoError(t, clk.BlockUntil(t.Context(), 1))
			for verb, use := range verbs(s) {
				require.Equal(t, retry.ErrTokenUsed, use(t, refused), verb)
			}
			require.Equal(t, retry.ErrTokenUsed, refused.Wait(t.Context()))
			clk.AdvanceToNext()
			require.NoError(t, <-waited)
			require.Equal(t, retry.ErrTokenUsed, s.RecordSuccess(refused), "it is for no attempt")
			require.NoError(t, s.RecordFailure(refused, errServer))
			require.Equal(t, retry.ErrTokenUsed, refused.Wait(t.Context()))
			require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
		})
	}
}
