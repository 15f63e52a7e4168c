//go:build !race

package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
)

// model is a play without the service, the strategy and the clock of the simulation: calls at random instants against a
// bucket of one second of its limit; attempts; a quota of tokens, of which a retry takes 5 after a throttle and another number after a
// failure, and which a success gives back; a full jitter from 1 s on after a throttle, and from a base on after a failure. From one
// second to another a share of the requests fails, and answers are slower.
type model struct {
	limit, offered, from, to, fail, slower, end float64
	policy
}

type policy struct {
	attempts         int
	room, cost, base float64
}

// outcome has the shares and the latency, in seconds, of calls that end after second 30, and their attempts a second.
type outcome struct{ failed, throttled, p99, requests float64 }

type due struct {
	at, began float64
	attempt   int // zero for the arrival of a call
	cost      float64
	accepted  bool // an answer, for the one who waits for it
	throttled bool
}

func (m model) play(random *rand.Rand) outcome {
	const settled = 30
	var calls, failed, attempts, throttled float64
	var latencies []float64
	tokens, last, quota := m.limit, 0.0, m.room
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
			return outcome{failed / calls, throttled / attempts, latencies[len(latencies)*99/100], attempts / (m.end - settled)}
		}
		troubled := d.at >= m.from && d.at < m.to
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
		cost, base := m.cost, m.base
		if d.throttled {
			cost, base = 5, 1
		}
		switch {
		case d.accepted:
			quota = math.Min(quota+math.Max(d.cost, 1), m.room)
		case -d.attempt < m.attempts && quota >= cost:
			quota -= cost
			push(due{at: d.at + random.Float64()*math.Min(base*math.Pow(2, float64(-d.attempt-1)), 20), began: d.began, attempt: 1 - d.attempt, cost: cost})
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

// ranges are the lowest, the median and the highest outcome of ten seeds.
type ranges struct{ low, median, high outcome }

func (m model) ranges() (r ranges) {
	var all [4][]float64
	for seed := range uint64(10) {
		o := m.play(rand.New(rand.NewPCG(seed, 99)))
		for i, x := range []float64{o.failed, o.throttled, o.p99, o.requests} {
			all[i] = append(all[i], x)
		}
	}
	for i, of := range []*outcome{&r.low, &r.median, &r.high} {
		for _, sorted := range all {
			slices.Sort(sorted)
		}
		at := []int{0, 4, 9}[i]
		*of = outcome{all[0][at], all[1][at], all[2][at], all[3][at]}
	}
	return r
}

// played plays a simulation of the default settings.
func played(t *testing.T, args ...string) *result {
	t.Helper()
	s := completed(t, args...)
	variants, err := s.variants(nowhere())
	require.NoError(t, err)
	require.NoError(t, s.play(t.Context(), newProgress(nil, new(clock.Fake), 1), variants))
	return &result{Simulation: s, variants: variants}
}

// TestModelOfAFewLinesComparesAsSimulate holds the figures of the settings and of a variant to the model, and what the comparison
// says to it.
func TestModelOfAFewLinesComparesAsSimulate(t *testing.T) {
	t.Parallel()
	usual := policy{attempts: 3, room: 500, cost: 14, base: 0.05}
	with := func(change func(p *policy)) policy {
		p := usual
		change(&p)
		return p
	}
	for _, c := range []struct {
		name, args string
		model      model
		vs         string
		policy     policy
		known      outcome // that the settings are known for; zero for nothing
	}{
		{
			"a throttled table", "--limit 200 --offered 300",
			model{limit: 200, offered: 300, end: 90},
			"max_attempts=1", with(func(p *policy) { p.attempts = 1 }),
			outcome{failed: 0.334, throttled: 0.46, p99: 1.9},
		},
		{"below its limit", "--limit 200 --offered 150", model{limit: 200, offered: 150, end: 90}, "max_attempts=10", with(func(p *policy) { p.attempts = 10 }), outcome{}},
		{"a little above", "--limit 200 --offered 240", model{limit: 200, offered: 240, end: 90}, "quota_capacity=50", with(func(p *policy) { p.room = 50 }), outcome{}},
		{
			"a fifth fails", "--limit 500 --offered 100 --fail 20%",
			model{limit: 500, offered: 100, fail: 0.2, slower: 1, to: 90, end: 90},
			"max_attempts=10", with(func(p *policy) { p.attempts = 10 }),
			outcome{failed: 0.2 * 0.2 * 0.2},
		},
		{
			"a brown-out", "--limit 500 --offered 100 --phase 30s:fail=0.5;latency=10x --phase 60s:fail=0;latency=1x",
			model{limit: 500, offered: 100, fail: 0.5, slower: 10, from: 30, to: 60, end: 120},
			"v2.0", with(func(p *policy) { p.cost, p.base = 5, 1 }),
			outcome{failed: 0.15},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res := played(t, append(strings.Fields(c.args), "--workers", "0", "--vs", c.vs)...)
			require.Equal(t, time.Duration(c.model.end)*time.Second, res.Duration)
			var models [2]ranges
			for i, p := range []policy{usual, c.policy} {
				c.model.policy = p
				models[i] = c.model.ranges()
				want, runs := models[i].median, res.variants[i].runs
				for key, of := range map[string][2]float64{
					"failed_share": {want.failed, 0.01}, "throttled_share": {want.throttled, 0.01}, "latency_p99_s": {want.p99, 0.06},
					"requests_per_s": {want.requests, 0.02 * want.requests},
				} {
					require.InDelta(t, of[0], rowOf(key, runs).Median, of[1], "%s: %s", res.variants[i].Name, key)
				}
			}
			for _, k := range []struct{ known, got, within float64 }{
				{c.known.failed, rowOf("failed_share", res.variants[0].runs).Median, 0.01},
				{c.known.throttled, rowOf("throttled_share", res.variants[0].runs).Median, 0.01},
				{c.known.p99, rowOf("latency_p99_s", res.variants[0].runs).Median, 0.05},
			} {
				if k.known > 0 {
					require.InDelta(t, k.known, k.got, k.within)
				}
			}
			said := map[string]difference{}
			for _, d := range res.compare()[0].Differences {
				said[d.Figure] = d
			}
			t.Logf("%s\nmodel: %+v\n  with %s: %+v", strings.Join(res.answer(), " "), models[0], c.vs, models[1])
			for key, of := range map[string]func(o outcome) float64{
				"failed_share":   func(o outcome) float64 { return o.failed },
				"requests_per_s": func(o outcome) float64 { return o.requests },
				"latency_p99_s":  func(o outcome) float64 { return o.p99 },
			} {
				d, differs := said[key]
				from, to := of(models[0].median), of(models[1].median)
				apart := of(models[0].high) < of(models[1].low) || of(models[1].high) < of(models[0].low)
				if apart && math.Abs(to-from) > 0.02*max(from, to) {
					require.True(t, differs, "%s: the models are apart", key)
				}
				if differs {
					require.Equal(t, to > from, d.Variant > d.Settings, "%s: model %v and %v, said %+v", key, from, to, d)
				}
			}
		})
	}
}
