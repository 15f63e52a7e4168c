package adaptive_test

import (
	"math"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// idle is the idle time of the scopes in these tests.
const idle = time.Minute

func forgetful(c *adaptive.Config) { c.Standard.ScopeIdle = idle }

// scopesOf returns the snapshots of all scopes by name.
func scopesOf(s retry.Strategy) map[string]retry.ScopeSnapshot {
	found := map[string]retry.ScopeSnapshot{}
	for _, scope := range s.Snapshot().Scopes {
		found[scope.Scope] = scope
	}
	return found
}

// idleTwice lets the idle time pass twice, with a new scope after each.
func idleTwice(t *testing.T, clk *clock.Fake, s retry.Strategy) {
	t.Helper()
	for range 2 {
		clk.Advance(idle)
		require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: clk.Now().String()}))
	}
}

func TestIdleScopesAreEvicted(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		forgetful(c)
		r.use(c)
	})
	orders := retry.Operation{Scope: "orders"}
	require.NoError(t, do(t.Context(), clk, s, orders, errServer))
	idleTwice(t, clk, s)
	require.NotContains(t, scopesOf(s), "orders")
	require.Equal(t, uint64(1), s.Snapshot().Evicted)

	gone := r.of(retry.ScopeEvicted)
	require.Len(t, gone, 1)
	require.Equal(t, orders.Key(), gone[0].Scope)
	require.NotEqual(t, orders, gone[0].Operation, "the operation that drove it out")
	require.NoError(t, do(t.Context(), clk, s, orders))
	require.Contains(t, scopesOf(s), "orders")
}

func TestOperationGoesOnWithAScopeThatWasEvicted(t *testing.T) {
	t.Parallel()
	orders := retry.Operation{Scope: "orders"}
	acquired := func(t *testing.T, s retry.Strategy) retry.Token {
		t.Helper()
		token, err := s.AcquireInitialToken(t.Context(), orders)
		require.NoError(t, err)
		return token
	}
	for name, begin := range map[string]func(t *testing.T, s retry.Strategy) (retry.Token, error){
		"before its first attempt": func(t *testing.T, s retry.Strategy) (retry.Token, error) {
			t.Helper()
			return acquired(t, s), nil
		},
		"in its first attempt": func(t *testing.T, s retry.Strategy) (retry.Token, error) {
			t.Helper()
			token := acquired(t, s)
			return token, token.Wait(t.Context())
		},
		"before its first retry": func(t *testing.T, s retry.Strategy) (retry.Token, error) {
			t.Helper()
			return s.RefreshRetryToken(t.Context(), acquired(t, s), errServer)
		},
		"in its first retry": func(t *testing.T, s retry.Strategy) (retry.Token, error) {
			t.Helper()
			token, err := s.RefreshRetryToken(t.Context(), acquired(t, s), errServer)
			require.NoError(t, err)
			return token, token.WithoutDelay().Wait(t.Context())
		},
	} {
		for how, end := range map[string]func(s retry.Strategy, token retry.Token) error{
			"success": func(s retry.Strategy, token retry.Token) error { return s.RecordSuccess(token) },
			"failure": func(s retry.Strategy, token retry.Token) error { return s.RecordFailure(token, errServer) },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s, clk := newStrategy(t, forgetful)
				token, err := begin(t, s)
				require.NoError(t, err)
				idleTwice(t, clk, s)
				require.NotContains(t, scopesOf(s), "orders", "no operation has begun or ended in it")
				require.NoError(t, do(t.Context(), clk, s, orders, errThrottle))
				anew := scopesOf(s)["orders"]
				require.NoError(t, end(s, token))
				require.Equal(t, anew, scopesOf(s)["orders"], "it is another one")
			})
		}
	}
}

