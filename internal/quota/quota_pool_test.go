package quota_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
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
		got := quota.PoolOf(c.capacity, c.cost, false)
		require.Equal(t, quota.Config{Capacity: c.want}, got, "capacity %d, cost %d", c.capacity, c.cost)
	}
	require.Equal(t, quota.Config{Capacity: 100, Initial: 100}, quota.PoolOf(500, 0, false), "retries cost nothing")
}

// withPool returns a quota and its pool.
func withPool(config quota.Config, inPool int) (q timed, pool *quota.Quota) {
	pool = newQuota(quota.Config{Capacity: 30, Initial: inPool}).Quota
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

			q.Refund(c.refund)

			require.Equal(t, c.want, q.Available())
			require.Equal(t, c.wantPool, q.Pooled())
			require.Equal(t, c.wantPool, pool.Available())
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

			payer := q.Charge(c.cost)

			require.Equal(t, map[string]*quota.Quota{"quota": q.Quota, "pool": pool, "": nil}[c.payer], payer)
			want := map[*quota.Quota]int{q.Quota: c.initial, pool: c.inPool}
			if payer != nil {
				want[payer] -= c.cost
			}
			require.Equal(t, want[q.Quota], q.Available())
			require.Equal(t, want[pool], pool.Available())
		})
	}
}

func TestQuotaWithoutAPoolPaysAlone(t *testing.T) {
	t.Parallel()
	q := newQuota(quota.Config{Capacity: 10, Initial: 10})
	q.Refund(5)
	require.Equal(t, 10, q.Available())
	require.Zero(t, q.Pooled())
	require.Nil(t, q.Charge(11))
	require.Same(t, q.Quota, q.Charge(10))
}

// The refill has filled the quota before the refund comes, whatever has looked at it since.
func TestRefillGoesNowhereAndARefundAfterItToThePool(t *testing.T) {
	t.Parallel()
	q, pool := withPool(quota.Config{Capacity: 10, Initial: 9, Refill: 1}, 0)
	q.at(100).Refund(3)
	require.Equal(t, 10, q.Available())
	require.Equal(t, 3, pool.Available(), "time adds nothing to a pool")
	require.Equal(t, 10, q.at(1000).Available())
	require.Equal(t, 3, pool.Available())
}

// waiting returns two quotas that share a pool and let callers wait, on the time of a bubble.
func waiting(inPool int) (a, b, pool *quota.Quota) {
	of := func(config quota.Config) *quota.Quota {
		config.Waits = true
		return quota.New(config, time.Now(), clock.System{})
	}
	pool = of(quota.Config{Capacity: 30, Initial: inPool})
	config := quota.Config{Capacity: 10, Pool: pool}
	return of(config), of(config), pool
}

// caller is a Wait in a goroutine of its own.
type caller struct {
	payer *quota.Quota
	err   error
	ended bool
}

func (c *caller) wait(ctx context.Context, q *quota.Quota, cost int) *caller {
	go func() {
		c.payer, c.err = q.Wait(ctx, cost, time.Hour, time.Time{})
		c.ended = true
	}()
	synctest.Wait()
	return c
}

func TestNoCallerIsServedPastThoseWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, pool := waiting(4)
		first := new(caller).wait(t.Context(), a, 5)
		require.False(t, first.ended)
		a.Refund(4)
		require.Nil(t, a.Charge(4), "neither from the quota")
		require.Nil(t, b.Charge(4), "nor from the pool")
		b.Refund(4)
		require.Same(t, b, b.Charge(4), "what only others may have is not waited for")

		pool.Refund(1)
		synctest.Wait()
		require.True(t, first.ended)
		require.Same(t, pool, first.payer)
		require.Equal(t, 4, a.Available(), "a cost is not split")
		require.Zero(t, pool.Available())
		require.Same(t, a, a.Charge(4))
	})
}

