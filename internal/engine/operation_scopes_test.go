package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestOperationGoesOnWithAScopeThatWasEvicted(t *testing.T) {
	t.Parallel()
	orders := retry.Operation{Scope: "orders"}
	for _, begin := range []func(t *testing.T, s retry.Strategy) retry.Token{
		func(t *testing.T, s retry.Strategy) retry.Token { t.Helper(); return begun(t, s, "orders") },
		func(t *testing.T, s retry.Strategy) retry.Token { t.Helper(); return sentIn(t, s, "orders") },
		func(t *testing.T, s retry.Strategy) retry.Token {
			t.Helper()
			return granted(t, s, begun(t, s, "orders"), errServer)
		},
		func(t *testing.T, s retry.Strategy) retry.Token {
			t.Helper()
			token := granted(t, s, begun(t, s, "orders"), errServer)
			require.NoError(t, token.WithoutDelay().Wait(t.Context()))
			return token
		},
	} {
		for _, failure := range []error{nil, errServer} {
			s, clk := play.Adaptive(t, func(c *adaptive.Config) {
				forgetful(c)
				c.Standard.QuotaCapacity, c.Standard.QuotaInitial = new(500), new(400)
			})
			for range 14 { // what a retry costs, so that the scope does not have to stay
				require.NoError(t, play.Do(t.Context(), clk, s, orders))
			}
			token := begin(t, s)
			idleTwice(t, clk, s)
			require.NotContains(t, scopesOf(s), "orders", "no operation has begun or ended in it")
			require.NoError(t, play.Do(t.Context(), clk, s, orders, errThrottle))
			anew := scopesOf(s)["orders"]
			if failure != nil {
				require.NoError(t, s.RecordFailure(token, failure))
			} else {
				require.NoError(t, s.RecordSuccess(token, retry.Result{}))
			}
			require.Equal(t, anew, scopesOf(s)["orders"], "it is another one")
		}
	}
}

func TestScopeFunctionKeysTheQuotaAndTheSendRate(t *testing.T) {
	t.Parallel()
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.Scope = func(op retry.Operation) retry.ScopeKey {
			return retry.ScopeKey{Service: op.Service, Region: op.Region, Name: op.Name}
		}
	})
	read := retry.Operation{Service: "ec2", Region: "eu-west-1", Name: "DescribeInstances", Resource: "i-1"}
	write := retry.Operation{Service: "ec2", Region: "eu-west-1", Name: "RunInstances", Resource: "i-1"}
	require.NoError(t, play.Do(t.Context(), clk, s, read, errThrottle))
	require.ErrorIs(t, play.Do(t.Context(), clk, s, write, errServer, errServer, errServer, errServer), retry.ErrAttemptsExhausted)
	read.Resource = "i-2"
	require.NoError(t, play.Do(t.Context(), clk, s, read, errServer))
	scopes := scopesOf(s)
	require.Len(t, scopes, 3)
	require.True(t, scopes["ec2/eu-west-1/DescribeInstances"].Limited)
	require.Equal(t, 500, scopes["ec2/eu-west-1/DescribeInstances"].Quota)
	require.False(t, scopes["ec2/eu-west-1/RunInstances"].Limited)
	require.Equal(t, 500-2*14, scopes["ec2/eu-west-1/RunInstances"].Quota)
}

// slowBurst is a known limit of some scopes, which stay until their burst has come back.
func slowBurst(scopes ...string) func(retry.ScopeKey) adaptive.SendLimit {
	return func(key retry.ScopeKey) adaptive.SendLimit {
		if slices.Contains(scopes, key.Scope) {
			return adaptive.SendLimit{Ceiling: 0.01, Burst: 100}
		}
		return adaptive.SendLimit{}
	}
}

func TestScopesWithoutAPlaceShareQuotaAndSendRate(t *testing.T) {
	t.Parallel()
	r := &play.Recorder{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.MaxScopes, c.Standard.MaxAttempts, c.SendLimit = 1, 1, slowBurst("a")
		r.Use(c)
	})
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "a"}))
	require.Error(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "b"}, errThrottle))
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "c"}))
	require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "a"}))
	snapshot := s.Snapshot()
	require.Equal(t, uint64(2), snapshot.Overflowed)
	limited := map[retry.ScopeKey]bool{}
	for _, scope := range snapshot.Scopes {
		limited[scope.Key] = scope.Limited
	}
	require.Equal(t, map[retry.ScopeKey]bool{{}: false, {Scope: "a"}: true, retry.OverflowKey(): true}, limited)
	var created []retry.ScopeKey
	for _, e := range r.Of(retry.ScopeCreated) {
		created = append(created, e.Scope)
	}
	require.Equal(t, []retry.ScopeKey{{Scope: "a"}, retry.OverflowKey()}, created)
}

// TestScopesConcurrentSafe evicts scopes that other operations use. In the hot scope a retry
// waits for one token more than all successes there give back, one token each. It would not
// get them if one of the successes had gone to another scope.
func TestScopesConcurrentSafe(t *testing.T) {
	t.Parallel()
	const goroutines, rounds = 8, 200
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		c.Standard.ScopeIdle, c.Standard.MaxQuotaWait, c.Standard.RetryCost = 1, time.Hour, goroutines*rounds+1
		c.Standard.QuotaCapacity, c.Standard.QuotaInitial = new(goroutines*rounds+1), new(0)
	})
	token := granted(t, s, begun(t, s, "hot"), errServer)
	waited := make(chan error)
	go func() { waited <- token.WithoutDelay().Wait(t.Context()) }()
	require.NoError(t, clk.BlockUntil(t.Context(), 1))
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				for _, op := range []retry.Operation{{Scope: "hot"}, {Scope: fmt.Sprint(g, i)}} {
					if retry.DoErr(t.Context(), s, op, func(context.Context) error { return nil }) != nil {
						panic("an operation failed")
					}
				}
				clk.Advance(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, goroutines*rounds, scopesOf(s)["hot"].Quota)
	require.NoError(t, s.RecordSuccess(begun(t, s, "hot"), retry.Result{}))
	require.NoError(t, <-waited)
	require.Zero(t, scopesOf(s)["hot"].Quota)
	require.NoError(t, s.RecordSuccess(token, retry.Result{}))
	require.Equal(t, goroutines*rounds+1, scopesOf(s)["hot"].Quota)
	require.Positive(t, s.Snapshot().Evicted)
	require.Zero(t, s.Snapshot().Overflowed)
}

