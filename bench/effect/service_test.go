package effect

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/awsretry/awsretry/bench/internal/failure"
	"github.com/awsretry/awsretry/clock"
)

// service allows rate requests a second, with a burst, and answers after 5 to 20
// ms. What it does not allow it throttles, or it keeps the caller waiting, first
// come, first served, if it queues. It runs in a bubble's time.
type service struct {
	queues   bool
	failures float64 // the share of allowed requests that fail all the same

	mu      sync.Mutex // guards what follows
	rate    float64
	burst   float64
	tokens  float64
	last    time.Time
	failing bool // all requests fail
	random  *rand.Rand

	turn chan struct{} // held by the first in line
}

func newService(rate float64, burst time.Duration, seed uint64) *service {
	capacity := max(rate*burst.Seconds(), 1)
	return &service{
		rate: rate, burst: capacity, tokens: capacity, last: time.Now(),
		random: rand.New(rand.NewPCG(1, seed)), turn: make(chan struct{}, 1),
	}
}

var (
	errThrottle = failure.Throttle()
	errInternal = failure.Internal()
)

// call is one request. It returns when the service took it up, besides its error.
func (s *service) call(ctx context.Context) (at time.Time, err error) {
	latency, err := s.admit(ctx)
	at = time.Now()
	if slept := (clock.System{}).Sleep(ctx, latency); slept != nil {
		return at, slept
	}
	return at, err
}

// admit decides about a request, at once or when it is its turn and there is a
// token for it.
func (s *service) admit(ctx context.Context) (latency time.Duration, err error) {
	if !s.queues {
		return s.take(time.Now())
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	for {
		missing := s.missing(time.Now())
		if missing <= 0 {
			return s.take(time.Now())
		}
		if err := (clock.System{}).Sleep(ctx, missing); err != nil {
			return 0, err
		}
	}
}

// take decides about a request.
func (s *service) take(now time.Time) (latency time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	latency = 5*time.Millisecond + time.Duration(s.random.Int64N(int64(15*time.Millisecond)))
	s.refillLocked(now)
	switch {
	case s.failing:
		return latency, errInternal
	case s.tokens < 1:
		return latency, errThrottle
	}
	s.tokens--
	if s.failures > 0 && s.random.Float64() < s.failures {
		return latency, errInternal
	}
	return latency, nil
}

func (s *service) refillLocked(now time.Time) {
	s.tokens = min(s.tokens+now.Sub(s.last).Seconds()*s.rate, s.burst)
	s.last = now
}

// missing is how long the next token takes, rounded up.
func (s *service) missing(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refillLocked(now)
	if s.tokens >= 1 || s.failing {
		return 0
	}
	return time.Duration((1-s.tokens)/s.rate*float64(time.Second)) + 1
}

// change sets rate and state from now on.
func (s *service) change(rate float64, failing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refillLocked(time.Now())
	s.rate, s.failing = rate, failing
}
