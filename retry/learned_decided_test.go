package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// refusing is a strategy around one of this module that grants no retry.
func refusing(s retry.Strategy) retry.Strategy {
	return foreign{Strategy: s, refresh: func(t retry.Token, failure error) (retry.Token, error) { return t, failure }}
}

// TestAttemptGoesOnWhereTheProgramDecidesAboutItsRetry has attempts of 10 ms, and then one of 45 ms. Their timeout is 30 ms.
func TestAttemptGoesOnWhereTheProgramDecidesAboutItsRetry(t *testing.T) {
	t.Parallel()
	against := retry.WithPolicy(func(_ struct{}, err error) error { return retry.Permanent(err) })
	for name, c := range map[string]struct {
		around  func(s retry.Strategy) retry.Strategy
		options []retry.Option
		want    int // attempts
	}{
		"a strategy of the module": {func(s retry.Strategy) retry.Strategy { return s }, nil, 2},
		"one around it":            {refusing, nil, 1},
		"a policy":                 {func(s retry.Strategy) retry.Strategy { return s }, []retry.Option{against}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, err := adaptive.New(adaptive.Config{})
				require.NoError(t, err)
				attempts, takes := 0, 10*time.Millisecond
				options := append(c.options, retry.WithAttemptTimeout(slower(t)))
				call := func() error {
					attempts = 0
					return retry.DoErr(t.Context(), c.around(s), retry.Operation{}, func(ctx context.Context) error {
						attempts++
						return clock.System{}.Sleep(ctx, takes)
					}, options...)
				}
				for range 100 {
					require.NoError(t, call())
				}
				takes = 45 * time.Millisecond
				require.NoError(t, call())
				require.Equal(t, c.want, attempts)
			})
		})
	}
}

// unruly is a limiter whose Give panics while a timer asks for a retry.
type unruly struct {
	adaptive.Limiter
	meanwhile func()
}

func (u *unruly) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	if r.NoWait && u.meanwhile != nil {
		u.meanwhile()
	}
	return u.Limiter.Acquire(ctx, r)
}

func (u *unruly) Give(r ratelimit.Request) {
	if u.meanwhile != nil {
		panic("on purpose")
	}
	u.Limiter.Give(r)
}

// A timer has no caller to panic for.
func TestLimiterThatPanicsInATimerDoesNotEndTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, done := &unruly{}, make(chan struct{})
		s, err := adaptive.New(adaptive.Config{NewLimiter: func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			limiter.Limiter = adaptive.Config{}.Limiter(clk, adaptive.SendLimit{Starting: 100, Burst: 1000})
			return limiter
		}})
		require.NoError(t, err)
		timeout := retry.WithAttemptTimeout(slower(t))
		for range 100 {
			require.NoError(t, retry.DoErr(t.Context(), s, retry.Operation{}, func(ctx context.Context) error {
				return clock.System{}.Sleep(ctx, 10*time.Millisecond)
			}, timeout))
		}
		limiter.meanwhile = func() { close(done); pause(time.Millisecond) } // in which the attempt ends
		require.NoError(t, retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error { <-done; return nil }, timeout))
		pause(time.Second)
	})
}
