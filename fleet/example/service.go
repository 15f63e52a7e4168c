package main

import (
	"net/http"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// service answers rate requests a second, with a burst of one second, and throttles the others. It
// decides when a request arrives, and answers 10 ms later.
type service struct {
	rate float64

	mu        sync.Mutex
	tokens    float64
	counted   time.Time      // when tokens came last
	throttled int            // requests
	served    map[string]int // requests, by worker
}

func newService(rate float64) *service {
	return &service{rate: rate, tokens: max(rate, 1), counted: clock.System{}.Now(), served: map[string]int{}}
}

// workerHeader says which worker sends a request.
const workerHeader = "Worker"

// ServeHTTP answers a request.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed := s.allow(r.Header.Get(workerHeader))
	if err := (clock.System{}).Sleep(r.Context(), 10*time.Millisecond); err != nil {
		return // the worker has gone
	}
	if !allowed {
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

func (s *service) allow(worker string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := clock.System{}.Now()
	s.tokens = min(s.tokens+s.rate*now.Sub(s.counted).Seconds(), max(s.rate, 1))
	s.counted = now
	if s.tokens < 1 {
		s.throttled++
		return false
	}
	s.tokens--
	s.served[worker]++
	return true
}

// restart resets the counts, and returns those from before.
func (s *service) restart() (throttled int, served map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	throttled, served = s.throttled, s.served
	s.throttled, s.served = 0, map[string]int{}
	return throttled, served
}