func TestScopeFunctionKeysTheQuotaAndTheSendRate(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.Standard.Scope = func(op retry.Operation) retry.ScopeKey {
			return retry.ScopeKey{Service: op.Service, Region: op.Region, Name: op.Name}
		}
	})
	read := retry.Operation{Service: "ec2", Region: "eu-west-1", Name: "DescribeInstances", Resource: "i-1"}
	write := retry.Operation{Service: "ec2", Region: "eu-west-1", Name: "RunInstances", Resource: "i-1"}
	require.NoError(t, do(t.Context(), clk, s, read, errThrottle))
	require.ErrorIs(t, do(t.Context(), clk, s, write, errServer, errServer, errServer, errServer), retry.ErrAttemptsExhausted)
	read.Resource = "i-2"
	require.NoError(t, do(t.Context(), clk, s, read, errServer))
	scopes := scopesOf(s)
	require.Len(t, scopes, 3)
	require.True(t, scopes["ec2/eu-west-1/DescribeInstances"].Limited)
	require.Equal(t, 500, scopes["ec2/eu-west-1/DescribeInstances"].Quota)
	require.False(t, scopes["ec2/eu-west-1/RunInstances"].Limited)
	require.Equal(t, 500-2*14, scopes["ec2/eu-west-1/RunInstances"].Quota)
}

func TestAccountsAreScopesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, nil)
	one := retry.Operation{Account: "111122223333", Service: "dynamodb", Resource: "orders", MaxAttempts: 1}
	other := one
	other.Account = "444455556666"
	require.Error(t, do(t.Context(), clk, s, one, errThrottle))
	require.NoError(t, do(t.Context(), clk, s, other))
	scopes := scopesOf(s)
	require.True(t, scopes["111122223333/dynamodb//orders"].Limited)
	require.False(t, scopes["444455556666/dynamodb//orders"].Limited)
}

func TestKeyFunctionMayPutEverythingIntoOneScope(t *testing.T) {
	t.Parallel()
	whole := func(retry.Operation) retry.ScopeKey { return retry.ScopeKey{} }
	s, clk := newStrategy(t, func(c *adaptive.Config) { c.Standard.Scope = whole })
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "a"}, errThrottle))
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "b"}))
	scopes := scopesOf(s)
	require.Len(t, scopes, 1)
	require.True(t, scopes[""].Limited)
}

func TestScopesWithoutAPlaceShareQuotaAndSendRate(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.Standard.MaxScopes, c.Standard.MaxAttempts = 1, 1
		r.use(c)
	})
	require.Error(t, do(t.Context(), clk, s, retry.Operation{Scope: "a"}, errThrottle))
	require.Error(t, do(t.Context(), clk, s, retry.Operation{Scope: "b"}, errThrottle))
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "c"}))
	require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "a"}))
	snapshot := s.Snapshot()
	require.Equal(t, uint64(2), snapshot.Overflowed)
	limited := map[retry.ScopeKey]bool{}
	for _, scope := range snapshot.Scopes {
		limited[scope.Key] = scope.Limited
	}
	require.Equal(t, map[retry.ScopeKey]bool{{}: false, {Scope: "a"}: true, retry.OverflowKey(): true}, limited)
	var created []retry.ScopeKey
	for _, e := range r.of(retry.ScopeCreated) {
		created = append(created, e.Scope)
	}
	require.Equal(t, []retry.ScopeKey{{Scope: "a"}, retry.OverflowKey()}, created)
}

func TestKnownLimitHoldsAttemptsOfItsScopeBackFromTheStart(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
			if scope.Resource == "orders" {
				return adaptive.SendLimit{Starting: 2, Ceiling: 5}
			}
			return adaptive.SendLimit{}
		}
	})
	clk.Advance(time.Hour) // CUBIC does not count what was before the scope
	for _, tt := range []struct {
		resource string
		want     []time.Duration
	}{
		{"orders", []time.Duration{0, time.Second / 2, time.Second}},
		{"users", []time.Duration{0, 0, 0}},
	} {
		start := clk.Now()
		var sentAt []time.Duration
		for range tt.want {
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{Resource: tt.resource})
			require.NoError(t, err)
			clk.Run(func() { require.NoError(t, token.Wait(t.Context())) })
			sentAt = append(sentAt, clk.Now().Sub(start))
		}
		require.Equal(t, tt.want, sentAt)
	}
	require.InDelta(t, 2, scopesOf(s)["//orders"].FillRate, 0)
	require.Zero(t, scopesOf(s)["//users"].FillRate)
}