func TestPoolServesWhoCameFirstOfAllQuotas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, pool := waiting(0)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first, second := new(caller).wait(t.Context(), a, 5), new(caller).wait(ctx, b, 5)
		third, fourth := new(caller).wait(t.Context(), a, 5), new(caller).wait(t.Context(), b, 5)
		require.Equal(t, []int{2, 2, 4}, []int{a.Waiting(), b.Waiting(), pool.Waiting()})

		a.Refund(5)
		synctest.Wait()
		require.Same(t, a, first.payer, "its own quota serves it first")
		require.False(t, third.ended)
		pool.Refund(4)
		cancel()
		synctest.Wait()
		require.ErrorIs(t, second.err, context.Canceled)
		require.False(t, third.ended)
		pool.Refund(6)
		synctest.Wait()
		require.Same(t, pool, third.payer)
		require.Same(t, pool, fourth.payer)
		require.Zero(t, pool.Available())
		require.Equal(t, []int{0, 0, 0}, []int{a.Waiting(), b.Waiting(), pool.Waiting()})
	})
}

// The second caller could be served by the pool as soon as the first has left.
func TestPoolServesTheNextWhenTheFirstGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, pool := waiting(4)
		ctx, cancel := context.WithCancel(t.Context())
		dear, cheap := new(caller).wait(ctx, a, 5), new(caller).wait(t.Context(), b, 3)
		require.False(t, cheap.ended)
		cancel()
		synctest.Wait()
		require.True(t, dear.ended)
		require.Same(t, pool, cheap.payer)
		require.Equal(t, 1, pool.Available())
	})
}

func TestCallerWhomThePoolCanNeverServeHoldsNoOtherUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, b, pool := waiting(0)
		large := quota.New(quota.Config{Capacity: 100, Pool: pool, Waits: true}, time.Now(), clock.System{})
		dear, cheap := new(caller).wait(t.Context(), large, 31), new(caller).wait(t.Context(), b, 3)
		pool.Refund(30)
		synctest.Wait()
		require.False(t, dear.ended)
		require.Same(t, pool, cheap.payer)
		large.Refund(31)
		synctest.Wait()
		require.Same(t, large, dear.payer)
	})
}

// Callers of several quotas wait, give up and give back to who paid, at random. At the end every token is
// where it belongs.
func TestWaitersOfAPoolConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, pool := waiting(7)
		a.Refund(6)
		var wg sync.WaitGroup
		var mu sync.Mutex
		paid := map[*quota.Quota]int{}
		for i := range 40 {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 9))
				for range 50 {
					q, cost := a, 1+random.IntN(6)
					if random.IntN(2) == 0 {
						q = b
					}
					payer := q.Charge(cost)
					if payer == nil {
						var err error
						if payer, err = q.Wait(t.Context(), cost, time.Duration(random.IntN(30))*time.Millisecond, time.Time{}); err != nil {
							continue
						}
					}
					mu.Lock()
					paid[payer]++
					mu.Unlock()
					_ = clock.System{}.Sleep(t.Context(), time.Duration(random.IntN(3))*time.Millisecond)
					payer.Refund(cost)
				}
			})
		}
		wg.Wait()
		require.Equal(t, []int{6, 0, 7}, []int{a.Available(), b.Available(), pool.Available()})
		require.Positive(t, paid[a])
		require.Positive(t, paid[pool])
		require.Zero(t, pool.Waiting())
	})
}

// Each retry takes its cost from the quota of its scope or from the pool, and gives it back where
// it came from, so that nothing is made or lost; successes bring what the quotas have room for.
func TestPoolConcurrentSafe(t *testing.T) {
	t.Parallel()
	const rounds, capacity, initial, inPool = 1000, 1 << 30, 60, 15
	pool := newQuota(quota.Config{Capacity: capacity, Initial: inPool}).Quota
	quotas := make([]*quota.Quota, 4)
	for i := range quotas {
		quotas[i] = newQuota(quota.Config{Capacity: initial, Initial: initial, Pool: pool}).Quota
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
				q.Refund(1)
				brought.Add(1)
				continue
			}
			cost := 1 + random.IntN(40)
			payer := q.Charge(cost)
			switch payer {
			case nil:
				refused.Add(1)
				continue
			case pool:
				pooled.Add(1)
			}
			giveBack = func() { payer.Refund(cost) }
			runtime.Gosched()
		}
	})

	sum := pool.Available()
	for _, q := range quotas {
		sum += q.Available()
	}
	require.Equal(t, len(quotas)*initial+inPool+int(brought.Load()), sum)
	require.Positive(t, pooled.Load())
	require.Positive(t, refused.Load())
}
