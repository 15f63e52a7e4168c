package retry_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// brokenClock panics when it has been read for a number of times.
type brokenClock struct {
	*clock.Fake
	left int
}

func (c *brokenClock) Now() time.Time {
	if c.left--; c.left == 0 {
		panic("clock")
	}
	return c.Fake.Now()
}

// endAsOnce runs an operation whose attempts fail, and requires that it ends as
// one failure, with the quota as it was, and with the panic if there is one.
func endAsOnce(t *testing.T, clk *clock.Fake, inner retry.Strategy, panics any, opts ...retry.Option) {
	t.Helper()
	s := &counting{Strategy: inner}
	var recovered any
	clk.Run(func() {
		defer func() { recovered = recover() }()
		_, _ = retry.Do(t.Context(), s, retry.Operation{}, failing(errServer), opts...)
	})
	require.Equal(t, panics, recovered)
	require.Equal(t, []int{0, 1}, []int{s.successes, s.failures})
	require.Equal(t, 500, inner.(snapshotter).Snapshot().Scopes[0].Quota)
}

func TestPanicOfAFunctionOfTheUserEndsTheOperationOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		t.Run("random/"+mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			endAsOnce(t, clk, modes(t, clk, func(c *standard.Config) {
				c.Random = func() float64 { panic("random") }
			})[mode], "random")
		})
		t.Run("policy/"+mode, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			endAsOnce(t, clk, modes(t, clk, nil)[mode], "policy",
				retry.WithPolicy(func(int, error) error { panic("policy") }))
		})
	}
}

func TestPanicOfTheClockEndsTheOperationOnce(t *testing.T) {
	t.Parallel()
	// Before these readings the operation is not there yet: each strategy computes
	// the end of the operation, and Do notes its start.
	for mode, first := range map[string]int{"standard": 3, "adaptive": 4} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			for reading := first; ; reading++ {
				clk := &brokenClock{Fake: &clock.Fake{}}
				s := &counting{Strategy: modes(t, clk, func(c *standard.Config) { c.QuotaRefill = 1 })[mode]}
				clk.left = reading
				var recovered any
				clk.Run(func() {
					defer func() { recovered = recover() }()
					_, _ = retry.Do(t.Context(), s, retry.Operation{MaxElapsed: time.Hour}, failing(errServer))
				})
				require.LessOrEqual(t, s.successes+s.failures, 1)
				if recovered == nil {
					require.Greater(t, reading, 5)
					return
				}
				require.Equal(t, []int{0, 1}, []int{s.successes, s.failures}, "reading %d", reading)
			}
		})
	}
}

func TestObserverThatEndsItsGoroutineEndsTheOperation(t *testing.T) {
	t.Parallel()
	for kind := retry.AttemptEnded; kind <= retry.SendRateChanged; kind++ {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			told := false
			s := &counting{Strategy: modes(t, clk, func(c *standard.Config) {
				c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == kind {
						told = true
						runtime.Goexit()
					}
				})
			})["adaptive"]}
			returned := false
			clk.Run(func() {}, func() { // whose goroutine ends
				_, _ = retry.Do(t.Context(), s, retry.Operation{}, failing(statusError(429)))
				returned = true
			})
			require.True(t, told)
			require.False(t, returned)
			require.Equal(t, []int{0, 1}, []int{s.successes, s.failures})
			scope := s.Strategy.(snapshotter).Snapshot().Scopes[0]
			require.Zero(t, scope.Waiting)
			quota := 500 // no retry was made
			if kind == retry.RetryRefused {
				quota -= 2 * 5 // two were
			}
			require.Equal(t, quota, scope.Quota)
		})
	}
}
