package standard_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// waitingModes returns a strategy of each mode that waits a minute for quota, after a backoff of
// a second.
func waitingModes(t *testing.T, quota int, refill ratelimit.Rate) map[string]strategy {
	t.Helper()
	config := standard.Config{
		QuotaInitial: &quota, QuotaRefill: refill, MaxQuotaWait: time.Minute, Base: time.Second, Random: func() float64 { return 1 },
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	a, err := adaptive.New(adaptive.Config{Standard: config})
	require.NoError(t, err)
	return map[string]strategy{"standard": s, "adaptive": a}
}

func TestRetryWaitsForQuota(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run("until time brings it/"+mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 0, 1)[mode]
				start := time.Now()
				value, err := retry.Do(t.Context(), s, retry.Operation{}, answers(errServer))
				require.NoError(t, err)
				require.Equal(t, 2, value)
				require.Equal(t, 14*time.Second, time.Since(start), "a second of it backoff")
				require.Equal(t, 14, s.Snapshot().Scopes[0].Quota, "what it cost came back")
			})
		})
		t.Run("until others give it back/"+mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 0, 0)[mode]
				start := time.Now()
				go func() {
					for range 14 {
						_ = clock.System{}.Sleep(t.Context(), 2*time.Second)
						_, _ = retry.Do(t.Context(), s, retry.Operation{}, answers())
					}
				}()
				_, err := retry.Do(t.Context(), s, retry.Operation{}, answers(errServer))
				require.NoError(t, err)
				require.Equal(t, 28*time.Second, time.Since(start))
				require.Equal(t, 14, s.Snapshot().Scopes[0].Quota)
			})
		})
		t.Run("in vain/"+mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 4, 0)[mode]
				start := time.Now()
				_, err := retry.Do(t.Context(), s, retry.Operation{}, answers(errServer))
				require.ErrorIs(t, err, retry.ErrQuotaExhausted)
				require.ErrorIs(t, err, errServer)
				require.ErrorContains(t, err, "1 attempt, 1m1s, 4 of 14 quota tokens")
				require.Equal(t, 61*time.Second, time.Since(start))
				require.Equal(t, 4, s.Snapshot().Scopes[0].Quota)
			})
		})
		t.Run("until the caller gives up/"+mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 0, 0)[mode]
				cause := errors.New("enough")
				ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, cause)
				defer cancel()
				_, err := retry.Do(ctx, s, retry.Operation{}, answers(errServer))
				require.ErrorIs(t, err, retry.ErrCanceled)
				require.ErrorIs(t, err, cause)
				require.ErrorIs(t, err, errServer)
				require.Zero(t, s.Snapshot().Scopes[0].Quota)
			})
		})
		t.Run("not for a success that did not wait/"+mode, func(t *testing.T) {
			t.Parallel()
			s := waitingModes(t, 0, 0)[mode]
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			token, err = s.RefreshRetryToken(t.Context(), token, errServer)
			require.NoError(t, err)
			require.NoError(t, s.RecordSuccess(token, retry.Result{}))
			require.Zero(t, s.Snapshot().Scopes[0].Quota, "what was not taken is not given back")
		})
	}
}

// overslept is a clock whose readings are late by so much.
type overslept struct {
	*clock.Fake
	late *atomic.Int64
}

func (o overslept) Now() time.Time { return o.Fake.Now().Add(time.Duration(o.late.Load())) }

func TestAttemptThatWaitedForQuotaPastTheEndIsNotMade(t *testing.T) {
	t.Parallel()
	var late atomic.Int64
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.QuotaInitial, c.QuotaRefill, c.MaxQuotaWait = new(0), 1, time.Hour
		c.Clock = overslept{c.Clock.(*clock.Fake), &late} //nolint:forcetypeassert // it is one
	})
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{MaxElapsed: 20 * time.Second})
	require.NoError(t, err)
	token, err = s.RefreshRetryToken(t.Context(), token, errServer)
	require.NoError(t, err)
	waited := make(chan error)
	go func() { waited <- token.WithoutDelay().Wait(t.Context()) }()
	require.NoError(t, clk.BlockUntil(t.Context(), 1))
	late.Store(int64(time.Minute))
	clk.Advance(14 * time.Second) // the tokens are there, and the operation hears of them too late
	require.ErrorIs(t, <-waited, retry.ErrMaxElapsed)
	require.NoError(t, s.RecordFailure(token, errServer))
	require.Equal(t, 74, s.Snapshot().Scopes[0].Quota, "it took nothing")
}

