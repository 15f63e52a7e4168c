package retry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestTimeoutOutOfRange(t *testing.T) {
	t.Parallel()
	second, slower := time.Second, retry.Slower{Quantile: 0.9, Factor: 3, Floor: time.Millisecond, Ceiling: time.Second}
	for name, c := range map[string]struct {
		timeout retry.AttemptTimeout
		want    string
	}{
		"none":            {nil, ""},
		"growing":         {retry.FixedTimeout{First: second, Factor: 2, Max: 8 * second}, ""},
		"no growth":       {retry.FixedTimeout{First: 1, Factor: 1}, ""},
		"any function":    {retry.TimeoutFunc(nil), ""},
		"no first":        {retry.FixedTimeout{}, "retry: FixedTimeout.First 0s: must be more than zero"},
		"negative factor": {retry.FixedTimeout{First: second, Factor: -1}, "retry: FixedTimeout.Factor -1: must be zero, or a finite number of 1 or more"},
		"NaN factor":      {retry.FixedTimeout{First: second, Factor: math.NaN()}, "retry: FixedTimeout.Factor NaN: must be zero, or a finite number of 1 or more"},
		"infinite factor": {retry.FixedTimeout{First: second, Factor: math.Inf(1)}, "retry: FixedTimeout.Factor +Inf: must be zero, or a finite number of 1 or more"},
		"small max":       {retry.FixedTimeout{First: second, Factor: 2, Max: 1}, "retry: FixedTimeout.Max 1ns: must be zero, or not less than First, which is 1s"},
		"idle max":        {retry.FixedTimeout{First: second, Max: second}, "retry: FixedTimeout.Max 1s: has no effect without a Factor of more than 1"},
		"nil learned":     {(*retry.LearnedTimeout)(nil), "retry: a *LearnedTimeout that was not made by NewLearnedTimeout: use what that returns"},
		"zero learned":    {&retry.LearnedTimeout{}, "retry: a *LearnedTimeout that was not made by NewLearnedTimeout: use what that returns"},
		"a pointer":       {&retry.FixedTimeout{First: second}, "retry: AttemptTimeout of type *retry.FixedTimeout: must be a FixedTimeout, a *LearnedTimeout or a TimeoutFunc"},
	} {
		calls := 0
		_, err := newWorld(t, "standard", nil).do(t.Context(), retry.Operation{}, func(context.Context, int) error {
			calls++
			return nil
		}, retry.WithAttemptTimeout(c.timeout))
		if c.want == "" {
			require.NoError(t, err, name)
			require.NoError(t, retry.CheckTimeout(c.timeout), name)
			continue
		}
		require.EqualError(t, err, c.want)
		require.EqualError(t, retry.CheckTimeout(c.timeout), c.want)
		require.Zero(t, calls)
	}
	for want, change := range map[string]func(s *retry.Slower){
		"retry: Slower.Quantile 1: must be above 0 and below 1":                func(s *retry.Slower) { s.Quantile = 1 },
		"retry: Slower.Quantile NaN: must be above 0 and below 1":              func(s *retry.Slower) { s.Quantile = math.NaN() },
		"retry: Slower.Factor 0.5: must be a finite number of 1 or more":       func(s *retry.Slower) { s.Factor = 0.5 },
		"retry: Slower.Factor +Inf: must be a finite number of 1 or more":      func(s *retry.Slower) { s.Factor = math.Inf(1) },
		"retry: Slower.Floor 0s: must be more than zero":                       func(s *retry.Slower) { s.Floor = 0 },
		"retry: Slower.Ceiling 1ns: must not be less than Floor, which is 1ms": func(s *retry.Slower) { s.Ceiling = 1 },
	} {
		changed := slower
		change(&changed)
		_, err := retry.NewLearnedTimeout(changed)
		require.EqualError(t, err, want)
	}
}

// hangs returns how long each attempt of an operation took that never comes to an end by itself.
func hangs(t *testing.T, op retry.Operation, timeout retry.AttemptTimeout) (took []time.Duration, err error) {
	t.Helper()
	s := modes(t, clock.System{}, func(c *standard.Config) { c.MaxAttempts = 4 })["standard"]
	_, err = retry.Do(t.Context(), s, op, func(ctx context.Context) (int, error) {
		began := time.Now()
		<-ctx.Done()
		took = append(took, time.Since(began))
		return 0, ctx.Err()
	}, retry.WithAttemptTimeout(timeout))
	return took, err
}

func TestTimeoutGrowsWithTheAttempt(t *testing.T) {
	t.Parallel()
	const s, longest = time.Second, math.MaxInt64 / 4
	for name, c := range map[string]struct {
		timeout retry.FixedTimeout
		want    []time.Duration
	}{
		"not":                             {retry.FixedTimeout{First: 2 * s}, []time.Duration{2 * s, 2 * s, 2 * s, 2 * s}},
		"as for S3":                       {retry.FixedTimeout{First: 2 * s, Factor: 2}, []time.Duration{2 * s, 4 * s, 8 * s, 16 * s}},
		"up to max":                       {retry.FixedTimeout{First: 2 * s, Factor: 1.5, Max: 4 * s}, []time.Duration{2 * s, 3 * s, 4 * s, 4 * s}},
		"not beyond the longest duration": {retry.FixedTimeout{First: s, Factor: math.MaxFloat64, Max: longest}, []time.Duration{s, longest}},
	} {
		synctest.Test(t, func(t *testing.T) {
			took, err := hangs(t, retry.Operation{MaxAttempts: len(c.want)}, c.timeout)
			require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
			require.Equal(t, c.want, took, name)
			late, ok := errors.AsType[*retry.AttemptTimeoutError](err)
			require.True(t, ok)
			require.Equal(t, c.want[len(c.want)-1], late.After)
		})
	}
}

func TestTimeoutDiffersByOperation(t *testing.T) {
	t.Parallel()
	choose := retry.TimeoutFunc(func(op retry.Operation) retry.AttemptTimeout {
		return map[string]retry.AttemptTimeout{
			"GetItem": retry.FixedTimeout{First: time.Second}, "Scan": retry.FixedTimeout{First: time.Minute},
			"Bad": retry.FixedTimeout{First: -1}, "Again": retry.TimeoutFunc(nil),
		}[op.Name]
	})
	synctest.Test(t, func(t *testing.T) {
		for name, want := range map[string]time.Duration{"GetItem": time.Second, "Scan": time.Minute} {
			took, err := hangs(t, retry.Operation{Name: name, MaxAttempts: 1}, choose)
			require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
			require.Equal(t, []time.Duration{want}, took)
		}
	})
	w := newWorld(t, "adaptive", nil)
	for name, want := range map[string]string{
		"Bad":   "FixedTimeout.First -1ns: must be more than zero",
		"Again": "returned a TimeoutFunc: must be a FixedTimeout, a *LearnedTimeout or nil",
	} {
		op := retry.Operation{Name: name, Resource: "orders"}
		attempts, err := w.do(t.Context(), op, always(nil), retry.WithAttemptTimeout(choose))
		require.EqualError(t, err, fmt.Sprintf(`retry: TimeoutFunc for %q in scope "//orders": %s`, name, want))
		require.Zero(t, attempts)
		require.Zero(t, w.acquired, "nothing was taken")
	}
	_, err := w.do(t.Context(), retry.Operation{Name: "Query"}, func(ctx context.Context, _ int) error {
		_, limited := ctx.Deadline()
		require.False(t, limited)
		return nil
	}, retry.WithAttemptTimeout(choose))
	require.NoError(t, err)
}
