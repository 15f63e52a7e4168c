package limit_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/limit"
)

func TestRoomIsTheTimeOfMostAttempts(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	random := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		took     func() time.Duration
		attempts int
		from, to time.Duration
	}{
		"not known":   {nil, 0, 0, 0},
		"one attempt": {func() time.Duration { return 50 * ms }, 1, 50 * ms, 50 * ms},
		"twice as long": {func() func() time.Duration {
			n := time.Duration(0)
			return func() time.Duration { n += 100 * ms; return n }
		}(), 2, 162_500 * time.Microsecond, 162_500 * time.Microsecond}, // 112.5 and twice 25
		"centuries":         {func() time.Duration { return 1<<63 - 1 }, 10, 24 * time.Hour, 24 * time.Hour},
		"all alike":         {func() time.Duration { return 50 * ms }, 100, 50 * ms, 51 * ms},
		"from 30 to 70 ms":  {func() time.Duration { return 30*ms + time.Duration(random.Int64N(int64(40*ms))) }, 1000, 55 * ms, 85 * ms},
		"a clock that went": {func() time.Duration { return -time.Hour }, 10, 0, 0},
		"instant ones, then 1s": {func() func() time.Duration {
			n := 0
			return func() time.Duration { n++; return time.Duration(n/100) * time.Second }
		}(), 199, time.Second, 1100 * ms},
	} {
		var r limit.AttemptTime
		for range c.attempts {
			r.Note(c.took())
		}
		require.GreaterOrEqual(t, r.Needed(), c.from, name)
		require.LessOrEqual(t, r.Needed(), c.to, name)
	}
}

func TestRoomConcurrentSafe(t *testing.T) {
	t.Parallel()
	var r limit.AttemptTime
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			for range 200 {
				r.Note(time.Second)
				require.LessOrEqual(t, r.Needed(), 2*time.Second)
			}
		})
	}
	group.Wait()
	require.InDelta(t, time.Second, r.Needed(), float64(10*time.Millisecond))
}
