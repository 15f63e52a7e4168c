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
