//go:build long

package adaptive_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// service allows rate requests a second, with a burst, and answers after 5 to 20 ms. It runs on
// the time of a bubble.
type service struct {
	mu                sync.Mutex
	rate, burst       float64
	tokens            float64
	last              time.Time
	random            *rand.Rand
	served, throttled int
}

func newService(rate float64, burst time.Duration) *service {
	capacity := max(rate*burst.Seconds(), 1)
	return &service{rate: rate, burst: capacity, tokens: capacity, last: time.Now(), random: rand.New(rand.NewPCG(1, 2))}
}

// call is one request.
func (s *service) call(ctx context.Context) (struct{}, error) {
	s.mu.Lock()
	now := time.Now()
	s.tokens = min(s.tokens+now.Sub(s.last).Seconds()*s.rate, s.burst)
	s.last = now
	latency := 5*time.Millisecond + time.Duration(s.random.Int64N(int64(15*time.Millisecond)))
	served := s.tokens >= 1
	if served {
		s.tokens--
		s.served++
	} else {
		s.throttled++
	}
	s.mu.Unlock()
	if err := (clock.System{}).Sleep(ctx, latency); err != nil {
		return struct{}{}, err
	}
	if !served {
		return struct{}{}, errThrottle
	}
	return struct{}{}, nil
}

// set changes the rate from now on.
func (s *service) set(rate float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rate = rate
}

// take returns what has been counted since the last call.
func (s *service) take() (served, throttled int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	served, throttled = s.served, s.throttled
	s.served, s.throttled = 0, 0
	return served, throttled
}

func pass(ctx context.Context, d time.Duration) { _ = clock.System{}.Sleep(ctx, d) }

// work sends an operation each pause, or as soon as the one before has ended.
func work(ctx context.Context, s retry.Strategy, svc *service, m *meter, pause time.Duration) {
	next := time.Now()
	for ctx.Err() == nil {
		began, first := time.Now(), true
		_, _ = retry.Do(ctx, s, retry.Operation{}, func(ctx context.Context) (struct{}, error) {
			if first {
				m.waited(time.Since(began))
			}
			first = false
			return svc.call(ctx)
		})
		if next = next.Add(pause); next.Before(time.Now()) {
			next = time.Now()
		}
		pass(ctx, time.Until(next))
	}
}

// meter keeps the longest wait before a first attempt.
type meter struct {
	mu  sync.Mutex
	on  bool
	max time.Duration
}

func (m *meter) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on = true
}

func (m *meter) waited(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on {
		m.max = max(m.max, d)
	}
}

func (m *meter) longest() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.max
}

// TestThrottledTableDoesNotSlowAnother has one client with two tables. One of them allows five
// requests a second.
func TestThrottledTableDoesNotSlowAnother(t *testing.T) {
	t.Parallel()
	served := func(withNeighbour bool) (count int) {
		synctest.Test(t, func(t *testing.T) {
			s, err := adaptive.New(adaptive.Config{})
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			slow, fast := newService(5, time.Second), newService(1e6, time.Second)
			for range 4 {
				wg.Go(func() { work(ctx, scoped{s, "fast"}, fast, &meter{}, 0) })
				if withNeighbour {
					wg.Go(func() { work(ctx, scoped{s, "slow"}, slow, &meter{}, 0) })
				}
			}
			pass(ctx, time.Minute)
			count, _ = fast.take()
			stop()
			wg.Wait()
		})
		return count
	}
	alone, together := served(false), served(true)
	t.Logf("requests a minute on the free table: %d alone, %d beside a throttled one", alone, together)
	require.GreaterOrEqual(t, float64(together), 0.99*float64(alone))
}

// scoped puts every operation into one scope.
type scoped struct {
	retry.Strategy
	name string
}

func (s scoped) AcquireInitialToken(ctx context.Context, op retry.Operation) (retry.Token, error) {
	op.Scope = s.name
	return s.Strategy.AcquireInitialToken(ctx, op)
}
