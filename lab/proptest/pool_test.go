package proptest_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/quota"
)

func TestNoCallerWaitsForTokensThatAreThere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { rapid.SyncTest(t, playPool) })
}

func playPool(t *rapid.T) {
	capacity, pooled := drawInt(t, 5, 45, "capacity"), drawInt(t, 1, 20, "capacity of the pool")
	clk := clock.System{}
	config := quota.Config{Capacity: capacity, Pool: quota.New(quota.Config{Capacity: pooled, Waits: true}, clk.Now(), clk)}
	ctx, cancel := context.WithCancel(t.Context())
	run := &poolRun{ctx: ctx, capacity: capacity, pool: config.Pool, most: pooled}
	for range drawInt(t, 1, 3, "quotas") {
		config.Initial = drawInt(t, 0, capacity, "initial")
		run.quotas = append(run.quotas, quota.New(config, clk.Now(), clk))
	}
	defer run.wait.Wait()
	defer cancel()
	t.Repeat(map[string]func(*rapid.T){
		"":       run.check,
		"arrive": run.arrive,
		"come":   run.arrive,
		"charge": run.charge,
		"refund": run.refund,
		"pass":   func(t *rapid.T) { _ = clk.Sleep(ctx, drawPause(t, "pause")) },
	})
}

// poolRun is callers that wait for several quotas with one pool.
type poolRun struct {
	ctx      context.Context //nolint:containedctx // of all callers
	capacity int
	quotas   []*quota.Quota
	pool     *quota.Quota
	most     int // that the pool pays
	wait     sync.WaitGroup

	mu   sync.Mutex // guards what follows
	line []*poolWaiter
	paid []payment
}

type poolWaiter struct {
	quota *quota.Quota
	cost  int
}

type payment struct {
	payer *quota.Quota
	cost  int
}

func (r *poolRun) arrive(t *rapid.T) {
	w := &poolWaiter{drawFrom(t, "quota", r.quotas...), drawInt(t, 1, r.capacity, "cost")}
	limit := drawFrom(t, "limit", time.Hour, time.Hour, time.Second, 10*time.Millisecond)
	ctx, cancel := clock.WithTimeout(r.ctx, clock.System{}, drawFrom(t, "given up", time.Hour, time.Hour, time.Second))
	r.mu.Lock()
	r.line = append(r.line, w)
	r.mu.Unlock()
	r.wait.Go(func() {
		defer cancel()
		payer, err := w.quota.Wait(ctx, w.cost, limit, time.Time{})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.line = slices.DeleteFunc(r.line, func(other *poolWaiter) bool { return other == w })
		if err == nil {
			r.paid = append(r.paid, payment{payer, w.cost})
		}
	})
}

func (r *poolRun) charge(t *rapid.T) {
	cost := drawInt(t, 0, r.capacity, "cost")
	if payer := drawFrom(t, "quota", r.quotas...).Charge(cost); payer != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.paid = append(r.paid, payment{payer, cost})
	}
}

// refund gives back what was paid, or the token of a success.
func (r *poolRun) refund(t *rapid.T) {
	back := payment{drawFrom(t, "quota", r.quotas...), drawInt(t, 1, 5, "tokens")}
	r.mu.Lock()
	if len(r.paid) > 0 && drawBool(t, "of a retry") {
		back, r.paid = r.paid[0], r.paid[1:]
	}
	r.mu.Unlock()
	back.payer.Refund(back.cost)
}

// check sees that who is first in the line of a quota costs more than it has, and who is first of all whom the pool pays more
// than that has.
func (r *poolRun) check(t *rapid.T) {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := map[*quota.Quota]int{}
	pays := true
	for _, w := range r.line {
		first := waiting[w.quota] == 0
		waiting[w.quota]++
		if first {
			require.Less(t, w.quota.Available(), w.cost)
		}
		if w.cost <= r.most && pays {
			pays = false // for no one who came later
			if first {
				require.Less(t, r.pool.Available(), w.cost)
			}
		}
	}
	for _, q := range r.quotas {
		require.Equal(t, waiting[q], q.Waiting())
	}
}
