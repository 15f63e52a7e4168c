package ratelimit_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/ratelimit"
)

// slots is an account of instants at which one request may be sent each, which a server
// has handed out in ascending order.
type slots struct {
	mu   sync.Mutex
	free []time.Time
	rate ratelimit.Rate
}

// set notes new slots in place of the old ones. The line has to be told.
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

// A server hands out slots to the members of a fleet. A line makes the callers of one
// member wait for them.
func ExampleNewLine() {
	ctx, clk := context.Background(), clock.NewFake(time.Unix(0, 0).UTC())
	account := &slots{rate: 2}
	line := ratelimit.NewLine(account, clk)

	sent := make(chan time.Time)
	go func() {
		at, err := line.Acquire(ctx, ratelimit.Request{})
		if err != nil {
			panic(err)
		}
		sent <- at
	}()
	if err := clk.BlockUntil(ctx, 1); err != nil { // no slot is known yet
		panic(err)
	}

	account.set(clk.Now().Add(500*time.Millisecond), clk.Now().Add(time.Second)) // the answer of the server
	line.Poke()
	clk.Advance(500 * time.Millisecond)
	fmt.Println("sent at", (<-sent).Format("05.0"))
	fmt.Println("the next one waits", line.Expected(1))
	// Output:
	// sent at 00.5
	// the next one waits 500ms
}
