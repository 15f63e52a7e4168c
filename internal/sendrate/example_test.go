package sendrate_test

import (
	"context"
	"fmt"
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
	fmt.Println("the next one waits", limiter.Expected(ratelimit.Request{}).Round(time.Millisecond))
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
		due, ok := rate.Take(now, 1)
		if now = due; !ok {
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
	for _, controller := range []ratelimit.Controller{ratelimit.CutPerEvent, ratelimit.CutPerThrottle, ratelimit.Hold} {
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
	// hold             140 a second
}
