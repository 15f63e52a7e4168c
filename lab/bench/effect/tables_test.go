//go:build !race

package effect

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/awsretry/awsretry/internal/command/sim"
)

// twoTables is how many calls on a table without a limit succeed in a minute, over how
// many do when its client has no other table: one with five requests a second, on
// which it has four workers too.
func twoTables(t *testing.T, c contender, seed uint64) float64 {
	t.Helper()
	alone, together := oneMinute(t, c, seed, false), oneMinute(t, c, seed, true)
	return share(together, alone)
}

// again has four workers that call again at once.
func again(s sim.Scenario) sim.Scenario {
	s.Workers, s.Offered = 4, math.Inf(1)
	return s
}

// oneMinute returns the successes on the table without a limit.
func oneMinute(t *testing.T, c contender, seed uint64, withNeighbor bool) int {
	t.Helper()
	var calls, others []*sim.Call
	synctest.Test(t, func(t *testing.T) {
		var world bubble
		ctx, stop := context.WithCancel(t.Context())
		client := c.make(t, &waits{}, seed)
		free := newLoad(again(limited(1e6, time.Second)), c, seed, time.Now(), &calls)
		free.Begin(ctx, &world, client)
		if withNeighbor {
			neighbor := newLoad(again(limited(5, time.Second)), c, seed, time.Now(), &others)
			neighbor.Table = "limited"
			neighbor.Begin(ctx, &world, client)
		}
		_ = world.Sleep(ctx, time.Minute)
		stop()
		world.Wait()
	})
	successes := 0
	for _, call := range calls {
		if call.Err == nil {
			successes++
		}
	}
	return successes
}