func TestQuotaWaitEndsWithTheOperation(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := waitingModes(t, 0, 1)[mode]
				start, n := time.Now(), 0
				_, err := retry.Do(t.Context(), s, retry.Operation{MaxElapsed: 2 * time.Second}, func(context.Context) (int, error) {
					n++
					return 0, errServer
				})
				require.ErrorIs(t, err, retry.ErrMaxElapsed)
				require.ErrorIs(t, err, errServer)
				require.Equal(t, 1, n)
				require.Equal(t, 2*time.Second, time.Since(start))
				require.Equal(t, 2, s.Snapshot().Scopes[0].Quota, "it takes nothing")
			})
		})
	}
}

func TestScopeInWhichARetryWaitsForQuotaStays(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.ScopeIdle, c.MaxScopes = time.Minute, 1
		c.QuotaInitial, c.MaxQuotaWait = new(0), time.Hour
		c.Jitter = standard.NoJitter
	})
	token, err := s.RefreshRetryToken(t.Context(), begin(t, s, "orders"), errServer)
	require.NoError(t, err)
	var waited error
	clk.Run(func() {
		for range 5 {
			require.NoError(t, clk.Sleep(t.Context(), time.Minute))
			require.NoError(t, s.RecordSuccess(begin(t, s, clk.Now().String()), retry.Result{}))
			require.Contains(t, scopes(s), "orders")
		}
		require.Equal(t, uint64(5), s.Snapshot().Overflowed)
		for range 14 {
			require.NoError(t, s.RecordSuccess(begin(t, s, "orders"), retry.Result{}))
		}
	}, func() {
		waited = token.WithoutDelay().Wait(t.Context())
	})
	require.NoError(t, waited)
	require.NoError(t, s.RecordSuccess(token, retry.Result{}))
}

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
		require.NoError(t, s.RecordSuccess(begin(t, s, "healthy"), retry.Result{}))
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

func TestWaitForQuotaEndsWhenThePoolCanPay(t *testing.T) {
	t.Parallel()
	s, clk := beside(t, 14, func(c *standard.Config) { c.MaxQuotaWait = time.Hour })

	paid, err := s.RefreshRetryToken(t.Context(), begin(t, s, "troubled"), errServer)
	require.NoError(t, err)
	require.NoError(t, paid.WithoutDelay().Wait(t.Context()), "the pool pays, so that there is no wait")
	require.Zero(t, s.Snapshot().Pool)

	owes, err := s.RefreshRetryToken(t.Context(), begin(t, s, "troubled"), errServer)
	require.NoError(t, err)
	waited := make(chan error)
	go func() { waited <- owes.WithoutDelay().Wait(t.Context()) }()
	require.NoError(t, clk.BlockUntil(t.Context(), 1))
	require.NoError(t, s.RecordSuccess(paid, retry.Result{}))
	require.NoError(t, <-waited)
	require.Zero(t, s.Snapshot().Pool, "it has paid again")
	require.NoError(t, s.RecordSuccess(owes, retry.Result{}))
	require.Equal(t, 14, s.Snapshot().Pool)
	require.Equal(t, 6, scopes(s)["troubled"])
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

// Without the quota these operations would be refused from the 36th retry on.
func TestWithoutQuotaEveryRetryIsGrantedAndAllStaysFull(t *testing.T) {
	t.Parallel()
	config := standard.Config{NoQuota: true, Random: func() float64 { return 0 }}
	for _, behavior := range []retry.Behavior{retry.V21, retry.V20} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(mode+", "+string(behavior), func(t *testing.T) {
				t.Parallel()
				clk := &clock.Fake{}
				config := config
				config.Clock, config.Behavior = clk, behavior
				config.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					switch e.Kind {
					case retry.RetryScheduled, retry.AttemptEnded, retry.OperationEnded:
						require.Equal(t, 500, e.Quota)
					case retry.RetryRefused:
						require.ErrorIs(t, e.Reason, retry.ErrAttemptsExhausted)
					default: // has no quota
					}
				})
				s, err := standard.New(config)
				if mode == "adaptive" {
					s, err = adaptive.New(adaptive.Config{Standard: config})
				}
				require.NoError(t, err)
				for i := range 300 {
					failure := [...]error{errServer, errTimeout, errThrottle}[i%3]
					op := retry.Operation{Scope: [...]string{"", "a", "b"}[i/3%3], LongPolling: i%2 == 0}
					attempts, err := do(t.Context(), clk, s, op, failure, failure, failure)
					require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
					require.Equal(t, 3, attempts)
					_, err = do(t.Context(), clk, s, op, failure)
					require.NoError(t, err)
				}
				snapshot := s.Snapshot()
				require.Equal(t, map[string]int{"": 500, "a": 500, "b": 500}, scopes(s))
				require.Equal(t, [...]int{100, 100}, [...]int{snapshot.Pool, snapshot.PoolCapacity})
			})
		}
	}
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
