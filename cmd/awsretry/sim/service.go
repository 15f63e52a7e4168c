package sim

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// World is a clock and the tasks that run on it.
type World interface {
	clock.Clock
	// Go starts a task.
	Go(f func())
}

// Service allows a rate of requests, with a burst, and answers after its latency. It throttles the
// other requests, or if it queues, makes them wait, first come, first served. It is safe for
// concurrent use. Use [NewService].
type Service struct {
	// Queues makes requests wait that would be throttled. A caller that gives up leaves the queue.
	Queues bool
	// Admit decides whether there is room for a request that comes now, in place of the bucket. Nil means the bucket.
	Admit func(now time.Time) bool
	// Throttled, Failed and Lost are the errors of requests that are throttled, that fail, and whose connection is lost.
	Throttled, Failed, Lost error

	scenario Scenario
	start    time.Time

	mu     sync.Mutex // guards what follows
	now    Conditions
	tokens float64
	last   time.Time
	free   time.Duration // when the work of a scenario with a queue is done, since the start
	random *rand.Rand

	turn chan struct{} // held by the first in line
}

// NewService returns the service of a scenario, which begins now. The seed determines its answers.
// [Play] applies the phases; other callers do so with [Service.Change].
func NewService(s Scenario, seed uint64, now time.Time) *Service {
	return &Service{
		Throttled: ServiceError{Code: "ThrottlingException", Status: 400}, Failed: ServiceError{Code: "InternalServerError", Status: 500},
		Lost:     &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		scenario: s, start: now, now: s.Conditions, tokens: s.Burst, last: now,
		random: rand.New(rand.NewPCG(1, seed)), turn: make(chan struct{}, 1),
	}
}

// Call makes one request. It returns when the service decided on it, and its error.
func (s *Service) Call(ctx context.Context, w World) (at time.Time, err error) {
	if s.scenario.Jitter > 0 {
		if err := w.Sleep(ctx, s.between(0, s.scenario.Jitter)); err != nil {
			return w.Now(), err
		}
	}
	latency, err := s.admit(ctx, w)
	at = w.Now()
	latency, lost := s.scenario.answered(at.Sub(s.start), latency)
	if lost {
		err = s.Lost
	}
	if slept := w.Sleep(ctx, latency); slept != nil {
		return at, slept
	}
	return at, err
}

// admit decides on a request, at once or when it is its turn and there is a token.
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

// Take decides on a request: it returns how long the answer takes, and its error.
func (s *Service) Take(now time.Time) (latency time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	latency = s.betweenLocked(s.now.Latency[0], s.now.Latency[1])
	s.refillLocked(now)
	switch {
	case s.now.Fail >= 1:
		return latency, s.Failed
	case s.now.Throttle > 0 && s.random.Float64() < s.now.Throttle:
		return max(latency, s.scenario.SlowThrottles), s.Throttled
	case s.scenario.Queue:
		latency += s.workLocked(now)
	case s.Admit == nil && s.tokens < 1, s.Admit != nil && !s.Admit(now):
		return max(latency, s.scenario.SlowThrottles), s.Throttled
	default:
		s.tokens--
	}
	if s.now.Fail > 0 && s.random.Float64() < s.now.Fail {
		return latency, s.Failed
	}
	return latency, nil
}

// between draws a time.
func (s *Service) between(shortest, longest time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.betweenLocked(shortest, longest)
}

func (s *Service) betweenLocked(shortest, longest time.Duration) time.Duration {
	if longest <= shortest {
		return shortest
	}
	return shortest + time.Duration(s.random.Int64N(int64(longest-shortest)))
}

// workLocked puts a request at the end of the queue. It returns how long it takes until the work on it is done.
func (s *Service) workLocked(now time.Time) time.Duration {
	arrived := now.Sub(s.start)
	s.free = s.scenario.after(max(s.free, arrived), 1, func(c *Conditions) time.Duration { return each(c.Rate) })
	return s.free - arrived
}

func (s *Service) refillLocked(now time.Time) {
	s.tokens = min(s.tokens+float64(now.Sub(s.last).Seconds()*s.now.Rate), s.now.Burst)
	s.last = now
}

// missing returns how long the next token takes, rounded up.
func (s *Service) missing(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refillLocked(now)
	if s.tokens >= 1 || s.now.Fail >= 1 {
		return 0
	}
	return time.Duration((1-s.tokens)/s.now.Rate*float64(time.Second)) + 1
}

// Change sets the conditions from now on.
func (s *Service) Change(now time.Time, c Conditions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refillLocked(now)
	s.now = c
	s.tokens = min(s.tokens, c.Burst)
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
