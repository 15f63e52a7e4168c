//go:build !race

// One goroutine plays them, so that the race detector has nothing to find.

package sendrate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// limited is a service that allows so many tokens a second and saves up a burst, with a client that
// sends whenever it may, or not before the next request of its demand.
type limited struct {
	rate, burst float64
	cost        float64 // of a request; 0 means 1
	demand      float64 // requests per second; 0 means as many as the send rate allows
	failing     bool
	random      *rand.Rand // of the latency of 5 to 20 ms

	send              sendrate.SendRate
	now, last         time.Time
	tokens            float64
	served, throttled int
	answers           []answer
}

// answer is one that is on its way.
type answer struct {
	at time.Time
	r  ratelimit.Response
}

func newLimited(rate, burst float64, config sendrate.Config) *limited {
	config.Controller = ratelimit.Hold
	return &limited{
		rate: rate, burst: burst, tokens: burst, cost: config.Cost, random: rand.New(rand.NewPCG(54, uint64(rate))),
		send: sendrate.New(config, at(0)), now: at(0), last: at(0),
	}
}

// run lets so many seconds pass and returns the goodput as a share of the rate and the share of throttles.
func (s *limited) run(seconds float64) (goodput, throttled float64) {
	s.served, s.throttled = 0, 0
	cost := max(s.cost, 1)
	due := s.now
	for end := s.now.Add(time.Duration(seconds * float64(time.Second))); s.now.Before(end); {
		if s.now.Before(due) {
			s.pass(due)
			continue
		}
		at, ok := s.send.Take(s.now, cost)
		if !ok {
			s.pass(at)
			continue
		}
		s.request(cost)
		demand := s.demand
		if demand == 0 && !s.send.State().Limited {
			demand = 5 * s.rate
		}
		if demand > 0 {
			due = due.Add(time.Duration(float64(time.Second) / demand))
		}
	}
	total := float64(s.served + s.throttled)
	return float64(s.served) * cost / (seconds * s.rate), float64(s.throttled) / total
}

// request sends one. The service decides at once.
func (s *limited) request(cost float64) {
	s.tokens = min(s.tokens+s.now.Sub(s.last).Seconds()*s.rate, s.burst)
	s.last = s.now
	throttled := s.failing || s.tokens < cost
	if !throttled {
		s.tokens -= cost
		s.served++
	} else {
		s.throttled++
	}
	latency := 5*time.Millisecond + time.Duration(s.random.Int64N(int64(15*time.Millisecond)))
	s.answers = append(s.answers, answer{s.now.Add(latency), ratelimit.Response{Sent: s.now, Cost: s.cost, Throttled: throttled}})
}

// pass lets the next answer arrive that comes by then, or time pass until then.
func (s *limited) pass(until time.Time) {
	first := -1
	for i, a := range s.answers {
		if !a.at.After(until) && (first < 0 || a.at.Before(s.answers[first].at)) {
			first = i
		}
	}
	if first < 0 {
		s.now = until
		return
	}
	a := s.answers[first]
	s.answers = append(s.answers[:first], s.answers[first+1:]...)
	s.now = a.at
	s.send.Report(s.now, a.r)
}

func TestHoldStaysJustBelowTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rate, burst, cost, goodput, throttled float64 }{
		{rate: 0.5, burst: 1, goodput: 0.85, throttled: 0.03},
		{rate: 1, burst: 1, goodput: 0.9, throttled: 0.03},
		{rate: 2, burst: 1, goodput: 0.9, throttled: 0.03},
		{rate: 5, burst: 1, goodput: 0.9, throttled: 0.03},
		{rate: 5, burst: 5, goodput: 0.97, throttled: 0.04},
		{rate: 10, burst: 21, goodput: 0.97, throttled: 0.03},
		{rate: 50, burst: 50, goodput: 0.97, throttled: 0.01},
		{rate: 500, burst: 500, goodput: 0.97, throttled: 0.002},
		{rate: 10, burst: 2, cost: 2, goodput: 0.9, throttled: 0.03}, // five requests a second
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			s := newLimited(c.rate, c.burst, sendrate.Config{Cost: c.cost})
			s.run(max(90, 100/c.rate))
			goodput, throttled := s.run(max(120, 400/c.rate))
			t.Logf("goodput %.3f R, %.2f %% throttled", goodput, 100*throttled)
			require.GreaterOrEqual(t, goodput, c.goodput)
			require.LessOrEqual(t, throttled, c.throttled)
		})
	}
}

func TestHoldLeavesAMarginMostOfTheTime(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{5, 50} {
		s := newLimited(rate, rate, sendrate.Config{})
		s.run(120)
		var rates []float64
		for range 200 {
			s.run(1)
			rates = append(rates, s.send.State().FillRate)
		}
		slices.Sort(rates)
		require.InDelta(t, 0.98*rate, rates[100], 0.015*rate, "the median")
	}
}

func TestHoldFollowsALimitThatChanges(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{2, 5, 10, 50, 500} {
		for _, times := range []float64{0.5, 2} {
			t.Run(fmt.Sprintf("%v times %v a second", times, rate), func(t *testing.T) {
				t.Parallel()
				s := newLimited(rate, rate, sendrate.Config{})
				s.run(120)
				s.rate, s.burst = times*rate, max(1, times*rate)
				s.run(40)
				goodput, _ := s.run(40)
				require.InDelta(t, 1, goodput, 0.1)
			})
		}
	}
}

