package standard_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var (
	errServer   = vectors.Response{Status: 500, Kind: "transient"}.Err()
	errThrottle = vectors.Response{Status: 400, ErrorCode: "ThrottlingException", Kind: "throttling"}.Err()
)

// newStrategy returns a strategy on a fake clock, without jitter.
func newStrategy(t *testing.T, change func(c *standard.Config)) (retry.Strategy, *clock.Fake) {
	t.Helper()
	clk := &clock.Fake{}
	config := standard.Config{Clock: clk, Random: func() float64 { return 1 }}
	if change != nil {
		change(&config)
	}
	s, err := standard.New(config)
	require.NoError(t, err)
	return s, clk
}

type strategy interface {
	retry.Strategy
	Snapshot() retry.Snapshot
}

// scopes returns the quota of each scope.
func scopes(s strategy) map[string]int {
	quotas := map[string]int{}
	for _, scope := range s.Snapshot().Scopes {
		quotas[scope.Scope] = scope.Quota
	}
	return quotas
}

func begin(t *testing.T, s retry.Strategy, scope string) retry.Token {
	t.Helper()
	token, err := s.AcquireInitialToken(t.Context(), retry.Operation{Scope: scope})
	require.NoError(t, err)
	require.NoError(t, token.Wait(t.Context()))
	return token
}

// comeBackError is a hint that counts in full.
type comeBackError time.Duration

func (comeBackError) Error() string                       { return "come back later" }
func (comeBackError) Throttling() bool                    { return true }
func (c comeBackError) RetryAfter() (time.Duration, bool) { return time.Duration(c), true }
func (comeBackError) RetryAfterInFull() bool              { return true }

func TestHintsOfTheServer(t *testing.T) {
	t.Parallel()
	hinted := func(header string) error {
		return vectors.Response{Status: 500, Kind: "transient", Headers: map[string]string{"x-amz-retry-after": header}}.Err()
	}
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		config  standard.Config
		failure error
		want    time.Duration
		refused error
	}{
		{standard.Config{Behavior: retry.V20}, hinted("4000"), 4 * s, nil},
		{standard.Config{Behavior: retry.V20}, hinted("30000"), 20 * s, nil},
		{standard.Config{Behavior: retry.V20, MaxHint: time.Minute}, hinted("30000"), 30 * s, nil},
		{standard.Config{Behavior: retry.V20, MaxHint: ms}, hinted("4000"), s, nil},
		{standard.Config{}, hinted("4000"), 4 * s, nil},
		{standard.Config{}, hinted("9223372036854775807"), 5050 * ms, nil},
		{standard.Config{}, hinted("1"), 50 * ms, nil},
		{standard.Config{MaxHint: time.Minute}, hinted("9223372036854775807"), time.Minute, nil},
		{standard.Config{}, comeBackError(time.Minute), 66 * s, nil},
		{standard.Config{}, comeBackError(time.Minute + 1), 0, retry.ErrHintTooLong},
		{standard.Config{MaxHint: s}, comeBackError(2 * s), 0, retry.ErrHintTooLong},
		{standard.Config{MaxHint: 2 * time.Minute}, comeBackError(2 * time.Minute), 132 * s, nil},
	} {
		strategy, _ := newStrategy(t, func(config *standard.Config) { config.Behavior, config.MaxHint = c.config.Behavior, c.config.MaxHint })
		token, err := strategy.RefreshRetryToken(t.Context(), begin(t, strategy, ""), c.failure)
		require.ErrorIs(t, err, c.refused)
		require.Equal(t, c.want, token.Delay(), "%+v, %v", c.config, c.failure)
	}
}

// What the numbers do to an operation is tested by the model of the engine.
func TestPlanHasTheNumbersOfTheConfig(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, func(c *standard.Config) {
		c.MaxAttempts, c.QuotaCapacity, c.RetryCost, c.TimeoutCost, c.ThrottlingCost = 5, new(0), 1, 2, 3
		c.Base, c.ThrottlingBase, c.MinDelay, c.MaxBackoff, c.MaxElapsed = 6, 4, 5, 10, time.Hour
	})
	require.Equal(t, retry.Plan{
		MaxAttempts: 5, RetryCost: 1, TimeoutCost: 2, ThrottlingCost: 3,
		Base: 6, ThrottlingBase: 4, MinDelay: 5, MaxBackoff: 10, MaxElapsed: time.Hour,
	}, s.Plan(retry.Operation{Service: "dynamodb"}))

	s, _ = newStrategy(t, func(c *standard.Config) {
		c.NoQuota, c.MinDelay, c.MaxBackoff, c.Service = true, time.Second, time.Second, "dynamodb"
		c.Backoff = func(attempt int, _ error) time.Duration { return time.Duration(attempt-2) * 15 * time.Second }
	})
	plan := s.Plan(retry.Operation{})
	require.Equal(t, [...]int{4, 500, 0, 0, 0}, [...]int{plan.MaxAttempts, plan.QuotaCapacity, plan.RetryCost, plan.TimeoutCost, plan.ThrottlingCost})
	require.Zero(t, plan.Base+plan.ThrottlingBase)
	require.Equal(t, [...]time.Duration{1e9, 1e9, 1e9}, [...]time.Duration{plan.Backoff(1, nil), plan.Backoff(2, nil), plan.Backoff(4, nil)})
}

func TestFunctionsOfTheConfigAreThoseOfTheStrategy(t *testing.T) {
	t.Parallel()
	var told []retry.EventKind
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.QuotaCapacity, c.BackoffWhenEmpty, c.SharedAs = new(0), true, "both"
		c.Classifier = classify.NewChain(classify.Status())
		c.Observer = retry.ObserverFunc(func(_ context.Context, e retry.Event) { told = append(told, e.Kind) })
		c.Scope = func(op retry.Operation) retry.ScopeKey { return retry.ScopeKey{Name: op.Name} }
	})
	ctx, orders := t.Context(), retry.Operation{Name: "orders"}
	err := play.Do(ctx, clk, s, orders, errThrottle)
	require.Equal(t, errThrottle, err, "no status that is retried")
	err = play.Do(ctx, clk, s, orders, errServer)
	require.ErrorIs(t, err, retry.ErrQuotaExhausted)
	require.Equal(t, []time.Duration{50 * time.Millisecond}, clk.Waits())
	require.Equal(t, "both", s.Snapshot().SharedAs)
	require.Equal(t, retry.ScopeKey{Name: "orders"}, s.Snapshot().Scopes[1].Key)
	require.Len(t, told, 7)
}
