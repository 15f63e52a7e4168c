package limit_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/ratelimit"
)

// slots is an account of instants, in ascending order, that a server has handed out. At each
// of them one request may be sent.
type slots struct {
	mu   sync.Mutex
	free []time.Time
	rate ratelimit.Rate
}

// set notes new slots in place of the old ones. Call Changed of the line afterwards.
func (s *slots) set(free ...time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = free
}

func (s *slots) Take(now time.Time, cost float64) (at time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int(cost)
	if n > len(s.free) {
		return time.Time{}, false // the server has not said when there will be more
	}
	if last := s.free[n-1]; last.After(now) {
		return last, false
	}
	s.free = s.free[n:]
	return now, true
}

func (s *slots) Until(now time.Time, cost float64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := int(cost); n <= len(s.free) {
		return max(s.free[n-1].Sub(now), 0)
	}
	return 0
}

func (s *slots) Give(now time.Time, cost float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = slices.Concat(slices.Repeat([]time.Time{now}, int(cost)), s.free)
}

func (s *slots) Lift(time.Time, float64) {}

func (s *slots) Fill() ratelimit.Rate { return s.rate }

// A server hands out slots to the members of a fleet. A line makes the callers of one member
// wait for them.
func ExampleNew() {
	ctx, clk := context.Background(), clock.NewFake(time.Unix(0, 0).UTC())
	account := &slots{rate: 2}
	queue := limit.NewLine(account, clk)

	clk.Run(func() { // no slot is known yet
		sent, _, err := queue.Acquire(ctx, ratelimit.Request{})
		fmt.Println("sent at", sent.Format("05.0"), err)
	}, func() { // the answer of the server
		_ = clk.Sleep(ctx, 200*time.Millisecond)
		account.set(clk.Now().Add(500*time.Millisecond), clk.Now().Add(time.Second))
		queue.Changed(true)
	})
	fmt.Println("the next one waits", queue.Expected(1))
	// Output:
	// sent at 00.7 <nil>
	// the next one waits 500ms
}