func TestHoldKeepsTheLimitInAnOutage(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{5, 20} {
		for _, outage := range []float64{1, 5, 30} {
			first, later := 0.0, 0.0
			const moments = 10 // of the probes
			for i := range moments {
				s := newLimited(rate, rate, sendrate.Config{})
				s.run(60 + float64(7*i))
				s.failing = true
				s.run(outage)
				s.failing = false
				goodput, _ := s.run(10)
				first += goodput / moments
				s.run(10)
				goodput, _ = s.run(30)
				later += goodput / moments
			}
			t.Logf("%v/s, an outage of %v s: %.3f R in the first 10 s, then %.3f R", rate, outage, first, later)
			require.InDelta(t, 1, later, 0.05)
			require.GreaterOrEqual(t, first, 0.85)
		}
	}
}

// A client that asks for less than the rate allows learns nothing from the answers.
func TestHoldDoesNotRaiseWhatIsNotUsed(t *testing.T) {
	t.Parallel()
	s := newLimited(50, 50, sendrate.Config{})
	s.run(60)
	s.demand = 5
	s.run(5)
	before := s.send.State().FillRate
	s.run(3600)
	require.InEpsilon(t, before, s.send.State().FillRate, 1e-9)
}

// One call a minute, and then as many as the limit allows: a throttle of before does not keep them back.
func TestHoldForgetsAThrottleOfAClientWithLittleDemand(t *testing.T) {
	t.Parallel()
	s := newLimited(100, 100, sendrate.Config{})
	s.demand, s.failing = 1.0/60, true
	s.run(30)
	s.failing = false
	s.run(3600)
	s.demand = 0
	goodput, _ := s.run(30)
	t.Logf("goodput %.3f R in the first 30 s", goodput)
	require.GreaterOrEqual(t, goodput, 0.7)
}

func TestHoldBeginsAtAKnownLimit(t *testing.T) {
	t.Parallel()
	t.Run("and probes it after fifty requests", func(t *testing.T) {
		t.Parallel()
		s := newLimited(20, 1000, sendrate.Config{StartingRate: 10})
		s.run(4.9)
		require.InDelta(t, 10, s.send.State().FillRate, 1e-9)
		s.run(20)
		require.Greater(t, s.send.State().FillRate, 15.0)
	})
	t.Run("and never exceeds a ceiling", func(t *testing.T) {
		t.Parallel()
		s := newLimited(20, 20, sendrate.Config{Ceiling: 10})
		goodput, throttled := s.run(600)
		require.InEpsilon(t, 0.5, goodput, 0.01)
		require.Zero(t, throttled)
	})
	t.Run("and cuts from a ceiling that is too high now", func(t *testing.T) {
		t.Parallel()
		s := newLimited(20, 20, sendrate.Config{Ceiling: 10})
		s.run(300)
		s.rate, s.burst = 8, 8
		s.run(5)
		_, throttled := s.run(20)
		require.LessOrEqual(t, throttled, 0.04)
	})
	t.Run("and learns below a ceiling", func(t *testing.T) {
		t.Parallel()
		s := newLimited(5, 5, sendrate.Config{Ceiling: 10})
		s.run(60)
		goodput, throttled := s.run(120)
		require.InEpsilon(t, 1, goodput, 0.05)
		require.LessOrEqual(t, throttled, 0.04)
	})
}

// Whatever answers come, and in whatever order: the rate is a number, at least the lowest rate, and rises
// only towards three times what was measured.
func TestHoldRateIsBounded(t *testing.T) {
	t.Parallel()
	rose, atTheBound := 0, 0
	for seed := range uint64(400) {
		random := rand.New(rand.NewPCG(seed, 15))
		config := sendrate.Config{Controller: ratelimit.Hold, Cost: float64(random.IntN(3))}
		if seed%4 == 0 {
			config.StartingRate = ratelimit.Rate(between(random, 1, 1000))
		}
		rate := sendrate.New(config, at(0))
		now := at(0)
		for range 300 {
			now = now.Add(time.Duration(random.IntN(10)) * time.Duration(between(random, 1e5, 3e8)))
			r := ratelimit.Response{Throttled: random.IntN(4) == 0, Cost: between(random, 1e-3, 1e3)}
			if random.IntN(2) == 0 {
				r.Sent = now.Add(-time.Duration(between(random, 1e6, 2e9)))
			}
			if random.IntN(20) == 0 {
				r.Cost = []float64{math.MaxFloat64, 1e-300, math.NaN()}[random.IntN(3)]
			}
			before := rate.State()
			rate.Report(now, r)
			after := rate.State()
			require.False(t, math.IsNaN(after.FillRate), "seed %d", seed)
			require.GreaterOrEqual(t, after.FillRate, sendrate.HoldLeast, "seed %d", seed)
			bound := max(3*after.MeasuredRate, sendrate.HoldLeast)
			if before.Limited && after.FillRate > before.FillRate {
				rose++
				require.LessOrEqual(t, after.FillRate, bound*(1+1e-12), "seed %d", seed)
				if after.FillRate >= bound*(1-1e-12) {
					atTheBound++
				}
			}
		}
	}
	require.Positive(t, atTheBound, "none of %d rises reached the bound", rose)
}
