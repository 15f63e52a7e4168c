package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// After a hundred queries of 10 ms each, one that hangs is ended and sent again.
func ExampleNewLearnedTimeout() {
	strategy := newExampleStrategy(standard.Config{})
	timeout, err := retry.NewLearnedTimeout(retry.Slower{
		Quantile: 0.9, Factor: 3, Floor: 20 * time.Millisecond, Ceiling: 10 * time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	query := func(first time.Duration) (attempts int, err error) {
		err = retry.DoErr(context.Background(), strategy, retry.Operation{Name: "query"}, func(ctx context.Context) error {
			took := 10 * time.Millisecond
			if attempts++; attempts == 1 {
				took = first
			}
			_ = strategy.Clock().Sleep(ctx, took)
			return ctx.Err()
		}, retry.WithAttemptTimeout(timeout))
		return attempts, err
	}
	for range 100 {
		_, _ = query(10 * time.Millisecond)
	}
	fmt.Println(query(time.Hour))
	// Output: 2 <nil>
}

// A client of one's own lifts the limit when it has the headers, and reads the body without one.
func ExampleLimitAttempt() {
	strategy := newExampleStrategy(standard.Config{})
	op, timeout := retry.Operation{Name: "fetch"}, retry.FixedTimeout{First: time.Second, Factor: 2}
	wait := func(ctx context.Context, d time.Duration) error {
		_ = strategy.Clock().Sleep(ctx, d)
		return ctx.Err()
	}
	err := retry.DoErr(context.Background(), strategy, op, func(ctx context.Context) error {
		ctx, limit, err := retry.LimitAttempt(ctx, strategy, op, timeout, 0)
		if err != nil {
			return err
		}
		defer limit.Release()
		if err := wait(ctx, 1500*time.Millisecond); err != nil { // until the headers are there
			if late := limit.Late(err); late != nil {
				err = late
			}
			fmt.Println(err)
			return err
		}
		limit.Lift(true)
		return wait(ctx, time.Hour) // the body
	})
	fmt.Println(err)
	// Output:
	// retry: attempt timed out after 1s: context canceled
	// <nil>
}

func ExampleWithAttemptTimeout() {
	strategy := newExampleStrategy(standard.Config{})
	clk := strategy.Clock()
	hang := func(ctx context.Context) error {
		attempt, _ := retry.AttemptFrom(ctx)
		if attempt.Number > 1 {
			return nil
		}
		_ = clk.Sleep(ctx, time.Minute)
		return ctx.Err()
	}
	err := retry.DoErr(context.Background(), strategy, retry.Operation{}, func(ctx context.Context) error {
		err := hang(ctx)
		fmt.Println(err)
		return err
	}, retry.WithAttemptTimeout(retry.FixedTimeout{First: 2 * time.Second}))
	fmt.Println(err)
	// Output:
	// context deadline exceeded
	// <nil>
	// <nil>
}
