package adaptive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// failing is a limiter whose state cannot be read.
type failing struct {
	adaptive.Limiter
	fails *bool
}

func (l failing) State() retry.ScopeSnapshot {
	if *l.fails {
		panic("state")
	}
	return l.Limiter.State()
}

func TestPanicOfAFunctionOfTheUserHarmsOnlyItsOperation(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(c *adaptive.Config, fails *bool){
		"scope": func(c *adaptive.Config, fails *bool) {
			c.Standard.Scope = func(op retry.Operation) retry.ScopeKey {
				if *fails {
					panic("scope")
				}
				return op.Key()
			}
		},
		"limit": func(c *adaptive.Config, fails *bool) {
			c.SendLimit = func(retry.ScopeKey) adaptive.SendLimit {
				if *fails {
					panic("limit")
				}
				return adaptive.SendLimit{}
			}
		},
		"limiter": func(c *adaptive.Config, fails *bool) {
			c.NewLimiter = func(retry.ScopeKey, clock.Clock) adaptive.Limiter {
				if *fails {
					panic("limiter")
				}
				return nil
			}
		},
		"state": func(c *adaptive.Config, fails *bool) {
			c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
				return failing{sendrate.NewLimiter(sendrate.Config{}, clk), fails}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails := false
			s, clk := newStrategy(t, func(c *adaptive.Config) {
				forgetful(c)
				use(c, &fails)
			})
			require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "orders"}, errServer))
			clk.Advance(idle)
			require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "users"}))
			clk.Advance(idle)
			fails = true
			require.PanicsWithValue(t, name, func() {
				_, _ = s.AcquireInitialToken(t.Context(), retry.Operation{Scope: "carts"})
			})
			fails = false

			require.NoError(t, do(t.Context(), clk, s, retry.Operation{Scope: "carts"}, errServer))
			require.Contains(t, scopesOf(s), "carts")
			idleTwice(t, clk, s)
			idleTwice(t, clk, s)
			for _, name := range []string{"orders", "users", "carts"} {
				require.NotContains(t, scopesOf(s), name)
			}
		})
	}
}

// unreported is a limiter that does not survive a success.
type unreported struct{ adaptive.Limiter }

func (l unreported) Report(r ratelimit.Response) ratelimit.Change {
	if !r.Throttled {
		panic("report")
	}
	return l.Limiter.Report(r)
}

func TestQuotaIsGivenBackAlthoughTheLimiterPanics(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *adaptive.Config) {
		c.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return unreported{sendrate.NewLimiter(sendrate.Config{}, clk)}
		}
	})
	token, err := s.RefreshRetryToken(t.Context(), sent(t, s), errThrottle)
	require.NoError(t, err)
	require.Equal(t, 495, scopesOf(s)[""].Quota)
	clk.Advance(time.Minute)
	require.NoError(t, token.WithoutDelay().Wait(t.Context()))
	require.PanicsWithValue(t, "report", func() { _ = s.RecordSuccess(token) })
	require.Equal(t, 500, scopesOf(s)[""].Quota)
}

func TestOperationWhoseLimiterPanicsHasAnEnd(t *testing.T) {
	t.Parallel()
	var ends []retry.Event
	s, _ := newStrategy(t, func(config *adaptive.Config) {
		config.Standard.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.OperationEnded {
				ends = append(ends, e)
			}
		})
		config.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return unreported{sendrate.NewLimiter(sendrate.Config{}, clk)}
		}
	})
	require.PanicsWithValue(t, "report", func() {
		_ = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { return nil })
	})
	require.Len(t, ends, 1)
	require.Equal(t, "aborted", ends[0].Outcome())
	require.Equal(t, 1, ends[0].Attempt)
}
