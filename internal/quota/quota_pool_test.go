package quota_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/quota"
)

func TestPoolIsAFifthOfAQuotaButTwoRetriesAtLeast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ capacity, cost, want int }{
		{500, 14, 100},
		{500, 5, 100},
		{500, 50, 100},
		{500, 51, 102},
		{100, 14, 28},
		{504, 14, 100},
		{505, 14, 101},
		{28, 14, 28},
		{27, 14, 27},
		{5, 3, 5},
		{7, 3, 6},
		{0, 14, 0},
		{1, 1, 1},
		{math.MaxInt, math.MaxInt, math.MaxInt},
		{math.MaxInt, 14, math.MaxInt / 5},
		{10, math.MaxInt, 10},
	} {
		got := quota.PoolOf(c.capacity, c.cost)
		require.Equal(t, quota.Config{Capacity: c.want}, got, "capacity %d, cost %d", c.capacity, c.cost)
	}
	require.Equal(t, quota.Config{Capacity: 100, Initial: 100}, quota.PoolOf(500, 0), "retries cost nothing")
}

// withPool returns a quota and its pool.
func withPool(config quota.Config, inPool int) (q, pool *quota.Quota) {
	pool = newQuota(quota.Config{Capacity: 30, Initial: inPool})
	config.Pool = pool
	return newQuota(config), pool
}

func TestRefundBeyondTheCapacityGoesToThePool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		initial, inPool, refund int
		want, wantPool          int
	}{
		"nothing beyond":               {3, 5, 7, 10, 5},
		"all of it":                    {10, 5, 7, 10, 12},
		"the part that has no room":    {8, 5, 7, 10, 10},
		"up to the capacity":           {8, 25, 7, 10, 30},
		"none into a full pool":        {10, 30, 1, 10, 30},
		"a negative refund is nothing": {10, 5, -3, 10, 5},
		"the largest refund":           {0, 0, math.MaxInt, 10, 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, pool := withPool(quota.Config{Capacity: 10, Initial: c.initial}, c.inPool)

			require.Equal(t, c.want, q.Refund(at(0), c.refund))

			require.Equal(t, c.want, q.Available(at(0)))
			require.Equal(t, c.wantPool, q.Pooled(at(0)))
			require.Equal(t, c.wantPool, pool.Available(at(0)))
		})
	}
}

func TestChargeNamesWhatHasPaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		initial, inPool, cost int
		payer                 string
	}{
		"the quota, down to nothing":           {10, 30, 10, "quota"},
		"the pool, where the quota has less":   {9, 10, 10, "pool"},
		"neither, though both together could":  {9, 9, 10, ""},
		"the pool, above the capacity":         {10, 30, 11, "pool"},
		"nothing costs nothing, and the quota": {0, 0, 0, "quota"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, pool := withPool(quota.Config{Capacity: 10, Initial: c.initial}, c.inPool)
			require.Equal(t, c.payer != "", q.Covers(at(0), c.cost))

			payer := q.Charge(at(0), c.cost)

			require.Equal(t, map[string]*quota.Quota{"quota": q, "pool": pool, "": nil}[c.payer], payer)
			want := map[*quota.Quota]int{q: c.initial, pool: c.inPool}
			if payer != nil {
				want[payer] -= c.cost
			}
			require.Equal(t, want[q], q.Available(at(0)))
			require.Equal(t, want[pool], pool.Available(at(0)))
		})
	}
}

func TestQuotaWithoutAPoolPaysAlone(t *testing.T) {
	t.Parallel()
	q := newQuota(quota.Config{Capacity: 10, Initial: 10})
	require.Equal(t, 10, q.Refund(at(0), 5))
	require.Zero(t, q.Pooled(at(0)))
	require.Nil(t, q.Charge(at(0), 11))
	require.False(t, q.Covers(at(0), 11))
	require.Same(t, q, q.Charge(at(0), 10))
}

// The refill has filled the quota before the refund comes, whatever has looked at it since.
func TestRefillGoesNowhereAndARefundAfterItToThePool(t *testing.T) {
	t.Parallel()
	q, pool := withPool(quota.Config{Capacity: 10, Initial: 9, Refill: 1}, 0)
	require.Equal(t, 10, q.Refund(at(100), 3))
	require.Equal(t, 3, pool.Available(at(1000)), "time adds nothing to a pool")
	require.Equal(t, 10, q.Available(at(1000)))
	require.Equal(t, 3, pool.Available(at(1000)))
}

func TestPoolPaysWhileOthersWaitForTheQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := quota.New(quota.Config{Capacity: 30, Initial: 7}, time.Now(), clock.System{})
		q := quota.New(quota.Config{Capacity: 10, Initial: 4, Pool: pool}, time.Now(), clock.System{})
		served := make(chan error, 1)
		go func() { served <- q.Wait(t.Context(), 5, time.Hour) }()
		synctest.Wait()

		require.Same(t, pool, q.Charge(time.Now(), 4), "the tokens of the quota are for the one that waits")
		require.Nil(t, q.Charge(time.Now(), 4))

		require.Equal(t, 1, q.Waiting(), "who waits is not served by the pool")
		pool.Refund(time.Now(), 20)
		synctest.Wait()
		require.Equal(t, 1, q.Waiting())
		q.Refund(time.Now(), 1)
		require.NoError(t, <-served)
		require.Zero(t, q.Available(time.Now()))
		require.Equal(t, 23, pool.Available(time.Now()))
	})
}

// Each retry takes its cost from the quota of its scope or from the pool, and gives it back where
// it came from, so that nothing is made or lost; successes bring what the quotas have room for.
func TestPoolConcurrentSafe(t *testing.T) {
	t.Parallel()
	const rounds, capacity, initial, inPool = 1000, 1 << 30, 60, 15
	pool := newQuota(quota.Config{Capacity: capacity, Initial: inPool})
	quotas := make([]*quota.Quota, 4)
	for i := range quotas {
		quotas[i] = newQuota(quota.Config{Capacity: initial, Initial: initial, Pool: pool})
	}
	var brought, pooled, refused atomic.Int64

	inParallel(func(i int) {
		q, random := quotas[i%len(quotas)], rand.New(rand.NewPCG(uint64(i), 3))
		giveBack := func() {} // what the retry before took, so that quotas are empty now and then
		defer func() { giveBack() }()
		for range rounds {
			giveBack()
			giveBack = func() {}
			if random.IntN(50) == 0 {
				q.Refund(at(0), 1)
				brought.Add(1)
				continue
			}
			cost := 1 + random.IntN(40)
			payer := q.Charge(at(0), cost)
			switch payer {
			case nil:
				refused.Add(1)
				continue
			case pool:
				pooled.Add(1)
			}
			giveBack = func() { payer.Refund(at(0), cost) }
			runtime.Gosched()
		}
	})

	sum := pool.Available(at(0))
	for _, q := range quotas {
		sum += q.Available(at(0))
	}
	require.Equal(t, len(quotas)*initial+inPool+int(brought.Load()), sum)
	require.Positive(t, pooled.Load())
	require.Positive(t, refused.Load())
}
