package retry_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// A throttled operation in adaptive mode has all the events that most operations have.
func ExampleEvent() {
	clk := &clock.Fake{}
	start := clk.Now()
	strategy, err := adaptive.New(adaptive.Config{Standard: standard.Config{
		Clock:  clk,
		Random: func() float64 { return 1 }, // the longest delays
		Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			fmt.Printf("%v  attempt %d  %-17v", e.Time.Sub(start), e.Attempt, e.Kind)
			switch e.Kind {
			case retry.AttemptEnded:
				fmt.Printf("  quota %d, error: %v", e.Quota, e.Err)
			case retry.RetryScheduled:
				fmt.Printf("  quota %d, %v, in %v", e.Quota, e.Verdict, e.Delay)
			case retry.SendWaitBegan, retry.SendWaitEnded:
				fmt.Printf("  %v", e.Delay)
			case retry.SendRateChanged:
				fmt.Printf("  %.2f a second, before %.2f", e.Rate, e.RateBefore)
			case retry.OperationEnded:
				fmt.Printf("  %s after %v: backoff %v, send rate %v", e.Outcome(), e.Elapsed, e.BackoffWait, e.SendWait)
			default:
				fmt.Printf("  %v", e.Scope)
			}
			fmt.Println()
		}),
	}})
	if err != nil {
		log.Fatal(err)
	}

	op := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders", Name: "PutItem"}
	clk.Run(func() {
		err = retry.DoErr(context.Background(), strategy, op, func(ctx context.Context) error {
			if attempt, _ := retry.AttemptFrom(ctx); attempt.Number == 1 {
				return &serviceError{429}
			}
			return nil
		})
	})
	fmt.Println(err)
	// Output:
	// 0s  attempt 1  scope-created      dynamodb/eu-central-1/orders
	// 0s  attempt 1  attempt-ended      quota 500, error: status 429
	// 0s  attempt 1  send-rate-changed  0.50 a second, before 0.00
	// 0s  attempt 1  retry-scheduled    quota 495, retry(throttling), in 1s
	// 1s  attempt 2  send-wait-began    1s
	// 2s  attempt 2  send-wait-ended    1s
	// 2s  attempt 2  attempt-ended      quota 500, error: <nil>
	// 2s  attempt 2  send-rate-changed  1.60 a second, before 0.50
	// 2s  attempt 2  operation-ended    success after 2s: backoff 1s, send rate 1s
	// <nil>
}

// Two observers get each event, and the operation tells how long it waited.
func ExampleObservers() {
	waited := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.OperationEnded {
			fmt.Println(e.Operation.Name, e.Outcome(), "after", e.Attempt, "attempts and", e.BackoffWait, "of backoff")
		}
	})
	failed := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.AttemptEnded && e.Err != nil {
			fmt.Println("attempt", e.Attempt, "failed:", e.ErrorType())
		}
	})
	strategy := newExampleStrategy(standard.Config{Observer: retry.Observers(failed, waited)})
	calls := 0
	err := retry.DoErr(context.Background(), strategy, retry.Operation{Name: "GetItem"}, func(context.Context) error {
		if calls++; calls < 3 {
			return &serviceError{503}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// attempt 1 failed: transient
	// attempt 2 failed: transient
	// GetItem success after 3 attempts and 75ms of backoff
	// <nil>
}

func ExampleSlogObserver() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{} // so that the example prints the same each time
			}
			return a
		},
	}))
	strategy := newExampleStrategy(standard.Config{Observer: retry.SlogObserver{Logger: logger}})
	op := retry.Operation{Service: "dynamodb", Name: "GetItem"}
	_ = retry.DoErr(context.Background(), strategy, op, func(context.Context) error { return &serviceError{503} })
	// Output:
	// level=INFO msg=retry kind=transient delay=12.5ms quota=486 attempt=1 operation=GetItem scope=dynamodb error="status 503"
	// level=INFO msg=retry kind=transient delay=25ms quota=472 attempt=2 operation=GetItem scope=dynamodb error="status 503"
	// level=INFO msg=retry kind=transient delay=50ms quota=458 attempt=3 operation=GetItem scope=dynamodb error="status 503"
	// level=WARN msg="retry refused" reason="attempts exhausted" quota=458 attempt=4 operation=GetItem scope=dynamodb error="status 503"
}

func ExampleSnapshot() {
	strategy, err := adaptive.New(adaptive.Config{Standard: standard.Config{Clock: new(rushing)}})
	if err != nil {
		log.Fatal(err)
	}
	op := retry.Operation{Service: "dynamodb", Resource: "orders", MaxAttempts: 1}
	_ = retry.DoErr(context.Background(), strategy, op, func(context.Context) error { return &serviceError{429} })
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		fmt.Printf("%s: quota %d of %d, limited %t\n", scope.Scope, scope.Quota, scope.QuotaCapacity, scope.Limited)
	}
	// Output: dynamodb//orders: quota 500 of 500, limited true
}
