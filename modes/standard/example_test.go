package standard_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// failOnce returns an operation that the service throttles once.
func failOnce() func(context.Context) (string, error) {
	attempts := 0
	return func(context.Context) (string, error) {
		if attempts++; attempts == 1 {
			return "", &classify.JudgedError{Verdict: classify.RetryAs(classify.Throttling), Err: errors.New("slow down")}
		}
		return fmt.Sprintf("done at attempt %d", attempts), nil
	}
}

// The zero Config has the numbers of the AWS SDKs. A field that is set replaces one of them.
func ExampleNew() {
	strategy, err := standard.New(standard.Config{
		MaxAttempts: 5,
		MaxBackoff:  time.Second,
		Random:      func() float64 { return 0 }, // no delay, so that the example does not wait
	})
	if err != nil {
		log.Fatal(err)
	}

	value, err := retry.Do(context.Background(), strategy, retry.Operation{Name: "GetItem"}, failOnce())
	fmt.Println(value, err)

	_, err = standard.New(standard.Config{RetryCost: -1})
	fmt.Println(err)
	// Output:
	// done at attempt 2 <nil>
	// standard: RetryCost -1: must not be negative
}

// A loop of your own calls the four verbs of the strategy. retry.Do is such a loop.
func ExampleStrategy() {
	strategy, err := standard.New(standard.Config{Random: func() float64 { return 0 }})
	if err != nil {
		log.Fatal(err)
	}
	do := func(ctx context.Context, op retry.Operation, work func(context.Context) (string, error)) (string, error) {
		token, err := strategy.AcquireInitialToken(ctx, op)
		if err != nil {
			return "", err
		}
		for {
			if err := token.Wait(ctx); err != nil { // it sleeps the backoff
				return "", errors.Join(err, strategy.RecordFailure(token, err))
			}
			value, failure := work(ctx)
			fmt.Printf("attempt %d: %q, %v\n", token.Attempt(), value, failure)
			if failure == nil {
				return value, strategy.RecordSuccess(token, retry.Result{})
			}
			token, err = strategy.RefreshRetryToken(ctx, token, failure)
			if err != nil { // no further attempt
				return "", errors.Join(err, strategy.RecordFailure(token, failure))
			}
		}
	}

	ctx := context.Background()
	value, err := do(ctx, retry.Operation{Name: "GetItem"}, failOnce())
	fmt.Println(value, err)
	_, err = do(ctx, retry.Operation{Name: "GetItem", MaxAttempts: 1}, failOnce())
	fmt.Println(errors.Is(err, retry.ErrAttemptsExhausted))
	// Output:
	// attempt 1: "", slow down
	// attempt 2: "done at attempt 2", <nil>
	// done at attempt 2 <nil>
	// attempt 1: "", slow down
	// true
}

// A Plan has the numbers for an operation, defaults included.
func ExampleStrategy_Plan() {
	table := retry.Operation{Service: "dynamodb"}
	for _, behavior := range []retry.Behavior{retry.V21, retry.V20} {
		strategy, err := standard.New(standard.Config{Behavior: behavior})
		if err != nil {
			log.Fatal(err)
		}
		plan := strategy.Plan(table)
		fmt.Printf("%s: %d attempts, first delay up to %v, after a throttle up to %v\n",
			behavior, plan.MaxAttempts, plan.Base, plan.ThrottlingBase)
		fmt.Printf("      a retry takes %d of %d tokens, after a timeout %d, after a throttle %d\n",
			plan.RetryCost, plan.QuotaCapacity, plan.TimeoutCost, plan.ThrottlingCost)
	}
	// Output:
	// v2.1: 4 attempts, first delay up to 25ms, after a throttle up to 1s
	//       a retry takes 14 of 500 tokens, after a timeout 14, after a throttle 5
	// v2.0: 3 attempts, first delay up to 1s, after a throttle up to 1s
	//       a retry takes 5 of 500 tokens, after a timeout 10, after a throttle 5
}

// Operations of one scope share a retry quota. Here each table is a scope.
func ExampleStrategy_Snapshot() {
	strategy, err := standard.New(standard.Config{Random: func() float64 { return 0 }})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	orders := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}
	token, err := strategy.AcquireInitialToken(ctx, orders)
	if err != nil {
		log.Fatal(err)
	}
	_, throttle := failOnce()(ctx)
	if _, err = strategy.RefreshRetryToken(ctx, token, throttle); err != nil {
		log.Fatal(err)
	}

	for _, scope := range strategy.Snapshot().Scopes {
		fmt.Printf("%q: %d of %d tokens\n", scope.Scope, scope.Quota, scope.QuotaCapacity)
	}
	// Output:
	// "": 500 of 500 tokens
	// "dynamodb/eu-central-1/orders": 495 of 500 tokens
}

// A function decides the delays: a second after the first attempt, two after the second, and so on. After
// a throttle it is a minute, which MaxBackoff has to allow.
func ExampleConfig_backoff() {
	_, throttle := failOnce()(context.Background())
	strategy, err := standard.New(standard.Config{
		MaxBackoff: time.Minute,
		Backoff: func(attempt int, err error) time.Duration {
			if errors.Is(err, throttle) {
				return time.Minute
			}
			return time.Duration(attempt) * time.Second
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	token, err := strategy.AcquireInitialToken(ctx, retry.Operation{})
	if err != nil {
		log.Fatal(err)
	}
	for _, failure := range []error{retry.Mark(errors.New("down"), classify.Transient), throttle} {
		token, err = strategy.RefreshRetryToken(ctx, token, failure)
		fmt.Println(token.Delay(), err)
	}
	// Output:
	// 1s <nil>
	// 1m0s <nil>
}

// The delays before the first six retries, with a base of 1 s, where the random number is
// always 0.75.
func ExampleJitter() {
	ctx := context.Background()
	_, failure := failOnce()(ctx)
	for _, kind := range []standard.Jitter{
		standard.Full, standard.NoJitter, standard.Equal, standard.Decorrelated, standard.FullThenCap,
	} {
		strategy, err := standard.New(standard.Config{
			Jitter: kind, MaxAttempts: 7, Random: func() float64 { return 0.75 },
		})
		if err != nil {
			log.Fatal(err)
		}
		token, err := strategy.AcquireInitialToken(ctx, retry.Operation{})
		fmt.Printf("%-14s", kind)
		for err == nil && token.Attempt() < 7 {
			token, err = strategy.RefreshRetryToken(ctx, token, failure)
			fmt.Printf("%6.2f", token.Delay().Seconds())
		}
		fmt.Println()
	}
	// Output:
	// full            0.75  1.50  3.00  6.00 12.00 15.00
	// none            1.00  2.00  4.00  8.00 16.00 20.00
	// equal           0.88  1.75  3.50  7.00 14.00 17.50
	// decorrelated    2.50  5.88 13.47 20.00 20.00 20.00
	// full-then-cap   0.75  1.50  3.00  6.00 12.00 20.00
}
