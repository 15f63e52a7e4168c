package effect

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// twoTables is how many operations on a table without a limit succeed in a minute,
// over how many do when its client has no other table: one with five requests a
// second, on which it has four workers too.
func twoTables(t *testing.T, c contender, seed uint64) float64 {
	t.Helper()
	c.setEnv(t)
	alone, together := oneMinute(t, c, seed, false), oneMinute(t, c, seed, true)
	return share(together, alone)
}

// oneMinute returns the successes on the table without a limit.
func oneMinute(t *testing.T, c contender, seed uint64, withNeighbor bool) int {
	t.Helper()
	free := &load{table: "free"}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		client := c.make(t, &waits{}, seed)
		limited := &load{table: "limited"}
		for l, rate := range map[*load]float64{free: 1e6, limited: 5} {
			l.service, l.start = newService(rate, time.Second, seed), time.Now()
			l.service.queues = c.queues
		}
		free.run(ctx, client, 4)
		if withNeighbor {
			limited.run(ctx, client, 4)
		}
		free.passUntil(ctx, time.Minute)
		stop()
		free.wg.Wait()
		limited.wg.Wait()
	})
	successes := 0
	for _, op := range free.operations {
		if op.err == nil {
			successes++
		}
	}
	return successes
}
