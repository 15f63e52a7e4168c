//go:build long

package sim_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/modes/standard"
)

// TestModelOfAFewLinesComesToTheSame plays calls at random instants against a bucket, without the service, the strategy
// and the clock of the simulation: three attempts, a quota of 500 tokens that a retry takes 5 of and a success gives
// back, and a full jitter from one second on.
func TestModelOfAFewLinesComesToTheSame(t *testing.T) {
	t.Parallel()
	for _, offered := range []float64{150, 240, 600} {
		var want, got [3]float64
		const seeds = 5
		for seed := range uint64(seeds) {
			failed, perCall, throttled := model(rand.New(rand.NewPCG(seed, 99)), 200, offered)
			for i, v := range []float64{failed, perCall, throttled} {
				want[i] += v / seeds
			}
			s := open()
			s.Offered, s.Latency = offered, [2]time.Duration{}
			r, err := sim.Play(t.Context(), s, inStandardMode(standard.Config{}), seed+1, nil)
			require.NoError(t, err)
			for i, v := range []float64{r.FailedShare, r.AttemptsPerCall, r.ThrottledShare} {
				got[i] += v / seeds
			}
		}
		require.InDelta(t, want[0], got[0], 0.015, "failed of %v", offered)
		require.InDelta(t, want[1], got[1], 0.03, "attempts per call of %v", offered)
		require.InDelta(t, want[2], got[2], 0.015, "throttled of %v", offered)
	}
}

type due struct {
	at      float64
	attempt int
}

type dues []due

func (d dues) Len() int           { return len(d) }
func (d dues) Less(i, j int) bool { return d[i].at < d[j].at }
func (d dues) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *dues) Push(x any)        { *d = append(*d, x.(due)) }
func (d *dues) Pop() any          { x := (*d)[len(*d)-1]; *d = (*d)[:len(*d)-1]; return x }

func model(random *rand.Rand, limit, offered float64) (failed, perCall, throttledShare float64) {
	tokens, quota, last, calls, attempts, throttled := limit, 500.0, 0.0, 0.0, 0.0, 0.0
	queue := &dues{{random.ExpFloat64() / offered, 1}}
	for {
		d := heap.Pop(queue).(due)
		if d.at > 90 {
			return failed / calls, attempts / calls, throttled / attempts
		}
		if d.attempt == 1 {
			heap.Push(queue, due{d.at + random.ExpFloat64()/offered, 1})
		}
		tokens, last = math.Min(tokens+(d.at-last)*limit, limit), d.at
		ok := tokens >= 1
		counts := 0.0
		if d.at >= 30 {
			counts = 1
		}
		attempts += counts
		switch {
		case ok:
			tokens--
			back := 1.0
			if d.attempt > 1 {
				back = 5
			}
			quota = math.Min(quota+back, 500)
			calls += counts
			continue
		case d.attempt < 3 && quota >= 5:
			quota -= 5
			heap.Push(queue, due{d.at + random.Float64()*math.Pow(2, float64(d.attempt-1)), d.attempt + 1})
		default:
			calls, failed = calls+counts, failed+counts
		}
		throttled += counts
	}
}
