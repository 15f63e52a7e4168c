package retry_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// verbs are the calls that use a token up.
func verbs(s retry.Strategy) map[string]func(t *testing.T, token retry.Token) error {
	return map[string]func(t *testing.T, token retry.Token) error{
		"refresh": func(t *testing.T, token retry.Token) error {
			t.Helper()
			_, err := s.RefreshRetryToken(t.Context(), token, errServer)
			return err
		},
		"success": func(t *testing.T, token retry.Token) error { t.Helper(); return s.RecordSuccess(token, retry.Result{}) },
		"failure": func(t *testing.T, token retry.Token) error { t.Helper(); return s.RecordFailure(token, errServer) },
	}
}

func TestTokenOfAnotherStrategyIsRefused(t *testing.T) {
	t.Parallel()
	others := modes(t, &clock.Fake{}, nil)
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		for verb, call := range verbs(s) {
			t.Run(mode+"/"+verb, func(t *testing.T) {
				t.Parallel()
				for _, other := range others {
					require.Equal(t, retry.ErrForeignToken, call(t, acquire(t, other)))
				}
				require.Equal(t, retry.ErrForeignToken, call(t, retry.Token{}))
			})
		}
	}
	require.Equal(t, retry.ErrForeignToken, retry.Token{}.Wait(t.Context()))
}

func TestTokenIsGoodForOneCall(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		for first, use := range verbs(s) {
			for second, again := range verbs(s) {
				t.Run(mode+"/"+first+" then "+second, func(t *testing.T) {
					t.Parallel()
					token := acquire(t, s)
					require.NoError(t, use(t, token))
					require.Equal(t, retry.ErrTokenUsed, again(t, token))
					require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
					// The state may be another operation's by now, and stays that one's.
					other := acquire(t, s)
					require.Equal(t, retry.ErrTokenUsed, again(t, token))
					require.NoError(t, s.RecordSuccess(other, retry.Result{}))
				})
			}
		}
	}
}

func TestRefusedTokenAcceptsOneRecordFailureOnly(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			for _, useReturned := range []bool{false, true} {
				token := acquire(t, s)
				returned, err := s.RefreshRetryToken(t.Context(), token, errClient)
				require.ErrorIs(t, err, retry.ErrNotRetryable)
				if useReturned {
					token, returned = returned, token
				}
				require.Equal(t, retry.ErrTokenUsed, s.RecordSuccess(token, retry.Result{}))
				_, err = s.RefreshRetryToken(t.Context(), token, errServer)
				require.Equal(t, retry.ErrTokenUsed, err)
				require.NoError(t, s.RecordFailure(token, errClient))
				require.Equal(t, retry.ErrTokenUsed, s.RecordFailure(token, errClient))
				require.Equal(t, retry.ErrTokenUsed, s.RecordFailure(returned, errClient))
			}
		})
	}
}

func TestTokenSaysWhichAttemptItIsForHoweverOld(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			first := acquire(t, s)
			second, err := s.RefreshRetryToken(t.Context(), first, errServer)
			require.NoError(t, err)
			require.NoError(t, s.RecordSuccess(second, retry.Result{}))
			require.Equal(t, []int{1, 2}, []int{first.Attempt(), second.Attempt()})
			require.Equal(t, []time.Duration{0, time.Second}, []time.Duration{first.Delay(), second.Delay()})
			require.Zero(t, retry.Token{}.Attempt())
		})
	}
}

// The state of an operation that has ended is that of the next one, which is inside of another loop here.
func TestContextOfAUsedTokenKnowsNothingOfTheNextOperation(t *testing.T) {
	t.Parallel()
	for mode, s := range modes(t, &clock.Fake{}, nil) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			inner := acquire(t, s).Context(t.Context())
			used := acquire(t, s)
			require.NoError(t, s.RecordSuccess(used, retry.Result{}))
			var wg sync.WaitGroup
			wg.Go(func() {
				for range 1000 {
					token, err := s.AcquireInitialToken(inner, retry.Operation{})
					require.NoError(t, err)
					got, _ := retry.AttemptFrom(token.Context(inner))
					require.Equal(t, retry.Attempt{Number: 1, Loops: 2, MaxAttempts: 9}, got)
					require.NoError(t, s.RecordSuccess(token, retry.Result{}))
				}
			})
			seen := map[retry.Attempt]int{}
			for range 1000 {
				got, _ := retry.AttemptFrom(used.Context(t.Context()))
				seen[got]++
			}
			wg.Wait()
			require.Equal(t, map[retry.Attempt]int{{Number: 1, Loops: 1, MaxAttempts: 1}: 1000}, seen, "as of a token of no strategy")
		})
	}
}

func TestWaitSleepsTheDelayOnce(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := modes(t, clk, nil)["standard"]
	token, err := s.RefreshRetryToken(t.Context(), acquire(t, s), errServer)
	require.NoError(t, err)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, token.Wait(gone), context.Canceled)
	require.ErrorIs(t, token.Wait(gone), errServer, "a wait that failed may be tried again")
	require.NoError(t, token.WithoutDelay().Wait(t.Context()), "the caller has slept itself")
	require.Empty(t, clk.Waits())
	require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()), "it has been waited for")
	require.NoError(t, s.RecordSuccess(token, retry.Result{}))
}