// A scope whose limit is out of range is evicted like any other. When it is made again, the new
// limit counts.
func TestScopeWithAnImpossibleLimitIsEvicted(t *testing.T) {
	t.Parallel()
	ceiling := ratelimit.Rate(-1)
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		forgetful(c)
		c.SendLimit = func(scope retry.ScopeKey) adaptive.SendLimit {
			if scope.Scope == "orders" {
				return adaptive.SendLimit{Ceiling: ceiling}
			}
			return adaptive.SendLimit{}
		}
	})
	use := func() retry.ScopeSnapshot {
		require.NoError(t, play.Do(t.Context(), clk, s, retry.Operation{Scope: "orders"}))
		return scopesOf(s)["orders"]
	}
	require.False(t, use().Limited)
	ceiling = 3
	require.False(t, use().Limited, "it is asked for once")
	idleTwice(t, clk, s)
	require.InDelta(t, 3, use().FillRate, 0)
}

func TestEvictionIsToldAlthoughTheNewScopeCannotBeMade(t *testing.T) {
	t.Parallel()
	r := &play.Recorder{}
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		forgetful(c)
		r.Use(c)
		c.NewLimiter = func(scope retry.ScopeKey, _ clock.Clock) adaptive.Limiter {
			if scope.Scope == "bad" {
				panic("new limiter")
			}
			return nil
		}
	})
	for _, scope := range []string{"orders", "users"} {
		require.NoError(t, s.RecordSuccess(sentIn(t, s, scope), retry.Result{}))
		clk.Advance(idle)
	}
	require.Panics(t, func() { _, _ = s.AcquireInitialToken(t.Context(), retry.Operation{Scope: "bad"}) })
	require.Len(t, r.Of(retry.ScopeEvicted), 1)
	require.EqualValues(t, 1, s.Snapshot().Evicted)
}

// hooked is a limiter that calls a function, once, after its state was read.
type hooked struct {
	*sendrate.Limiter
	hook *atomic.Pointer[func()]
}

func (l hooked) State() retry.ScopeSnapshot {
	state := l.Limiter.State()
	if hook := l.hook.Swap(nil); hook != nil {
		(*hook)()
	}
	return state
}

// TestScopeIsNotEvictedWhenABackoffEndsWhileItIsLookedAt has two operations that sleep for
// hours. They begin to wait for send tokens after the sweep has seen that none waits.
func TestScopeIsNotEvictedWhenABackoffEndsWhileItIsLookedAt(t *testing.T) {
	t.Parallel()
	var hook atomic.Pointer[func()]
	s, clk := play.Adaptive(t, func(c *adaptive.Config) {
		forgetful(c)
		c.Standard.Base, c.Standard.MaxBackoff = 3*time.Hour, 3*time.Hour
		c.Standard.Random = func() float64 { return 1 }
		c.NewLimiter = func(scope retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			if scope.Scope != "orders" {
				return nil
			}
			return hooked{sendrate.NewLimiter(sendrate.Config{StartingRate: 0.5}, clk), &hook}
		}
	})
	done := make(chan error, 2)
	for range 2 {
		next := granted(t, s, begun(t, s, "orders"), errServer)
		go func() { done <- next.Wait(t.Context()) }()
	}
	require.NoError(t, clk.BlockUntil(t.Context(), 2))
	clk.Advance(time.Hour)
	require.NoError(t, s.RecordSuccess(sentIn(t, s, "users"), retry.Result{}))
	clk.Advance(time.Hour)
	wake := func() {
		clk.Advance(time.Hour)
		_ = clk.BlockUntil(t.Context(), 1) // there is a token for one of the two
	}
	hook.Store(&wake)
	require.NoError(t, s.RecordSuccess(sentIn(t, s, "carts"), retry.Result{}))
	require.Nil(t, hook.Load(), "the sweep has looked at the scope")
	require.Equal(t, 1, scopesOf(s)["orders"].Waiting)
	clk.Advance(2 * time.Second)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
}

// begun returns the first token of an operation.
func begun(t *testing.T, s retry.Strategy, scope string) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{Scope: scope})
	require.NoError(t, err)
	return token
}

// What a scope that goes lacks counts against the limit on debt of the next one.
func TestDebtLimitCountsWhatOtherScopesOwe(t *testing.T) {
	t.Parallel()
	s, clk := newStandard(t, func(c *standard.Config) { c.DebtLimit, c.MaxScopes = true, 1 })
	for range 3 {
		granted(t, s, sentIn(t, s, "a"), errServer)
	}
	clk.Advance(time.Second)
	token := sentIn(t, s, "b")
	require.Equal(t, 458, s.Snapshot().Scopes[1].Quota)
	_, err := s.RefreshRetryToken(t.Context(), token, errServer)
	require.ErrorIs(t, err, retry.ErrDebtLimit)
}

// sentIn returns the token of an attempt that was sent.
func sentIn(t *testing.T, s retry.Strategy, scope string) retry.Token {
	t.Helper()
	token := begun(t, s, scope)
	require.NoError(t, token.Wait(t.Context()))
	return token
}
