//go:build !race

package sim_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/standard"
)

// model is a play without the service, the strategy and the clock of the simulation: calls at random instants against a
// bucket of one second of its limit; three attempts; a quota of 500 tokens, of which a retry takes 5 after a throttle and
// 14 after a failure, and which a success gives back; a full jitter from 1 s on after a throttle, and from 50 ms on after
// a failure. From second 30 to 60 a share of the requests fails, and answers are slower.
type model struct{ limit, offered, fail, slower, end float64 }

// outcome has the shares and the latency, in seconds, of calls that end after second 30.
type outcome struct{ failed, perCall, throttled, p99 float64 }

type due struct {
	at, began float64
	attempt   int // zero for the arrival of a call
	cost      float64
	accepted  bool // an answer, for the one who waits for it
	throttled bool
}

func (m model) play(random *rand.Rand) outcome {
	const settled, healed, room = 30, 60, 500
	var calls, failed, attempts, throttled float64
	var latencies []float64
	tokens, last, quota := m.limit, 0.0, float64(room)
	queue := []due{{at: random.ExpFloat64() / m.offered}} // by their instants
	push := func(d due) {
		at, _ := slices.BinarySearchFunc(queue, d.at, func(x due, at float64) int { return cmp.Compare(x.at, at) })
		queue = slices.Insert(queue, at, d)
	}
	made := map[float64]float64{} // the attempts of a call, by its beginning
	refused := map[float64]float64{}
	for {
		d := queue[0]
		queue = queue[1:]
		if d.at >= m.end {
			slices.Sort(latencies)
			return outcome{failed / calls, attempts / calls, throttled / attempts, latencies[len(latencies)*99/100]}
		}
		troubled := d.at >= settled && d.at < healed
		if d.attempt == 0 {
			push(due{at: d.at + random.ExpFloat64()/m.offered})
			d.attempt, d.began = 1, d.at
		}
		if d.attempt > 0 { // it is sent
			tokens, last = math.Min(tokens+(d.at-last)*m.limit, m.limit), d.at
			answer := due{at: d.at + 0.005 + 0.015*random.Float64(), began: d.began, attempt: -d.attempt, cost: d.cost}
			if troubled {
				answer.at = d.at + (answer.at-d.at)*m.slower
			}
			if answer.throttled = tokens < 1; !answer.throttled {
				tokens--
				answer.accepted = !troubled || random.Float64() >= m.fail
			}
			push(answer)
			continue
		}
		made[d.began]++
		if d.throttled {
			refused[d.began]++
		}
		cost, base := 14.0, 0.05
		if d.throttled {
			cost, base = 5, 1
		}
		switch {
		case d.accepted:
			quota = math.Min(quota+math.Max(d.cost, 1), room)
		case d.attempt > -3 && quota >= cost:
			quota -= cost
			push(due{at: d.at + random.Float64()*base*math.Pow(2, float64(-d.attempt-1)), began: d.began, attempt: 1 - d.attempt, cost: cost})
			continue
		}
		if d.at >= settled {
			calls++
			attempts += made[d.began]
			throttled += refused[d.began]
			if d.accepted {
				latencies = append(latencies, d.at-d.began)
			} else {
				failed++
			}
		}
		delete(made, d.began)
		delete(refused, d.began)
	}
}

// TestModelsOfAFewLinesComeToTheSame compares means of several seeds with the figures that the models are known for.
func TestModelsOfAFewLinesComeToTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		model model
		known outcome // zero where a model is known for nothing
	}{
		{"a throttled table", model{limit: 200, offered: 300, slower: 1, end: 90}, outcome{failed: 0.334, throttled: 0.46, p99: 1.9}},
		{"below its limit", model{limit: 200, offered: 150, slower: 1, end: 90}, outcome{}},
		{"a little above", model{limit: 200, offered: 240, slower: 1, end: 90}, outcome{}},
		{"three times its limit", model{limit: 200, offered: 600, slower: 1, end: 90}, outcome{}},
		{"a brown-out", model{limit: 500, offered: 100, fail: 0.5, slower: 10, end: 120}, outcome{failed: 0.15}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := open()
			s.Rate, s.Burst, s.Offered = c.model.limit, c.model.limit, c.model.offered
			s.Latency = [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond}
			s.Duration = time.Duration(c.model.end) * time.Second
			s.Measured = sim.Window{From: 30 * time.Second, To: s.Duration}
			brown := s.Conditions
			brown.Fail, brown.Latency = c.model.fail, [2]time.Duration{time.Duration(c.model.slower * 5e6), time.Duration(c.model.slower * 2e7)}
			s.Phases = []sim.Phase{{From: 30 * time.Second, Conditions: brown}, {From: 60 * time.Second, Conditions: s.Conditions}}
			var want, got outcome
			const seeds = 5
			for seed := range uint64(seeds) {
				m := c.model.play(rand.New(rand.NewPCG(seed, 99)))
				want = outcome{want.failed + m.failed/seeds, want.perCall + m.perCall/seeds, want.throttled + m.throttled/seeds, want.p99 + m.p99/seeds}
				r, err := sim.Play(t.Context(), s, inStandardMode(standard.Config{}), seed+1)
				require.NoError(t, err)
				got = outcome{got.failed + r.FailedShare/seeds, got.perCall + r.AttemptsPerCall/seeds, got.throttled + r.ThrottledShare/seeds, got.p99 + r.LatencyP99/seeds}
			}
			require.InDelta(t, want.failed, got.failed, 0.01, "failed")
			require.InDelta(t, want.perCall, got.perCall, 0.02, "attempts per call")
			require.InDelta(t, want.throttled, got.throttled, 0.01, "throttled")
			require.InDelta(t, want.p99, got.p99, 0.06, "p99")
			for _, k := range []struct{ known, got, within float64 }{
				{c.known.failed, got.failed, 0.01}, {c.known.throttled, got.throttled, 0.01}, {c.known.p99, got.p99, 0.05},
			} {
				if k.known > 0 {
					require.InDelta(t, k.known, k.got, k.within)
				}
			}
		})
	}
}
