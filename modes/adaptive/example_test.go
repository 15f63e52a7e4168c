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
	"github.com/awsretry/awsretry/ratelimit"
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

// Without a limit that is known, the first throttle finds it. With one, attempts are held
// back to it from the start.
func ExampleSendLimit() {
	strategy, err := adaptive.New(adaptive.Config{
		Standard: standard.Config{Clock: &clock.Fake{}},
		SendLimit: func(scope retry.ScopeKey) adaptive.SendLimit {
			if scope.Resource == "orders" {
				return adaptive.SendLimit{Starting: 20, Ceiling: 50}
			}
			return adaptive.SendLimit{} // nothing is known
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, table := range []string{"orders", "users"} {
		if err := visit(strategy, table, false); err != nil {
			log.Fatal(err)
		}
	}

	for _, scope := range strategy.Snapshot().Scopes[1:] { // the first is the strategy as a whole
		fmt.Println(scope.Key.Resource, scope.Limited, scope.FillRate)
	}
	// Output:
	// orders true 20
	// users false 0.5
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

// reporting is a limiter that prints what throttles do to the rate of a scope.
type reporting struct {
	adaptive.Limiter
	scope retry.ScopeKey
}

func (r reporting) Report(response ratelimit.Response) ratelimit.Change {
	change := r.Limiter.Report(response)
	if change.Cut {
		fmt.Printf("%v: from %v to %v attempts a second\n", r.scope, change.From, change.To)
	}
	return change
}

// A limiter that embeds another one changes a part of what it does.
func ExampleLimiter() {
	strategy, err := adaptive.New(adaptive.Config{
		Standard: standard.Config{Clock: &clock.Fake{}},
		NewLimiter: func(scope retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
			return reporting{adaptive.Config{}.Limiter(clk, adaptive.SendLimit{Starting: 10}), scope}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = visit(strategy, "orders", true)
	// Output:
	// dynamodb//orders: from 10 to 7 attempts a second
}
