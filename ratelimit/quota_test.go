package ratelimit_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/ratelimit"
)

func TestNewQuotaCutsItsConfigToWhatMakesSense(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config        ratelimit.QuotaConfig
		wantAvailable int
		wantCapacity  int
		wantRefills   bool
	}{
		"zero value":             {ratelimit.QuotaConfig{}, 0, 0, false},
		"initial below capacity": {ratelimit.QuotaConfig{Capacity: 500, Initial: 20}, 20, 500, false},
		"initial above capacity": {ratelimit.QuotaConfig{Capacity: 5, Initial: 6}, 5, 5, false},
		"negative initial":       {ratelimit.QuotaConfig{Capacity: 5, Initial: -1}, 0, 5, false},
		"negative capacity":      {ratelimit.QuotaConfig{Capacity: -5, Initial: 3}, 0, 0, false},
		"refill":                 {ratelimit.QuotaConfig{Capacity: 5, RefillPerSecond: 0.1}, 0, 5, true},
		"negative refill":        {ratelimit.QuotaConfig{Capacity: 5, RefillPerSecond: -1}, 0, 5, false},
		"refill not a number":    {ratelimit.QuotaConfig{Capacity: 5, RefillPerSecond: ratelimit.Rate(math.NaN())}, 0, 5, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quota := ratelimit.NewQuota(tt.config, at(0))

			require.Equal(t, tt.wantAvailable, quota.Available(at(0)))
			require.Equal(t, tt.wantCapacity, quota.Capacity())
			require.Equal(t, tt.wantRefills, quota.Refills())
		})
	}
}

func TestQuotaAmountsOutOfRange(t *testing.T) {
	t.Parallel()
	full := ratelimit.QuotaConfig{Capacity: 10, Initial: 10}
	tests := map[string]struct {
		config    ratelimit.QuotaConfig
		take      int
		wantOK    bool
		wantAfter int
		refund    int
		wantEnd   int
	}{
		"negative cost takes nothing":               {full, -3, true, 10, 0, 10},
		"negative refund gives nothing":             {full, 4, true, 6, -2, 6},
		"largest cost":                              {full, math.MaxInt, false, 10, 0, 10},
		"largest refund":                            {full, 10, true, 0, math.MaxInt, 10},
		"largest capacity does not overflow":        {ratelimit.QuotaConfig{Capacity: math.MaxInt, Initial: math.MaxInt}, 1, true, math.MaxInt - 1, math.MaxInt, math.MaxInt},
		"no capacity refuses one":                   {ratelimit.QuotaConfig{}, 1, false, 0, 5, 0},
		"no capacity grants what costs nothing":     {ratelimit.QuotaConfig{}, 0, true, 0, 5, 0},
		"initial above capacity, all there is goes": {ratelimit.QuotaConfig{Capacity: 5, Initial: 50}, 5, true, 0, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quota := ratelimit.NewQuota(tt.config, at(0))

			after, ok := quota.Take(at(0), tt.take)

			require.Equal(t, tt.wantOK, ok)
			require.Equal(t, tt.wantAfter, after)
			require.Equal(t, tt.wantEnd, quota.Refund(tt.refund))
			require.Equal(t, tt.wantEnd, quota.Available(at(0)))
		})
	}
}

func TestQuotaRefills(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config ratelimit.QuotaConfig
		after  []float64 // seconds since the start at which Available is asked
		want   []int
	}{
		"not without a rate":               {ratelimit.QuotaConfig{Capacity: 10, Initial: 1}, []float64{1, 1e6}, []int{1, 1}},
		"whole tokens only":                {ratelimit.QuotaConfig{Capacity: 10, RefillPerSecond: 1}, []float64{0.5, 0.75, 1, 1.75, 2}, []int{0, 0, 1, 1, 2}},
		"the fraction is kept":             {ratelimit.QuotaConfig{Capacity: 10, RefillPerSecond: 2}, []float64{0.75, 1}, []int{1, 2}},
		"never above the capacity":         {ratelimit.QuotaConfig{Capacity: 10, Initial: 9, RefillPerSecond: 4}, []float64{0.25, 0.5, 100}, []int{10, 10, 10}},
		"never above it in one leap":       {ratelimit.QuotaConfig{Capacity: 10, Initial: 9, RefillPerSecond: 4}, []float64{1e9}, []int{10}},
		"time going back adds nothing":     {ratelimit.QuotaConfig{Capacity: 10, RefillPerSecond: 1}, []float64{3, 1, 2, 3, 4}, []int{3, 3, 3, 3, 4}},
		"time before the start is no debt": {ratelimit.QuotaConfig{Capacity: 10, Initial: 2, RefillPerSecond: 1}, []float64{-5, 0, 1}, []int{2, 2, 3}},
		"an endless rate fills it at once": {ratelimit.QuotaConfig{Capacity: 10, RefillPerSecond: ratelimit.Rate(math.Inf(1))}, []float64{0, 1e-9, 1}, []int{0, 10, 10}},
		"nothing fits a capacity of zero":  {ratelimit.QuotaConfig{RefillPerSecond: 5}, []float64{1, 10}, []int{0, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quota := ratelimit.NewQuota(tt.config, at(0))
			for i, seconds := range tt.after {
				require.Equal(t, tt.want[i], quota.Available(at(seconds)), "at %v s", seconds)
			}
		})
	}
}

// Each step brings 1/512 of a token, which a float holds exactly.
func TestQuotaRefillLosesNothingInSmallSteps(t *testing.T) {
	t.Parallel()
	const step = time.Second / 512
	quota := ratelimit.NewQuota(ratelimit.QuotaConfig{Capacity: 1000, RefillPerSecond: 1}, at(0))

	for i := range 100 * 512 {
		now := at(0).Add(time.Duration(i+1) * step)
		require.Equal(t, (i+1)/512, quota.Available(now), "step %d", i)
	}
}

func TestQuotaThatIsFullKeepsNoFraction(t *testing.T) {
	t.Parallel()
	config := ratelimit.QuotaConfig{Capacity: 10, Initial: 10, RefillPerSecond: 1}
	tests := map[string]struct {
		fill func(quota *ratelimit.Quota)
	}{
		"full from the start": {func(quota *ratelimit.Quota) {
			quota.Available(at(3.75))
		}},
		"filled by time": {func(quota *ratelimit.Quota) {
			quota.Take(at(0), 2)
			quota.Available(at(3.75))
		}},
		"filled by a refund": {func(quota *ratelimit.Quota) {
			quota.Take(at(0), 4)
			require.Equal(t, 9, quota.Available(at(3.5)))
			require.Equal(t, 10, quota.Refund(1))
			quota.Available(at(3.75))
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quota := ratelimit.NewQuota(config, at(0))
			tt.fill(quota)

			after, ok := quota.Take(at(3.75), 1)

			require.True(t, ok)
			require.Equal(t, 9, after)
			require.Equal(t, 9, quota.Available(at(4.5)))
			require.Equal(t, 10, quota.Available(at(4.75)))
		})
	}
}

func TestQuotaTakesWhatTimeHasBroughtUntilThen(t *testing.T) {
	t.Parallel()
	quota := ratelimit.NewQuota(ratelimit.QuotaConfig{Capacity: 10, RefillPerSecond: 2}, at(0))

	after, ok := quota.Take(at(1), 3)
	require.False(t, ok)
	require.Equal(t, 2, after)

	after, ok = quota.Take(at(1.5), 3)
	require.True(t, ok)
	require.Zero(t, after)
}
