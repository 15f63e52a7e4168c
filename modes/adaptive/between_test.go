package adaptive_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

func TestEvictionIsToldAlthoughTheNewScopeCannotBeMade(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		forgetful(c)
		r.use(c)
		c.NewLimiter = func(scope retry.ScopeKey, _ clock.Clock) adaptive.Limiter {
			if scope.Scope == "bad" {
				panic("new limiter")
			}
			return nil
		}
	})
	for _, scope := range []string{"orders", "users"} {
		require.NoError(t, s.RecordSuccess(sentIn(t, s, scope)))
		clk.Advance(idle)
	}
	require.Panics(t, func() { _, _ = s.AcquireInitialToken(t.Context(), retry.Operation{Scope: "bad"}) })
	require.Len(t, r.of(retry.ScopeEvicted), 1)
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
	s, clk := newStrategy(t, func(c *adaptive.Config) {
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
		next, err := s.RefreshRetryToken(t.Context(), begun(t, s, "orders"), errServer)
		require.NoError(t, err)
		go func() { done <- next.Wait(t.Context()) }()
	}
	require.NoError(t, clk.BlockUntil(t.Context(), 2))
	clk.Advance(time.Hour)
	require.NoError(t, s.RecordSuccess(sentIn(t, s, "users")))
	clk.Advance(time.Hour)
	wake := func() {
		clk.Advance(time.Hour)
		_ = clk.BlockUntil(t.Context(), 1) // there is a token for one of the two
	}
	hook.Store(&wake)
	require.NoError(t, s.RecordSuccess(sentIn(t, s, "carts")))
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

// sentIn returns the token of an attempt that was sent.
func sentIn(t *testing.T, s retry.Strategy, scope string) retry.Token {
	t.Helper()
	token := begun(t, s, scope)
	require.NoError(t, token.Wait(t.Context()))
	return token
}