func TestImpossibleLimitsAreErrorsThatNameTheScope(t *testing.T) {
	t.Parallel()
	for want, limit := range map[string]adaptive.SendLimit{
		"starting rate -1: must be 0 or a finite number of 0.5 or more":  {Starting: -1},
		"starting rate 0.4: must be 0 or a finite number of 0.5 or more": {Starting: 0.4},
		"ceiling NaN: must be 0 or a finite number of 0.5 or more":       {Ceiling: ratelimit.Rate(math.NaN())},
		"ceiling +Inf: must be 0 or a finite number of 0.5 or more":      {Ceiling: ratelimit.Rate(math.Inf(1))},
		"starting rate 3: must not be above the ceiling of 2":            {Starting: 3, Ceiling: 2},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s, clk := newStrategy(t, func(c *adaptive.Config) {
				c.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
					if scope.Resource == "orders" {
						return limit
					}
					return adaptive.SendLimit{}
				}
			})
			for range 2 {
				_, err := s.AcquireInitialToken(t.Context(), retry.Operation{Resource: "orders"})
				require.EqualError(t, err, `adaptive: SendLimit of scope "//orders": `+want)
				failed := do(t.Context(), clk, s, retry.Operation{Resource: "orders"}, errServer)
				require.ErrorIs(t, failed, errServer)
				require.ErrorContains(t, failed, err.Error(), "why it was not retried")
			}
			require.NoError(t, do(t.Context(), clk, s, retry.Operation{Resource: "users"}))
			require.NotContains(t, scopesOf(s), "//orders")

			_, err := adaptive.New(adaptive.Config{
				SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return limit },
			})
			require.EqualError(t, err, `adaptive: SendLimit of scope "": `+want)
		})
	}
}

// TestScopesConcurrentSafe evicts scopes that other operations use. In the hot scope a retry
// waits for one token more than all successes there give back, one token each. It would not
// get them if one of the successes had gone to another scope.
func TestScopesConcurrentSafe(t *testing.T) {
	t.Parallel()
	const goroutines, rounds = 8, 200
	clk := &clock.Fake{}
	s, err := adaptive.New(adaptive.Config{Standard: standard.Config{
		Clock: clk, ScopeIdle: 1, MaxQuotaWait: time.Hour,
		QuotaCapacity: new(goroutines*rounds + 1), QuotaInitial: new(0), RetryCost: goroutines*rounds + 1,
	}})
	require.NoError(t, err)
	hot := retry.Operation{Scope: "hot"}
	token, err := s.AcquireInitialToken(t.Context(), hot)
	require.NoError(t, err)
	token, err = s.RefreshRetryToken(t.Context(), token, errServer)
	require.NoError(t, err)
	waited := make(chan error)
	go func() { waited <- token.WithoutDelay().Wait(t.Context()) }()
	require.NoError(t, clk.BlockUntil(t.Context(), 1))
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				for _, op := range []retry.Operation{hot, {Scope: strconv.Itoa(g) + "/" + strconv.Itoa(i)}} {
					token, err := s.AcquireInitialToken(t.Context(), op)
					if err != nil || token.Wait(t.Context()) != nil || s.RecordSuccess(token) != nil {
						panic("an operation failed")
					}
				}
				clk.Advance(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, goroutines*rounds, scopesOf(s)["hot"].Quota)
	last, err := s.AcquireInitialToken(t.Context(), hot)
	require.NoError(t, err)
	require.NoError(t, s.RecordSuccess(last))
	require.NoError(t, <-waited)
	require.Zero(t, scopesOf(s)["hot"].Quota)
	require.NoError(t, s.RecordSuccess(token))
	require.Equal(t, goroutines*rounds+1, scopesOf(s)["hot"].Quota)
	require.Positive(t, s.Snapshot().Evicted)
	require.Zero(t, s.Snapshot().Overflowed)
}
