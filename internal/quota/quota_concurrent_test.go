package quota_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/quota"
)

const crowd = 300

// inParallel runs f for 0, 1, ..., crowd-1 at the same time and waits for all.
func inParallel(f func(i int)) {
	var group sync.WaitGroup
	begin := make(chan struct{})
	for i := range crowd {
		group.Go(func() {
			<-begin
			f(i)
		})
	}
	close(begin)
	group.Wait()
}

// Each caller takes and gives back what it took, except for one token that it keeps. That
// leaves less than the dearest request wants.
func TestQuotaConcurrentSafe(t *testing.T) {
	t.Parallel()
	const initial, rounds, dearest = crowd + 100, 1000, 150
	q := newQuota(quota.Config{Capacity: initial, Initial: initial})
	var kept, refused atomic.Int64

	inParallel(func(i int) {
		random := rand.New(rand.NewPCG(uint64(i), 2))
		keep := 1
		for range rounds {
			cost := 1 + random.IntN(dearest)
			if q.Charge(cost) == nil {
				refused.Add(1)
			} else {
				q.Refund(cost - keep)
				kept.Add(int64(keep))
				keep = 0
			}
			if after := q.Available(); after < 0 || after > initial {
				t.Errorf("%d available, not within [0, %d]", after, initial)
			}
		}
	})

	require.Positive(t, refused.Load(), "no caller ran into the limit")
	require.Equal(t, initial, int(kept.Load())+q.Available())
	require.Positive(t, kept.Load())
}

func TestQuotaRefundConcurrentSafe(t *testing.T) {
	t.Parallel()
	const rounds = 5000
	q := newQuota(quota.Config{Capacity: crowd * rounds})

	inParallel(func(int) {
		for range rounds {
			q.Refund(1)
		}
	})

	require.Equal(t, crowd*rounds, q.Available())
}

// The refill and the takers share the time, which goes back for some of them, but not so far that the clock
// must have.
func TestQuotaRefillConcurrentSafe(t *testing.T) {
	t.Parallel()
	const ticks, perSecond, capacity = 4 * 512, 1600, 1 << 30
	q := newQuota(quota.Config{Capacity: capacity, Refill: perSecond})
	var passed, taken atomic.Int64

	inParallel(func(int) {
		for n := passed.Add(1); n <= ticks; n = passed.Add(1) {
			if q.on(at(0).Add(time.Duration(n)*tick)).Charge(1) != nil {
				taken.Add(1)
			}
		}
	})

	require.Positive(t, taken.Load())
	require.Equal(t, ticks/512*perSecond, int(taken.Load())+q.on(at(0).Add(ticks*tick)).Available())
}
