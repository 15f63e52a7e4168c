package ratelimit_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/ratelimit"
)

const crowd = 300

// inParallel runs f for 0, 1, ..., n-1 at the same time and waits for all.
func inParallel(n int, f func(i int)) {
	var group sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		group.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	group.Wait()
}

func TestQuotaConcurrentSafe(t *testing.T) {
	t.Parallel()
	const initial = 700
	quota := ratelimit.NewQuota(ratelimit.QuotaConfig{Capacity: initial, Initial: initial}, at(0))
	var kept, refused atomic.Int64

	inParallel(crowd, func(i int) {
		random := rand.New(rand.NewPCG(uint64(i), 2))
		for range 200 {
			cost := random.IntN(10)
			after, ok := quota.Take(at(0), cost)
			if after < 0 || after > initial {
				t.Errorf("%d available after taking %d", after, cost)
			}
			if !ok {
				refused.Add(1)
				continue
			}
			keep := min(cost, random.IntN(2)*random.IntN(2))
			kept.Add(int64(keep))
			if after = quota.Refund(cost - keep); after < 0 || after > initial {
				t.Errorf("%d available after giving back %d", after, cost-keep)
			}
		}
	})

	require.Positive(t, refused.Load(), "nobody ran into the limit")
	require.Equal(t, initial, int(kept.Load())+quota.Available(at(0)))
}

func TestQuotaFilledFromManySidesConcurrentSafe(t *testing.T) {
	t.Parallel()
	quota := ratelimit.NewQuota(ratelimit.QuotaConfig{Capacity: 1000}, at(0))

	inParallel(crowd, func(int) {
		for range 100 {
			quota.Refund(1)
		}
	})

	require.Equal(t, 1000, quota.Available(at(0)))
}

// The refill and the takers share the time, which goes back for some of them.
func TestQuotaRefillConcurrentSafe(t *testing.T) {
	t.Parallel()
	const ticks, perSecond, capacity = 100 * 512, 64, 1 << 30
	quota := ratelimit.NewQuota(ratelimit.QuotaConfig{Capacity: capacity, RefillPerSecond: perSecond}, at(0))
	var passed, taken atomic.Int64

	inParallel(crowd, func(int) {
		for n := passed.Add(1); n <= ticks; n = passed.Add(1) {
			if _, ok := quota.Take(at(0).Add(time.Duration(n)*tick), 1); ok {
				taken.Add(1)
			}
		}
	})

	require.Positive(t, taken.Load())
	require.Equal(t, ticks/512*perSecond, int(taken.Load())+quota.Available(at(0).Add(ticks*tick)))
}
