package retry_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestScopesOfOneServiceThatAreThrottledTogetherAreTold(t *testing.T) {
	t.Parallel()
	forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder) {
		t.Helper()
		last, before := table("users"), clk.Now()
		for _, name := range []string{"orders", "carts"} {
			throttle(t, s, table(name))
			clk.Advance(time.Second / 2)
		}
		clk.Run(func() {
			require.NoError(t, retry.DoErr(t.Context(), s, last, func(ctx context.Context) error {
				if attempt, _ := retry.AttemptFrom(ctx); attempt.Number == 1 {
					return errThrottled
				}
				return nil
			}))
		})
		told := r.of(retry.ScopesThrottledTogether)
		require.Len(t, told, 1)
		require.Equal(t, []retry.Event{{
			Kind: retry.ScopesThrottledTogether, Time: before.Add(time.Second), Operation: last, Attempt: 1,
			OperationID: told[0].OperationID,
			Scope:       retry.ScopeKey{Account: "111122223333", Service: "dynamodb", Region: "eu-west-1"},
			Scopes:      []retry.ScopeKey{table("orders").Key(), table("carts").Key(), last.Key()},
		}}, told)
	})
}

func TestEventOfScopesThrottledTogetherIsTheLastOfItsAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op   retry.Operation
		fail error
		ends func(t *testing.T, s retry.Strategy, token retry.Token)
		want string
	}{
		"an attempt that is retried": {
			fail: errThrottled,
			want: "attempt-ended retry-scheduled send-rate-changed scopes-throttled-together",
		},
		"the last attempt": {
			op: retry.Operation{MaxAttempts: 1}, fail: errThrottled,
			want: "attempt-ended retry-refused send-rate-changed scopes-throttled-together",
		},
		"an attempt that is marked as permanent": {
			fail: retry.Permanent(errThrottled),
			want: "attempt-ended retry-refused send-rate-changed scopes-throttled-together",
		},
		"an attempt that a rule keeps from being retried": {
			fail: ruled(errThrottled),
			want: "attempt-ended retry-refused send-rate-changed scopes-throttled-together",
		},
		"an attempt for which no retry is asked": {
			fail: errThrottled,
			ends: func(t *testing.T, s retry.Strategy, token retry.Token) {
				t.Helper()
				require.NoError(t, s.RecordFailure(token, errThrottled))
			},
			want: "attempt-ended send-rate-changed scopes-throttled-together operation-ended",
		},
		"an attempt that fails in another way": {
			fail: errServer, want: "attempt-ended retry-scheduled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
				t.Helper()
				throttle(t, s, table("orders"))
				throttle(t, s, table("carts"))
				op := table("users")
				op.MaxAttempts = c.op.MaxAttempts
				token := sent(t, s, op)
				r.events = nil
				if c.ends != nil {
					c.ends(t, s, token)
				} else if next, err := s.RefreshRetryToken(t.Context(), token, c.fail); err == nil {
					token = next
				}
				var kinds []string
				for _, e := range r.events {
					kinds = append(kinds, e.Kind.String())
				}
				want := c.want
				if strings.HasSuffix(t.Name(), "standard") {
					want = strings.Replace(want, "send-rate-changed ", "", 1)
				}
				require.Equal(t, want, strings.Join(kinds, " "))
				_ = s.RecordFailure(token, c.fail)
				require.LessOrEqual(t, len(r.of(retry.ScopesThrottledTogether)), 1, "an attempt counts once")
			})
		})
	}
}

func TestObserverOfScopesThrottledTogetherMayUseTheStrategyAndPanic(t *testing.T) {
	t.Parallel()
	var s retry.Strategy
	told := 0
	use := func(c *standard.Config) {
		c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.ScopesThrottledTogether {
				told++
				throttle(t, s, table("from the observer"))
				panic("observer")
			}
		})
	}
	for _, s = range modes(t, &clock.Fake{}, use) {
		for i := range 10 {
			throttle(t, s, table(strconv.Itoa(i)))
		}
	}
	require.Equal(t, 2, told)
}

