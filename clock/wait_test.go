package clock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// asked counts how often a clock asks a context for something.
type asked struct {
	context.Context //nolint:containedctx // this type is a context
	times           atomic.Int64
}

func (a *asked) Value(key any) any {
	a.times.Add(1)
	return a.Context.Value(key)
}

func (a *asked) Err() error {
	a.times.Add(1)
	return a.Context.Err()
}

// Before each move of the time, Run has to know that no context has ended. It asks a context that
// many functions wait with once.
func TestFakeRunAsksAContextOnceForAllThatWaitWithIt(t *testing.T) {
	t.Parallel()
	const rounds = 3
	perSleep := func(functions int) float64 {
		var clk clock.Fake
		parent := &asked{Context: t.Context()}
		ctx, cancel := clk.WithTimeout(parent, time.Hour)
		defer cancel()
		fs := make([]func(), functions)
		for i := range fs {
			fs[i] = func() {
				for range rounds {
					_ = clk.Sleep(ctx, time.Duration(1000+i))
				}
			}
		}
		clk.Run(fs...)
		require.Len(t, clk.Waits(), rounds*functions)
		return float64(parent.times.Load()) / float64(rounds*functions)
	}
	require.LessOrEqual(t, perSleep(1600), 3*perSleep(100))
}

// Contexts end and begin while others are waited with.
func TestFakeRunKeepsTheContextsOfManyWaitsApart(t *testing.T) {
	t.Parallel()
	var clk clock.Fake
	const functions = 60
	ends := make([]time.Duration, functions)
	errs := make([]error, functions)
	cancels := make([]context.CancelFunc, functions)
	fs := make([]func(), functions)
	for i := range fs {
		ctx, cancel := context.WithCancel(t.Context())
		cancels[i] = cancel
		switch i % 3 {
		case 0: // cancelled by the next function
			fs[i] = func() {
				errs[i] = clk.Sleep(ctx, time.Hour)
				ends[i] = since(&clk)
			}
		case 1: // cancels
			fs[i] = func() {
				_ = clk.Sleep(ctx, time.Duration(functions-i)*time.Second)
				cancels[i-1]()
				errs[i] = clk.Sleep(ctx, time.Hour)
				ends[i] = since(&clk)
			}
		default: // has a deadline below a context of its own
			fs[i] = func() {
				limited, stop := clk.WithTimeout(ctx, time.Duration(i)*time.Minute)
				defer stop()
				errs[i] = clk.Await(limited, nil)
				ends[i] = since(&clk)
			}
		}
	}
	clk.Run(fs...)
	for i := range fs {
		cancels[i]()
		second := time.Duration(functions-i) * time.Second
		switch i % 3 {
		case 0:
			require.Equal(t, context.Canceled, errs[i])
			require.Equal(t, second-time.Second, ends[i], "at once")
		case 1:
			require.NoError(t, errs[i])
			require.Equal(t, time.Hour+second, ends[i])
		default:
			require.Equal(t, context.DeadlineExceeded, errs[i])
			require.Equal(t, time.Duration(i)*time.Minute, ends[i])
		}
	}
	require.Zero(t, clk.Waiters())
	require.Zero(t, clk.Contexts(), "the clock has let go of all")
}
