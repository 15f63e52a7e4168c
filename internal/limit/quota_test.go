package limit_test

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/ratelimit"
)

func newQuota(config limit.QuotaConfig) *limit.Quota {
	return limit.NewQuota(config, time.Time{}, clock.System{})
}

// reason returns why a wait was refused, or the error.
func reason(err error) error {
	if refused, ok := errors.AsType[*ratelimit.WaitError](err); ok && refused.Wait.Expected == 0 { // as refunds may come at any time
		return refused.Reason
	}
	return err
}

func TestQuotaFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.QuotaOps {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				q := newQuota(limit.QuotaConfig{Capacity: c.Capacity, Initial: c.Initial})
				for i, op := range c.Ops {
					if op.Acquire != nil {
						ok := q.Charge(vectors.Int(*op.Acquire)) != nil
						require.Equal(t, op.WantOK, ok, "step %d", i)
					} else {
						q.Refund(vectors.Int(*op.Release))
					}
					require.Equal(t, op.WantAfter, q.Available(), "step %d", i)
				}
			})
		}
	}
}

func TestPoolIsAFifthOfAQuotaButTwoRetriesAtLeast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ capacity, cost, want int }{
		{500, 14, 100},
		{500, 50, 100},
		{500, 51, 102},
		{28, 14, 28},
		{27, 14, 27},
		{7, 3, 6},
		{0, 14, 0},
		{1, 1, 1},
		{math.MaxInt, math.MaxInt, math.MaxInt},
		{math.MaxInt, 14, math.MaxInt / 5},
		{10, math.MaxInt, 10},
	} {
		got := limit.PoolOf(c.capacity, c.cost, true)
		require.Equal(t, limit.QuotaConfig{Capacity: c.want, Waits: true}, got, "capacity %d, cost %d", c.capacity, c.cost)
	}
	require.Equal(t, limit.QuotaConfig{Capacity: 100, Initial: 100}, limit.PoolOf(500, 0, false), "retries cost nothing")
}

func TestLargestCapacityDoesNotOverflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = math.MaxInt
		config := limit.QuotaConfig{Capacity: most, Waits: true, Refill: ratelimit.Rate(math.Inf(1))}
		q := limit.NewQuota(config, time.Now().Add(-1), clock.System{})
		require.Equal(t, most, q.Available())
		require.Same(t, q, q.Charge(1))
		q.Refund(most)
		require.Equal(t, most, q.Available())
		rounded := int64(1) << 53 // a float counts no further, and a waiter has to pay all
		if rounded < most {
			_, err := q.Wait(t.Context(), int(rounded+1), time.Minute, time.Time{})
			require.Equal(t, limit.ErrWaitLimit, reason(err))
		}
		_, err := q.Wait(t.Context(), int(min(rounded, most)), time.Minute, time.Time{})
		require.NoError(t, err)
	})
}

func TestNilQuotaPaysForNothing(t *testing.T) {
	t.Parallel()
	var none *limit.Quota
	require.Nil(t, none.Charge(0))
	require.True(t, none.Full())
	require.Zero(t, none.Available())
}