func TestTokenCannotBeUsedDuringItsWait(t *testing.T) {
	t.Parallel()
	for mode := range modes(t, &clock.Fake{}, nil) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			s := modes(t, clk, nil)[mode]
			token, err := s.RefreshRetryToken(t.Context(), acquire(t, s), errServer)
			require.NoError(t, err)
			waited := make(chan error)
			go func() { waited <- token.Wait(t.Context()) }()
			require.NoError(t, clk.BlockUntil(t.Context(), 1))
			for _, call := range verbs(s) {
				require.Equal(t, retry.ErrTokenUsed, call(t, token))
			}
			require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
			clk.AdvanceToNext()
			require.NoError(t, <-waited)
			require.NoError(t, s.RecordSuccess(token, retry.Result{}))
		})
	}
}

func TestStrategyThatIsNilIsRefusedAndNothingIsCalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		strategy retry.Strategy
		want     string
	}{
		"nil":              {nil, "retry: no strategy: use what standard.New, adaptive.New or awsretry.Load returns"},
		"nil, of the user": {(*wrapped)(nil), "retry: no strategy: a nil *retry_test.wrapped: use what its constructor returns, such as standard.New"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, err := retry.Do(t.Context(), c.strategy, retry.Operation{}, func(context.Context) (int, error) {
				require.Fail(t, "called")
				return 1, nil
			})
			require.Zero(t, value)
			require.EqualError(t, err, c.want)
			require.ErrorIs(t, err, retry.ErrNoStrategy)
			require.ErrorIs(t, retry.CheckStrategy(c.strategy), retry.ErrNoStrategy)
		})
	}
}

func TestStrategyAroundNilFailsTheCheck(t *testing.T) {
	t.Parallel()
	err := retry.CheckStrategy(wrapped{})
	require.ErrorIs(t, err, retry.ErrNoStrategy)
	require.EqualError(t, err, "retry: no strategy: a retry_test.wrapped around nil: use what standard.New, adaptive.New or awsretry.Load returns")
}

func TestStrategyThatCanBeUsedPassesTheCheck(t *testing.T) {
	t.Parallel()
	for _, s := range modes(t, nil, nil) {
		for _, given := range []retry.Strategy{s, denying{}, &denying{}, &counting{Strategy: s}} {
			require.NoError(t, retry.CheckStrategy(given))
		}
	}
}

func TestStrategyJudgesWithoutAnOperation(t *testing.T) {
	t.Parallel()
	forBothObserved(t, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
		t.Helper()
		before := s.Snapshot()
		require.Equal(t, classify.RetryAs(classify.Transient), s.Judge(retry.Operation{}, errServer))
		require.Equal(t, classify.RetryAs(classify.Throttling), s.Judge(ordersTable(), errThrottled))
		require.False(t, s.Judge(retry.Operation{}, errClient).Retryable())
		require.False(t, s.Judge(retry.Operation{}, context.Canceled).Retryable())
		require.True(t, s.Judge(retry.Operation{}, retry.Permanent(errServer)).Forbids())
		own := retry.Operation{Classifier: judging{new(int)}}
		require.Equal(t, classify.RetryAs(classify.Throttling), s.Judge(own, errClient))
		require.Empty(t, r.events)
		require.Equal(t, before, s.Snapshot())
	})
}

func TestFailureThatIsNotRetriedIsJudgedForTheSendRateAndTheObserver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode     string
		observer retry.Observer
		op       retry.Operation
		want     int
	}{
		"standard mode":                          {mode: "standard", op: ordersTable()},
		"standard mode and an observer":          {mode: "standard", observer: &recorder{}, op: ordersTable(), want: 1},
		"standard mode, observer and no service": {mode: "standard", observer: &recorder{}, want: 1},
		"adaptive mode":                          {mode: "adaptive", op: ordersTable(), want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			s := modes(t, &clock.Fake{}, func(config *standard.Config) {
				config.Classifier, config.Observer = judging{&calls}, c.observer
			})[c.mode]
			throttle(t, s, c.op)
			require.Equal(t, c.want, calls)
		})
	}
}

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
	for _, scope := range s.Snapshot().Scopes {
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
						require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
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
					require.NoError(t, s.RecordSuccess(next, retry.Result{}))
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
			require.Equal(t, retry.ErrTokenUsed, s.RecordSuccess(token, retry.Result{}))
			_, err := s.RefreshRetryToken(t.Context(), token, errServer)
			require.Equal(t, retry.ErrTokenUsed, err)
			require.NoError(t, s.RecordFailure(token, errServer))
			require.Equal(t, retry.ErrTokenUsed, s.RecordFailure(token, errServer))
			require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
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
			require.Equal(t, retry.ErrTokenUsed, s.RecordSuccess(refused, retry.Result{}), "it is for no attempt")
			require.NoError(t, s.RecordFailure(refused, errServer))
			require.Equal(t, retry.ErrTokenUsed, refused.Wait(t.Context()))
			require.Equal(t, retry.ErrTokenUsed, token.Wait(t.Context()))
		})
	}
}
