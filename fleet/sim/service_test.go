package sim

import (
	"math/rand/v2"
	"sync"
	"time"
)

// service allows rate requests a second, with a burst, and throttles the others. It decides
// when a request arrives.
type service struct {
	mu     sync.Mutex // guards what follows
	rate   float64
	burst  time.Duration
	tokens float64
	last   time.Time
}

func newService(rate float64, burst time.Duration) *service {
	s := &service{rate: rate, burst: burst, last: time.Now()}
	s.tokens = s.capacity()
	return s
}

func (s *service) capacity() float64 { return max(s.rate*s.burst.Seconds(), 1) }

// take reports whether the service allows a request.
func (s *service) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refillLocked()
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	return true
}

func (s *service) refillLocked() {
	now := time.Now()
	s.tokens = min(s.tokens+now.Sub(s.last).Seconds()*s.rate, s.capacity())
	s.last = now
}

// change sets the rate from now on.
func (s *service) change(rate float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refillLocked()
	s.rate = rate
	s.tokens = min(s.tokens, s.capacity())
}

// meanLatency is how long an answer takes on average: 5 to 20 ms.
const meanLatency = 12_500 * time.Microsecond

func latency(random *rand.Rand) time.Duration {
	const spread = 15 * time.Millisecond
	return meanLatency - spread/2 + time.Duration(random.Int64N(int64(spread)))
}
