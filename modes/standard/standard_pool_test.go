package standard_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// beside returns a strategy whose scope "healthy" has brought so many tokens to the pool, and whose
// scope "troubled" has less than a retry costs.
func beside(t *testing.T, pooled int, change func(c *standard.Config)) (retry.Strategy, *clock.Fake) {
	t.Helper()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.QuotaCapacity = new(20)
		if change != nil {
			change(c)
		}
	})
	for range pooled {
		require.NoError(t, s.RecordSuccess(begin(t, s, "healthy")))
	}
	token, err := s.RefreshRetryToken(t.Context(), begin(t, s, "troubled"), errServer)
	require.NoError(t, err)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.NoError(t, s.RecordFailure(token, errServer))
	require.Equal(t, 6, scopes(s)["troubled"])
	require.Equal(t, pooled, s.Snapshot().Pool)
	return s, clk
}

func TestRetryThatThePoolPaidForAndThatIsNotSentGoesBackToThePool(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, s retry.Strategy, token retry.Token){
		"its wait was canceled": func(t *testing.T, s retry.Strategy, token retry.Token) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, token.Wait(ctx), retry.ErrCanceled)
			require.NoError(t, s.RecordFailure(token, errServer))
		},
		"its loop gave up": func(t *testing.T, s retry.Strategy, token retry.Token) {
			t.Helper()
			require.NoError(t, token.WithoutDelay().Wait(t.Context()))
			require.NoError(t, s.RecordFailure(token, retry.ErrCanceled))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := beside(t, 15, nil)
			token, err := s.RefreshRetryToken(t.Context(), begin(t, s, "troubled"), errServer)
			require.NoError(t, err)
			require.Equal(t, 1, s.Snapshot().Pool)
			end(t, s, token)
			require.Equal(t, 15, s.Snapshot().Pool)
			require.Equal(t, 6, scopes(s)["troubled"])
		})
	}
}

func TestWaitForQuotaIsForTheTokensOfTheScope(t *testing.T) {
	t.Parallel()
	s, _ := beside(t, 14, func(c *standard.Config) { c.MaxQuotaWait = time.Hour })

	paid, err := s.RefreshRetryToken(t.Context(), begin(t, s, "troubled"), errServer)
	require.NoError(t, err)
	require.NoError(t, paid.WithoutDelay().Wait(t.Context()), "the pool pays, so that there is no wait")
	require.Zero(t, s.Snapshot().Pool)

	owes, err := s.RefreshRetryToken(t.Context(), begin(t, s, "troubled"), errServer)
	require.NoError(t, err)
	waited := make(chan error)
	go func() { waited <- owes.WithoutDelay().Wait(t.Context()) }()
	require.NoError(t, s.RecordSuccess(paid))
	require.Equal(t, 14, s.Snapshot().Pool)
	for range 8 {
		select {
		case err := <-waited:
			require.Failf(t, "a wait ended without tokens in the scope", "%v", err)
		default:
		}
		require.NoError(t, s.RecordSuccess(begin(t, s, "troubled")))
	}
	require.NoError(t, <-waited)
	require.Equal(t, 14, s.Snapshot().Pool)
	require.NoError(t, s.RecordSuccess(owes))
	require.Equal(t, 14, scopes(s)["troubled"])
}

