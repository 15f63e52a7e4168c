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

// failing are the phases of an outage.
func failing(s *sim.Scenario, from, to time.Duration) []sim.Phase {
	outage := s.Conditions
	outage.Fail = 1
	return []sim.Phase{{From: from, Conditions: outage}, {From: to, Conditions: s.Conditions}}
}

// Each call that began has ended or is open at the end, and each attempt that the service took up
// was accepted, throttled or failed.
func TestSimulatedCallsAndAttemptsAreAllCounted(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]func(s *sim.Scenario){
		"closed": func(*sim.Scenario) {},
		"open":   func(s *sim.Scenario) { s.Workers, s.Offered = 0, 40 },
		"outage": func(s *sim.Scenario) {
			s.Offered = 25
			s.Phases = failing(s, 30*time.Second, 40*time.Second)
		},
		"clients": func(s *sim.Scenario) { s.Clients, s.Workers = 20, 5 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario := usual()
			s(&scenario)
			for _, v := range []sim.Variant{inStandardMode(standard.Config{}), inAdaptiveMode(standard.Config{})} {
				got := play(t, scenario, v)
				begun, sent, accepted, throttled := 0, 0, 0, 0
				for _, b := range got.Bins {
					require.LessOrEqual(t, b.Accepted+b.Throttled, b.Sent)
					require.LessOrEqual(t, got.LowestQuota, b.Quota)
					begun += b.Begun
					sent += b.Sent
					accepted += b.Accepted
					throttled += b.Throttled
				}
				require.Greater(t, begun, 1000)
				require.Less(t, float64(accepted), scenario.Burst+scenario.Rate*scenario.Duration.Seconds())
				require.Less(t, got.Goodput, 1.02*scenario.Rate)
				if scenario.Workers > 0 && v.Name == "standard" {
					require.LessOrEqual(t, float64(begun), scenario.Offered*scenario.Duration.Seconds()+100)
				}
				if len(scenario.Phases) == 0 {
					cut := sent - accepted - throttled // by the end, as nothing fails
					require.GreaterOrEqual(t, cut, 0)
					require.LessOrEqual(t, cut, 10)
				}
			}
		})
	}
}

// A quota and a pool that others fill are as good as a larger quota. The calls of the others do not
// count.
func TestSimulatedHealthyTablesHelpTheThrottledOne(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Rate, s.Burst, s.Offered, s.Workers = 5, 5, 100, 8
	for name, v := range map[string]sim.Variant{"standard": inStandardMode(standard.Config{}), "adaptive": inAdaptiveMode(standard.Config{})} {
		s.Healthy = 0
		alone := play(t, s, v)
		s.Healthy = 2
		helped := play(t, s, v)
		require.InDelta(t, s.Rate, helped.Goodput, 0.5, name)
		begun, pool := 0, 0
		for _, b := range helped.Bins {
			begun += b.Begun
			pool = max(pool, b.Pool)
		}
		require.LessOrEqual(t, float64(begun), s.Offered*s.Duration.Seconds()+100)
		require.Positive(t, pool)
		if name == "standard" {
			require.Greater(t, alone.FailedShare, 0.9)
			require.Less(t, helped.FailedShare, 0.5)
		}
	}
}

func TestSimulatedQuotaRecoversAfterAnOutage(t *testing.T) {
	t.Parallel()
	s := usual()
	s.Rate, s.Burst, s.Offered = 500, 500, 100
	s.Phases = failing(&s, 30*time.Second, 60*time.Second)
	got := play(t, s, inStandardMode(standard.Config{}))
	require.Zero(t, got.Recover)
	require.InDelta(t, 30.2, got.Emptied, 0.2)
	require.InDelta(t, 0.5, got.FailedShare, 0.01)
	require.Equal(t, 500%14, got.LowestQuota)
	require.Equal(t, 500, got.Bins[len(got.Bins)-1].Quota)

	s.Phases = s.Phases[:1]
	require.True(t, math.IsNaN(play(t, s, inStandardMode(standard.Config{})).Recover), "it lasts to the end")
}

// A deadline ends waits out of their order, and each call in its time.
func TestSimulatedDeadlineEndsCalls(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]sim.Variant{"deadline": inAdaptiveMode(standard.Config{}), "max elapsed": inAdaptiveMode(standard.Config{MaxElapsed: time.Second})} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := time.Second + 20*time.Millisecond // an attempt that was sent goes on
			if name == "deadline" {
				v.Deadline, most = time.Second, time.Second
			}
			got := play(t, usual(), v)
			require.InDelta(t, most.Seconds(), got.LatencyMax, 0.005)
			require.LessOrEqual(t, got.LatencyMax, most.Seconds())
			require.Greater(t, got.FailedShare, 0.5)
			require.Greater(t, got.Goodput, 35.0)
		})
	}
}

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

func (d dues) Len() int { return len(d) }

func (d dues) Less(i, j int) bool { return d[i].at < d[j].at }

func (d dues) Swap(i, j int) { d[i], d[j] = d[j], d[i] }

func (d *dues) Push(x any) { *d = append(*d, x.(due)) }

func (d *dues) Pop() any { x := (*d)[len(*d)-1]; *d = (*d)[:len(*d)-1]; return x }

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
