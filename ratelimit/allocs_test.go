//go:build !race

package ratelimit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/ratelimit"
)

func TestQuotaAllocatesNothing(t *testing.T) {
	for name, refill := range map[string]ratelimit.Rate{"fixed": 0, "refilling": 1} {
		t.Run(name, func(t *testing.T) {
			quota := ratelimit.NewQuota(ratelimit.QuotaConfig{Capacity: 500, Initial: 500, RefillPerSecond: refill}, at(0))
			require.Zero(t, testing.AllocsPerRun(1000, func() { takeAndRefund(quota) }))
			require.Equal(t, 500, quota.Available(at(1)))
		})
	}
}
