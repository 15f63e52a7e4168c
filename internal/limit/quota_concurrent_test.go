package limit_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
)

// Retries charge, wait, give up, and give back to who has paid. So nothing is made or lost.
func TestQuotaConcurrentSafe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const initial, inPool, room = 40, 7, 1000
		pool := newQuota(limit.QuotaConfig{Capacity: room, Initial: inPool, Waits: true})
		quotas := []*limit.Quota{pool}
		for range 3 {
			quotas = append(quotas, newQuota(limit.QuotaConfig{Capacity: room, Initial: initial, Pool: pool, DebtStep: 6}))
		}
		var all sync.WaitGroup
		var granted, refused, pooled atomic.Int64
		for i := range 60 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), 9))
				for range 50 {
					q, cost := quotas[1+random.IntN(3)], 1+random.IntN(6)
					payer := q.Charge(cost)
					if payer == nil {
						payer, _ = q.Wait(t.Context(), cost, time.Duration(random.IntN(30))*time.Millisecond, time.Time{})
					}
					switch payer {
					case nil:
						refused.Add(1)
						continue
					case pool:
						pooled.Add(1)
					}
					granted.Add(1)
					_ = clock.System{}.Sleep(t.Context(), time.Duration(random.IntN(3))*time.Millisecond)
					payer.Refund(cost)
					if most := q.DebtLimit(); q.Limits(cost) && random.IntN(2) == 0 {
						q.Failed()
					} else {
						q.Helped()
						require.LessOrEqual(t, most, room+6)
					}
				}
			})
		}
		all.Wait()
		for i, q := range quotas {
			require.Equal(t, []int{inPool, initial, initial, initial}[i], q.Available())
			require.Zero(t, q.Waiting())
		}
		require.EqualValues(t, 60*50, granted.Load()+refused.Load())
		require.Positive(t, refused.Load())
		require.Positive(t, pooled.Load())
	})
}

// ticking is a clock that moves each time that it is read. So who has to wait for a lock uses an old reading.
type ticking struct {
	clock.System
	ticks atomic.Int64
}

func (c *ticking) Now() time.Time { return time.Unix(0, c.ticks.Add(1)*int64(time.Millisecond)) }

func TestQuotaRefillConcurrentSafe(t *testing.T) {
	t.Parallel()
	clk := new(ticking)
	q := limit.NewQuota(limit.QuotaConfig{Capacity: 1 << 30, Refill: 500}, time.Unix(0, 0), clk)
	var all sync.WaitGroup
	var taken atomic.Int64
	for range 100 {
		all.Go(func() {
			for range 20 {
				if q.Charge(1) != nil {
					taken.Add(1)
				}
				q.Refund(0)
			}
		})
	}
	all.Wait()
	require.Positive(t, taken.Load())
	left := q.Available()
	require.Equal(t, int(clk.ticks.Load()/2), int(taken.Load())+left, "two ticks for a token")
}
