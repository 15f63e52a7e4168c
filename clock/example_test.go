package clock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// poll is the code under test: it asks until the answer is yes, and waits a
// second, then two, then three, and so on, between two questions.
func poll(ctx context.Context, clk clock.Clock, ask func() bool) error {
	for wait := time.Second; !ask(); wait += time.Second {
		if err := clk.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	return nil
}

// Run the code in a goroutine, wait until it sleeps, and move the time to the
// end of its sleep.
func ExampleFake() {
	ctx := context.Background()
	var clk clock.Fake
	start := clk.Now()
	questions := 0
	done := make(chan error)
	go func() {
		done <- poll(ctx, &clk, func() bool { questions++; return questions == 4 })
	}()

	for range 3 {
		if err := clk.BlockUntil(ctx, 1); err != nil {
			fmt.Println(err)
		}
		clk.AdvanceToNext()
	}

	fmt.Println(<-done, questions, clk.Now().Sub(start), clk.Waits())
	// Output: <nil> 4 6s [1s 2s 3s]
}

// A deadline on the fake clock ends a sleep like any other deadline.
func ExampleFake_WithTimeout() {
	var clk clock.Fake
	ctx, cancel := clk.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	done := make(chan error)
	go func() { done <- poll(ctx, &clk, func() bool { return false }) }()

	for range 2 {
		if err := clk.BlockUntil(context.Background(), 1); err != nil {
			fmt.Println(err)
		}
		clk.Advance(time.Second)
	}

	err := <-done
	fmt.Println(err, errors.Is(err, context.DeadlineExceeded), clk.Waits())
	// Output: context deadline exceeded true [1s 2s]
}
