package sim

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// World is time, and tasks that run in it.
type World interface {
	clock.Clock
	// Go starts a task.
	Go(f func())
}

// Service allows so many requests a second, with a burst, and answers after its latency. What it
// does not allow it throttles, or it keeps the caller waiting, first come, first served, if it
// queues. It is safe for concurrent use. Use [NewService].
type Service struct {
	// Queues lets requests wait that would be throttled.
	Queues bool
	// Throttled and Failed are the errors of requests that are throttled and that fail.
	Throttled, Failed error

	latency  [2]time.Duration
	failures float64

	mu      sync.Mutex // guards what follows
	rate    float64
	burst   float64
	tokens  float64
	last    time.Time
	failing bool // all requests fail
	random  *rand.Rand

	turn chan struct{} // held by the first in line
}

// NewService returns the service of a scenario, which begins now. Its answers come of the seed.
func NewService(s Scenario, seed uint64, now time.Time) *Service {
	return &Service{
		Throttled: ServiceError{Code: "ThrottlingException", Status: 400}, Failed: ServiceError{Code: "InternalServerError", Status: 500},
		latency: s.Latency, failures: s.Fail,
		rate: s.Rate, burst: s.Burst, tokens: s.Burst, last: now,
		random: rand.New(rand.NewPCG(1, seed)), turn: make(chan struct{}, 1),
	}
}

// Call is one request. It returns when the service took it up, besides its error.
func (s *Service) Call(ctx context.Context, w World) (at time.Time, err error) {
	latency, err := s.admit(ctx, w)
	at = w.Now()
	if slept := w.Sleep(ctx, latency); slept != nil {
		return at, slept
	}
	return at, err
}

// admit decides about a request, at once or when it is its turn and there is a token for it.
func (s *Service) admit(ctx context.Context, w World) (latency time.Duration, err error) {
	if !s.Queues {
		return s.Take(w.Now())
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	for {
		missing := s.missing(w.Now())
		if missing <= 0 {
			return s.Take(w.Now())
		}
		if err := w.Sleep(ctx, missing); err != nil {
			return 0, err
		}
	}
}

// Take decides about a request: it returns how long the answer takes, and what it says.
func (s *Service) Take(now time.Time) (latency time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	latency = s.latency[0]
	if spread := s.latency[1] - s.latency[0]; spread > 0 {
		latency += time.Duration(s.random.Int64N(int64(spread)))
	}
	s.refillLocked(now)
	switch {
	case s.failing:
		return latency, s.Failed
	case s.tokens < 1:
		return latency, s.Throttled
	}
	s.tokens--
	if s.failures > 0 && s.random.Float64() < s.failures {
		return latency, s.Failed
	}
	return latency, nil
}

func (s *Service) refillLocked(now time.Time) {
	s.tokens = min(s.tokens+float64(now.Sub(s.last).Seconds()*s.rate), s.burst)
	s.last = now
}

// missing is how long the next token takes, rounded up.
func (s *Service) missing(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refillLocked(now)
	if s.tokens >= 1 || s.failing {
		return 0
	}
	return time.Duration((1-s.tokens)/s.rate*float64(time.Second)) + 1
}

// Change does what a change says from now on.
func (s *Service) Change(now time.Time, c Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refillLocked(now)
	s.rate, s.failing = c.Rate, c.Failing
}

// ServiceError is the error of an answer, as AWS words it.
type ServiceError struct {
	Code   string
	Status int
}

func (e ServiceError) Error() string { return e.Code }

// ErrorCode is for the classifiers.
func (e ServiceError) ErrorCode() string { return e.Code }

// HTTPStatusCode is for the classifiers.
func (e ServiceError) HTTPStatusCode() int { return e.Status }
