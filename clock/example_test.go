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

// The test says what the code does. The time moves whenever the code waits.
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

// Parts that wait at the same time are functions of their own. The time moves when all
// of them wait.
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

// A timer changes something at a given time, here the answer of a service.
func ExampleFake_AfterFunc() {
	var clk clock.Fake
	recovered := false
	clk.AfterFunc(5*time.Second, func() { recovered = true })
	var err error

	clk.Run(func() { err = poll(context.Background(), &clk, func() bool { return recovered }) })

	fmt.Println(err, clk.Waits())
	// Output: <nil> [1s 2s 3s]
}

// The code under test sets a timer and waits for its function by a channel. Await lets
// Run see the wait.
func ExampleFake_Await() {
	var clk clock.Fake
	start := clk.Now()

	clk.Run(func() {
		fired := make(chan struct{})
		clk.AfterFunc(time.Minute, func() { close(fired) })
		err := clk.Await(context.Background(), fired)
		fmt.Println(err, clk.Now().Sub(start))
	})
	// Output: <nil> 1m0s
}

// A deadline on the fake clock ends a sleep like any other deadline, at its instant.
func ExampleFake_WithTimeout() {
	var clk clock.Fake
	start := clk.Now()
	ctx, cancel := clk.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var err error

	clk.Run(func() { err = poll(ctx, &clk, func() bool { return false }) })

	fmt.Println(err, errors.Is(err, context.DeadlineExceeded), clk.Now().Sub(start))
	// Output: context deadline exceeded true 2s
}

// A test that looks at the code during a wait moves the time by hand.
func ExampleFake_BlockUntil() {
	ctx := context.Background()
	var clk clock.Fake
	questions := 0
	done := make(chan error)
	go func() {
		done <- poll(ctx, &clk, func() bool { questions++; return questions == 3 })
	}()

	for range 2 {
		if err := clk.BlockUntil(ctx, 1); err != nil { // the code sleeps now
			fmt.Println(err)
		}
		fmt.Println("questions so far:", questions)
		moved, _ := clk.AdvanceToNext() // its sleep is over
		fmt.Println("moved by", moved)
	}

	fmt.Println(<-done, questions)
	// Output:
	// questions so far: 1
	// moved by 1s
	// questions so far: 2
	// moved by 2s
	// <nil> 3
}

func ExampleNewFake() {
	clk := clock.NewFake(time.Date(2026, time.December, 31, 23, 59, 0, 0, time.UTC))
	clk.AfterFunc(time.Minute, func() { fmt.Println("A new year:", clk.Now().Format(time.DateTime)) })

	clk.Advance(time.Hour)

	fmt.Println("The time:", clk.Now().Format(time.DateTime))
	// Output:
	// A new year: 2027-01-01 00:00:00
	// The time: 2027-01-01 00:59:00
}

// Code that takes a clock gets the one of the machine in a program.
func ExampleSystem() {
	asked := false

	err := poll(context.Background(), clock.System{}, func() bool { asked = !asked; return asked })

	fmt.Println(err, asked)
	// Output: <nil> true
}

// WithTimeout limits the time of code that gets any clock.
func ExampleWithTimeout() {
	work := func(clk clock.Clock) error {
		ctx, cancel := clock.WithTimeout(context.Background(), clk, 30*time.Second)
		defer cancel()
		return poll(ctx, clk, func() bool { return false })
	}
	var clk clock.Fake
	start := clk.Now()

	clk.Run(func() { fmt.Println(work(&clk)) })

	fmt.Println(clk.Now().Sub(start))
	// Output:
	// context deadline exceeded
	// 30s
}

// hurried is a clock of one's own: it sleeps for a tenth of the time.
type hurried struct{ *clock.Fake }

func (c hurried) Sleep(ctx context.Context, d time.Duration) error {
	return c.Fake.Sleep(ctx, d/10)
}

// A clock of one's own embeds one of this package and replaces some of its methods.
func ExampleClock() {
	clk := hurried{new(clock.Fake)}
	questions := 0
	var err error

	clk.Run(func() {
		err = poll(context.Background(), clk, func() bool { questions++; return questions == 4 })
	})

	fmt.Println(err, clk.Waits())
	// Output: <nil> [100ms 200ms 300ms]
}
