package adaptive_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// visit makes an operation of one attempt, which the service throttles or answers.
func visit(strategy retry.Strategy, table string, throttled bool) error {
	op := retry.Operation{Service: "dynamodb", Resource: table, MaxAttempts: 1}
	_, err := retry.Do(context.Background(), strategy, op, func(context.Context) (struct{}, error) {
		if throttled {
			err := errors.New("slow down")
			return struct{}{}, &classify.JudgedError{Verdict: classify.RetryAs(classify.Throttling), Err: err}
		}
		return struct{}{}, nil
	})
	return err
}

// A throttle limits the send rate of its scope. Other scopes are as fast as before.
func ExampleNew() {
	strategy, err := adaptive.New(adaptive.Config{
		Standard:   standard.Config{Clock: &clock.Fake{}}, // the time of the example stands still
		NoSendWait: true,                                  // an attempt that would have to wait fails
	})
	if err != nil {
		log.Fatal(err)
	}

	_ = visit(strategy, "orders", true)
	fmt.Println("orders:", errors.Is(visit(strategy, "orders", false), retry.ErrSendRateLimited))
	fmt.Println("users:", visit(strategy, "users", false))
	// Output:
	// orders: true
	// users: <nil>
}

// All tables share one send rate here, and each has a retry quota of its own.
func ExampleConfig_newLimiter() {
	clk := &clock.Fake{}
	shared := adaptive.Config{}.Limiter(clk, adaptive.SendLimit{Starting: 10})
	strategy, err := adaptive.New(adaptive.Config{
		Standard:   standard.Config{Clock: clk},
		NoSendWait: true,
		NewLimiter: func(scope retry.ScopeKey, _ clock.Clock) adaptive.Limiter {
			if scope.Service == "dynamodb" {
				return shared
			}
			return nil // the limiter that the scope has without NewLimiter
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	_ = visit(strategy, "orders", true)
	fmt.Println("users:", errors.Is(visit(strategy, "users", false), retry.ErrSendRateLimited))
	// Output:
	// users: true
}
