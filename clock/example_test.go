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

// The test says what the code does. The time moves whenever it waits.
func ExampleFake_Run() {
	var clk clock.Fake
	start := clk.Now()
	questions := 0
	var err error

	clk.Run(func() {
		err = poll(context.Background(), &clk, func() bool { questions++; return questions == 4 })
	})

	fmt.Println(err, questions, clk.Now().Sub(start), clk.Waits())
	// Output: <nil> 4 6s [1s 2s 3s]
}

// Code of which several parts wait at the same time is given to Run in as many
// functions. The time moves when all of them wait.
func ExampleFake_Run_several() {
	var clk clock.Fake
	start := clk.Now()
	worker := func(name string, every time.Duration) func() {
		return func() {
			for range 2 {
				if err := clk.Sleep(context.Background(), every); err != nil {
					return
				}
				fmt.Println(name, clk.Now().Sub(start))
			}
		}
	}

	clk.Run(worker("slow", 5*time.Second), worker("quick", 3*time.Second))
	// Output:
	// quick 3s
	// slow 5s
	// quick 6s
	// slow 10s
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
