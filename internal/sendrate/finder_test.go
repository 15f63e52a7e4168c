//go:build !race

// One goroutine plays them, so that the race detector has nothing to find.

package sendrate_test

import (
	"fmt"
	"math/rand/v2"
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

// The service is the client's own, so that the finder proves it and stays 2 % below the limit most of the time.
func TestFinderStaysJustBelowALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rate, burst, cost, goodput, throttled float64 }{
		{rate: 0.5, burst: 1, goodput: 0.85, throttled: 0.03},
		{rate: 1, burst: 1, goodput: 0.88, throttled: 0.04},
		{rate: 2, burst: 1, goodput: 0.88, throttled: 0.03},
		{rate: 5, burst: 1, goodput: 0.9, throttled: 0.03},
		{rate: 5, burst: 5, goodput: 0.97, throttled: 0.04},
		{rate: 10, burst: 21, goodput: 0.97, throttled: 0.03},
		{rate: 50, burst: 50, goodput: 0.97, throttled: 0.01},
		{rate: 10, burst: 10, cost: 2, goodput: 0.95, throttled: 0.03}, // five requests a second
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			s := newLimited(c.rate, c.burst, sendrate.Config{Cost: c.cost})
			s.run(max(180, 100/c.rate))
			require.True(t, s.send.Alone())
			goodput, throttled := s.run(max(120, 400/c.rate))
			t.Logf("goodput %.3f R, %.2f %% throttled", goodput, 100*throttled)
			require.GreaterOrEqual(t, goodput, c.goodput)
			require.LessOrEqual(t, throttled, c.throttled)
		})
	}
}

func TestFinderFollowsALimitThatChanges(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{5, 10, 50} {
		for _, times := range []float64{0.5, 2} {
			t.Run(fmt.Sprintf("%v times %v a second", times, rate), func(t *testing.T) {
				t.Parallel()
				s := newLimited(rate, rate, sendrate.Config{})
				s.run(180)
				s.rate, s.burst = times*rate, max(1, times*rate)
				s.run(40)
				goodput, _ := s.run(40)
				require.InDelta(t, 1, goodput, 0.1)
			})
		}
	}
}

// Another client that takes from the bucket brings CUBIC back, and when it has gone, the proof begins anew.
func TestFinderDoubtsWhenOthersTakeFromTheLimit(t *testing.T) {
	t.Parallel()
	s := newLimited(10, 10, sendrate.Config{})
	s.run(180)
	require.True(t, s.send.Alone())
	for range 200 {
		s.run(0.2)
		s.tokens -= 1 - s.random.Float64()/2
	}
	require.False(t, s.send.Alone())
	s.run(180)
	require.True(t, s.send.Alone())
}

func TestFinderKeepsTheLimitInAnOutage(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{5, 20} {
		for _, outage := range []float64{1, 5, 30} {
			first, later := 0.0, 0.0
			const moments = 10 // of the probes
			for i := range moments {
				s := newLimited(rate, rate, sendrate.Config{})
				s.run(120 + float64(7*i))
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
			require.GreaterOrEqual(t, first, 0.8)
		}
	}
}

// A client that asks for less than the rate allows learns nothing from the answers.
func TestFinderDoesNotRaiseWhatIsNotUsed(t *testing.T) {
	t.Parallel()
	s := newLimited(50, 50, sendrate.Config{})
	s.run(180)
	require.True(t, s.send.Alone())
	s.demand = 5
	s.run(5)
	before := s.send.State().FillRate
	s.run(3600)
	require.InEpsilon(t, before, s.send.State().FillRate, 1e-9)
}

func TestFinderBelowACeiling(t *testing.T) {
	t.Parallel()
	s := newLimited(20, 20, sendrate.Config{Ceiling: 10})
	goodput, throttled := s.run(600)
	require.InEpsilon(t, 0.5, goodput, 0.01)
	require.Zero(t, throttled)
	s.rate, s.burst = 5, 5 // it has become too high
	s.run(180)
	goodput, throttled = s.run(120)
	require.InEpsilon(t, 1, goodput, 0.05)
	require.LessOrEqual(t, throttled, 0.04)
}
