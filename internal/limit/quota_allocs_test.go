//go:build !race

package limit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/ratelimit"
)

func TestQuotaAllocatesNothing(t *testing.T) {
	for name, refill := range map[string]ratelimit.Rate{"fixed": 0, "refilling": 1} {
		t.Run(name, func(t *testing.T) {
			q := newQuota(limit.QuotaConfig{Capacity: 500, Initial: 500, Refill: refill, DebtStep: 5})
			require.Zero(t, testing.AllocsPerRun(1000, func() { takeAndRefund(q) }))
			require.Equal(t, 500, q.Available())
		})
	}
}
