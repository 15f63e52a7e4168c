package standard_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestNewNamesWhatIsOutOfRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config standard.Config
		want   string
	}{
		{"generation", standard.Config{Behavior: "v3"}, `standard: Behavior "v3": must be "v2.0" or "v2.1"`},
		{"capacity", standard.Config{QuotaCapacity: new(-5)}, "standard: QuotaCapacity -5: must not be negative"},
		{"first quota", standard.Config{QuotaInitial: new(-1)}, "standard: QuotaInitial -1: must not be negative"},
		{"cost", standard.Config{RetryCost: -2}, "standard: RetryCost -2: must not be negative"},
		{"cost of a timeout", standard.Config{TimeoutCost: -2}, "standard: TimeoutCost -2: must not be negative"},
		{"cost of a throttle", standard.Config{ThrottlingCost: -2}, "standard: ThrottlingCost -2: must not be negative"},
		{"quota wait", standard.Config{MaxQuotaWait: -1}, "standard: MaxQuotaWait -1ns: must not be negative"},
		{"delay", standard.Config{Base: -time.Second}, "standard: Base -1s: must not be negative"},
		{"delay after a throttle", standard.Config{ThrottlingBase: -1}, "standard: ThrottlingBase -1ns: must not be negative"},
		{"longest delay", standard.Config{MaxBackoff: -1}, "standard: MaxBackoff -1ns: must not be negative"},
		{"elapsed time", standard.Config{MaxElapsed: -1}, "standard: MaxElapsed -1ns: must not be negative"},
		{"shortest delay", standard.Config{MinDelay: -1}, "standard: MinDelay -1ns: must not be negative"},
		{
			"shortest delay above the longest one",
			standard.Config{MinDelay: 2 * time.Second, MaxBackoff: time.Second},
			"standard: MinDelay 2s: must not be above MaxBackoff, which is 1s",
		},
		{
			"shortest delay above the default of the longest one",
			standard.Config{MinDelay: time.Minute},
			"standard: MinDelay 1m0s: must not be above MaxBackoff, which is 20s",
		},
		{"longest hint", standard.Config{MaxHint: -1}, "standard: MaxHint -1ns: must not be negative"},
		{"scopes", standard.Config{MaxScopes: -1}, "standard: MaxScopes -1: must not be negative"},
		{"jitter", standard.Config{Jitter: 99}, "standard: Jitter 99: unknown kind"},
		{"refill", standard.Config{QuotaRefill: -1}, "standard: QuotaRefill -1: must be a finite number of 0 or more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := standard.New(c.config)
			require.EqualError(t, err, c.want)
			require.Nil(t, s)
		})
	}
	_, err := standard.New(standard.Config{QuotaRefill: ratelimit.Rate(math.NaN())})
	require.ErrorContains(t, err, "QuotaRefill NaN")
}

func TestFieldWithoutEffectBesideAnotherIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config standard.Config
		want   string
	}{
		{standard.Config{NoQuota: true, QuotaCapacity: new(0)}, "QuotaCapacity 0: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, QuotaInitial: new(7)}, "QuotaInitial 7: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, RetryCost: 1}, "RetryCost 1: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, TimeoutCost: 2}, "TimeoutCost 2: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, ThrottlingCost: 3}, "ThrottlingCost 3: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, QuotaRefill: 0.5}, "QuotaRefill 0.5: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, MaxQuotaWait: time.Second}, "MaxQuotaWait 1s: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, BackoffWhenEmpty: true}, "BackoffWhenEmpty true: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{NoQuota: true, DebtLimit: true}, "DebtLimit true: has no effect beside NoQuota (option WithoutQuota)"},
		{standard.Config{Backoff: noBackoff, Base: time.Second}, "Base 1s: has no effect beside Backoff"},
		{standard.Config{Backoff: noBackoff, ThrottlingBase: 2 * time.Second}, "ThrottlingBase 2s: has no effect beside Backoff"},
		{standard.Config{Backoff: noBackoff, Jitter: standard.Equal}, "Jitter equal: has no effect beside Backoff"},
	} {
		_, err := standard.New(c.config)
		require.EqualError(t, err, "standard: "+c.want)
	}
	_, err := standard.New(standard.Config{NoQuota: true, RetryCost: 1, ThrottlingCost: 3})
	require.ErrorContains(t, err, "RetryCost 1")
	require.ErrorContains(t, err, "ThrottlingCost 3")
	require.Equal(t, "unknown", standard.Jitter(99).String())
}

func noBackoff(int, error) time.Duration { return 0 }

func TestDelaysAreRandomUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	s, _ := newStrategy(t, func(c *standard.Config) { c.Random = nil })
	delays := map[time.Duration]bool{}
	for range 30 {
		token, err := s.RefreshRetryToken(t.Context(), begin(t, s, ""), errServer)
		require.NoError(t, err)
		require.LessOrEqual(t, token.Delay(), 50*time.Millisecond)
		delays[token.Delay()] = true
	}
	require.Greater(t, len(delays), 24)
}

// The longest delay before the jitter of decorrelated jitter follows the delay that was slept.
func TestDecorrelatedJitterGrowsFromTheShortestDelay(t *testing.T) {
	t.Parallel()
	s, clk := newStrategy(t, func(c *standard.Config) {
		c.Jitter, c.MaxAttempts, c.MinDelay = standard.Decorrelated, 4, time.Second
	})
	err := play.Do(t.Context(), clk, s, retry.Operation{}, errServer, errServer, errServer)
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}, clk.Waits())
}
