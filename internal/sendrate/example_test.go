package sendrate_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// A limiter without a retry strategy: every attempt acquires a token and reports its answer.
func ExampleNewLimiter() {
	ctx, clk := context.Background(), &clock.Fake{}
	limiter := sendrate.NewLimiter(sendrate.Config{StartingRate: 2}, clk)

	sent, err := limiter.Acquire(ctx, ratelimit.Request{NoWait: true})
	fmt.Println(err)
	_, err = limiter.Acquire(ctx, ratelimit.Request{NoWait: true})
	fmt.Println(err)

	change := limiter.Report(ratelimit.Response{Sent: sent, Throttled: true})
	fmt.Printf("from %v to %v\n", change.From, change.To)
	fmt.Println("the next one waits", limiter.Expected(1).Round(time.Millisecond))
	// Output:
	// <nil>
	// ratelimit: waiting is not allowed: 500ms to wait, 0 ahead, 2 tokens/s
	// from 2 to 1.4
	// the next one waits 714ms
}

// A SendRate is given the time, so that a simulation can play it as fast as it likes.
func ExampleNew() {
	now := time.Unix(0, 0)
	rate := sendrate.New(sendrate.Config{StartingRate: 10, Ceiling: 12}, now)
	sent := 0
	for range 10_000 {
		wait, ok := rate.Take(now, 1)
		if !ok {
			now = now.Add(wait)
			continue
		}
		sent++
		rate.Report(now, ratelimit.Response{Sent: now})
	}
	fmt.Printf("%d attempts in %v, now %v a second\n", sent, now.Sub(time.Unix(0, 0)).Round(time.Second), rate.Fill())
	// Output:
	// 5000 attempts in 6m57s, now 12 a second
}

// A hundred answers a second, and then three throttles that answer attempts that were all
// sent before the first of them came.
func ExampleController() {
	for _, controller := range []ratelimit.Controller{ratelimit.CutPerEvent, ratelimit.CutPerThrottle, ratelimit.Steady} {
		start := time.Unix(0, 0)
		rate := sendrate.New(sendrate.Config{Controller: controller}, start)
		for i := range 1000 {
			rate.Report(start.Add(time.Duration(i)*10*time.Millisecond), ratelimit.Response{})
		}
		for range 3 {
			throttle := ratelimit.Response{Sent: start.Add(9 * time.Second), Throttled: true}
			rate.Report(start.Add(10*time.Second), throttle)
		}
		fmt.Printf("%-16v %3.0f a second\n", controller, rate.Fill())
	}
	// Output:
	// cut-per-event     70 a second
	// cut-per-throttle  34 a second
	// steady            90 a second
}

// slots is an account of instants, in ascending order, that a server has handed out. At each
// of them one request may be sent.
type slots struct {
	mu   sync.Mutex
	free []time.Time
	rate ratelimit.Rate
}

// set notes new slots in place of the old ones. Call Poke of the line afterwards.
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
func ExampleNewLine() {
	ctx, clk := context.Background(), clock.NewFake(time.Unix(0, 0).UTC())
	account := &slots{rate: 2}
	line := sendrate.NewLine(account, clk)

	clk.Run(func() { // no slot is known yet
		sent, err := line.Acquire(ctx, ratelimit.Request{})
		fmt.Println("sent at", sent.Format("05.0"), err)
	}, func() { // the answer of the server
		_ = clk.Sleep(ctx, 200*time.Millisecond)
		account.set(clk.Now().Add(500*time.Millisecond), clk.Now().Add(time.Second))
		line.Poke()
	})
	fmt.Println("the next one waits", line.Expected(1))
	// Output:
	// sent at 00.7 <nil>
	// the next one waits 500ms
}