// As many attempts as scopes come back at the same time. Whatever their order is, one of them is the
// third of its service, and no other one is.
func TestScopesThrottledTogetherConcurrentSafe(t *testing.T) {
	t.Parallel()
	const services, scopes, minutes = 40, 5, 4
	forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, clk *clock.Fake, r *recorder) {
		t.Helper()
		for range minutes {
			var wg sync.WaitGroup
			for i := range services * scopes {
				op := table(strconv.Itoa(i))
				op.Service = "service " + strconv.Itoa(i%services)
				token := sent(t, s, op)
				wg.Go(func() {
					_, _ = s.RefreshRetryToken(t.Context(), token, errThrottled)
				})
			}
			wg.Wait()
			clk.Advance(time.Minute)
		}
		told := map[string]int{}
		for _, e := range r.of(retry.ScopesThrottledTogether) {
			told[e.Scope.Service]++
			require.Len(t, e.Scopes, 3)
			for i, key := range e.Scopes {
				require.Equal(t, e.Scope.Service, key.Service)
				require.NotContains(t, e.Scopes[:i], key)
			}
		}
		require.Len(t, told, services)
		for service, n := range told {
			require.Equal(t, minutes, n, service)
		}
	})
}

func TestThrottlesThatSayNothingOfAServiceDoNotCount(t *testing.T) {
	t.Parallel()
	named := func(op retry.Operation, change func(op *retry.Operation)) retry.Operation {
		change(&op)
		return op
	}
	for name, c := range map[string]struct {
		change func(c *standard.Config)
		third  retry.Operation
		told   bool
	}{
		"a third table":   {third: table("users"), told: true},
		"a known table":   {third: table("orders")},
		"another service": {third: named(table("users"), func(op *retry.Operation) { op.Service = "s3" })},
		"another region":  {third: named(table("users"), func(op *retry.Operation) { op.Region = "eu-west-2" })},
		"another account": {third: named(table("users"), func(op *retry.Operation) { op.Account = "444455556666" })},
		"an operation that takes no send tokens": {
			third: named(table("users"), func(op *retry.Operation) { op.Unpaced = true }), told: true,
		},
		"a scope with a name of its own": {
			third: named(table("users"), func(op *retry.Operation) { op.Scope = "mine" }), told: true,
		},
		"another operation where the scope is the operation": {
			change: func(c *standard.Config) {
				c.Scope = func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Name: op.Name + op.Resource} }
			},
			third: named(table("orders"), func(op *retry.Operation) { op.Name = "PutItem" }), told: true,
		},
		"one scope for all": {
			change: func(c *standard.Config) {
				c.Scope = func(retry.Operation) retry.ScopeKey { return retry.ScopeKey{Scope: "all"} }
			},
			third: table("users"),
		},
		"the strategy as a whole": {
			change: func(c *standard.Config) {
				c.Scope = func(op retry.Operation) retry.ScopeKey {
					if op.Resource == "users" {
						return retry.ScopeKey{}
					}
					return op.Key()
				}
			},
			third: table("users"),
		},
		"an operation without a place": {
			change: func(c *standard.Config) {
				c.Scope = func(op retry.Operation) retry.ScopeKey {
					if op.Resource == "users" {
						return retry.OverflowKey()
					}
					return op.Key()
				}
			},
			third: table("users"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forBothObserved(t, c.change, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
				t.Helper()
				before := []retry.Token{sent(t, s, table("orders")), sent(t, s, table("carts"))}
				third := sent(t, s, c.third)
				for _, token := range append(before, third) {
					require.NoError(t, s.RecordFailure(token, errThrottled))
				}
				require.Len(t, r.of(retry.ScopesThrottledTogether), map[bool]int{true: 1}[c.told])
			})
		})
	}
}

func TestThrottlesOfOperationsWithoutAServiceAreNotTold(t *testing.T) {
	t.Parallel()
	byConfig := func(c *standard.Config) { c.Service = "dynamodb" } // which only selects defaults
	forBothObserved(t, byConfig, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
		t.Helper()
		for i := range 10 {
			throttle(t, s, retry.Operation{Region: "eu-west-1", Resource: strconv.Itoa(i)})
		}
		require.Empty(t, r.of(retry.ScopesThrottledTogether))
	})
}

func TestAttemptThatWasNotMadeIsNoThrottle(t *testing.T) {
	t.Parallel()
	forBothObserved(t, nil, func(t *testing.T, s retry.Strategy, _ *clock.Fake, r *recorder) {
		t.Helper()
		for i := range 10 {
			token, err := s.AcquireInitialToken(t.Context(), table(strconv.Itoa(i)))
			require.NoError(t, err)
			_, err = s.RefreshRetryToken(t.Context(), token, errThrottled)
			require.NoError(t, err)
		}
		require.Empty(t, r.of(retry.ScopesThrottledTogether))
	})
}