func TestRefusalSaysWhatThePoolHas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pooled int
		room   time.Duration
		reason error
		text   string
	}{
		{0, time.Hour, retry.ErrQuotaExhausted, `retry quota exhausted: last error: status 500  (1 attempt, 6 of 14 quota tokens, scope "troubled")`},
		{13, time.Hour, retry.ErrQuotaExhausted, `(1 attempt, 6 of 14 quota tokens, 13 in the pool, scope "troubled")`},
		{13, time.Millisecond, retry.ErrQuotaExhausted, `(1 attempt, 6 of 14 quota tokens, 13 in the pool, scope "troubled")`},
		{14, time.Millisecond, retry.ErrDeadline, `(1 attempt, 50ms to wait, scope "troubled")`},
	} {
		s, clk := beside(t, c.pooled, nil)
		ctx, cancel := clk.WithTimeout(t.Context(), c.room)
		defer cancel()
		_, err := s.RefreshRetryToken(ctx, begin(t, s, "troubled"), errServer)
		require.ErrorIs(t, err, c.reason)
		require.ErrorContains(t, err, c.text)
		require.Equal(t, c.pooled, s.Snapshot().Pool)
		if refusal, ok := err.(*retry.Error); ok && c.reason == retry.ErrQuotaExhausted { //nolint:errorlint // that of the strategy
			require.Equal(t, [...]int{6, c.pooled, 14}, [...]int{refusal.Available, refusal.Pool, refusal.Needed})
		}
	}
}

func TestEventsSayWhatThePoolHas(t *testing.T) {
	t.Parallel()
	var told []string
	observe := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Operation.Name == "told" {
			told = append(told, e.Kind.String()+" "+strconv.Itoa(e.Quota)+" "+strconv.Itoa(e.Pool))
		}
	})
	s, clk := beside(t, 15, func(c *standard.Config) { c.Observer = observe })
	for _, op := range []retry.Operation{{Scope: "troubled", Name: "told"}, {Name: "told"}} {
		_, err := do(t.Context(), clk, s, op, errServer)
		require.NoError(t, err)
	}
	require.Equal(t, []string{
		"attempt-ended 6 15", "retry-scheduled 6 1", "attempt-ended 6 15", "operation-ended 6 15",
		"attempt-ended 20 0", "retry-scheduled 6 0", "attempt-ended 20 0", "operation-ended 20 0",
	}, told)
}

// The overflow shares a scope like any other.
func TestScopeOfTheOverflowUsesThePool(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.QuotaCapacity = new(14)
		c.Scope = func(retry.Operation) retry.ScopeKey { return retry.OverflowKey() }
	})
	for range 14 {
		_, err := do(t.Context(), clk, s, retry.Operation{})
		require.NoError(t, err)
	}
	require.Equal(t, 14, s.Snapshot().Pool)
}

// Operations that fail once and then succeed, are refused or give up: each token is in a quota or in
// the pool at the end.
func TestTokensOfScopesAndPoolConcurrentSafe(t *testing.T) {
	t.Parallel()
	const capacity, pooled, goroutines, rounds = 40, 28, 60, 200
	config := standard.Config{QuotaCapacity: new(capacity), Base: 1, Clock: clock.System{}}
	s, err := standard.New(config)
	require.NoError(t, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	for name, s := range map[string]strategy{"standard": s, "adaptive": a} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range pooled {
				_, err := retry.Do(t.Context(), s, retry.Operation{Scope: "a"}, answers())
				require.NoError(t, err)
			}
			require.Equal(t, pooled, s.Snapshot().Pool)
			var refused, ended atomic.Int64
			var group sync.WaitGroup
			for i := range goroutines {
				group.Go(func() {
					random := rand.New(rand.NewPCG(uint64(i), 7))
					op := retry.Operation{Scope: [...]string{"a", "b", "c"}[i%3]}
					for range rounds {
						ctx, cancel := context.WithCancel(t.Context())
						n, gone := 0, random.IntN(3) == 0
						_, err := retry.Do(ctx, s, op, func(context.Context) (int, error) {
							if n++; n > 1 {
								return n, nil
							}
							if gone {
								go cancel()
							}
							return 0, errServer
						})
						cancel()
						if err == nil {
							ended.Add(1)
						} else {
							refused.Add(1)
						}
					}
				})
			}
			group.Wait()
			require.Positive(t, ended.Load())
			require.EqualValues(t, goroutines*rounds, ended.Load()+refused.Load())
			for scope, quota := range scopes(s) {
				require.Equal(t, capacity, quota, "quota of %q", scope)
			}
			require.Equal(t, pooled, s.Snapshot().Pool)
		})
	}
}
