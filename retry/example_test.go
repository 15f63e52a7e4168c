package retry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// rushing is a clock for the examples: no wait takes any time.
type rushing struct{ clock.Fake }

func (c *rushing) Sleep(_ context.Context, d time.Duration) error {
	c.Advance(d)
	return nil
}

// newExampleStrategy returns a strategy that waits in no time, with every jitter at one half.
func newExampleStrategy(config standard.Config) retry.Strategy {
	config.Clock, config.Random = new(rushing), func() float64 { return 0.5 }
	strategy, err := standard.New(config)
	if err != nil {
		log.Fatal(err)
	}
	return strategy
}

func ExampleDo() {
	strategy := newExampleStrategy(standard.Config{})
	calls := 0
	fetch := func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", retry.Mark(errors.New("not there yet"), classify.Transient)
		}
		return "an order", nil
	}
	op := retry.Operation{Service: "orders", Name: "Fetch"}
	order, err := retry.Do(context.Background(), strategy, op, fetch)
	fmt.Println(order, err, "after", calls, "calls")
	// Output: an order <nil> after 3 calls
}

func ExampleMark() {
	strategy := newExampleStrategy(standard.Config{})
	err := retry.DoErr(context.Background(), strategy, retry.Operation{}, func(context.Context) error {
		return retry.Mark(errors.New("the queue is full"), classify.Throttling)
	})
	fmt.Println(err)
	fmt.Println(retry.Mark(nil, classify.Throttling))
	// Output:
	// retry: client-side: attempts exhausted: last error: the queue is full (3 attempts of 3, 1.5s)
	// <nil>
}

func ExamplePermanent() {
	strategy := newExampleStrategy(standard.Config{})
	err := retry.DoErr(context.Background(), strategy, retry.Operation{}, func(context.Context) error {
		fmt.Println("one call")
		return retry.Permanent(&serviceError{503}) // 503 alone is retried
	})
	fmt.Println(err)
	// Output:
	// one call
	// status 503
}

// serviceError is an error with an HTTP status, which the classifiers know by its method.
type serviceError struct{ code int }

func (e *serviceError) Error() string       { return fmt.Sprint("status ", e.code) }
func (e *serviceError) HTTPStatusCode() int { return e.code }

// The reason, the numbers and the last error of the service are in the error.
func ExampleError() {
	strategy := newExampleStrategy(standard.Config{MaxAttempts: 2})
	op := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}
	err := retry.DoErr(context.Background(), strategy, op, func(context.Context) error { return &serviceError{503} })

	fmt.Println(errors.Is(err, retry.ErrAttemptsExhausted))
	if refusal, ok := errors.AsType[*retry.Error](err); ok {
		fmt.Println(refusal.Attempts, "attempts in", refusal.Elapsed, "in scope", refusal.Scope)
	}
	if last, ok := errors.AsType[*serviceError](err); ok {
		fmt.Println("the service said", last.code)
	}
	// Output:
	// true
	// 2 attempts in 12.5ms in scope dynamodb/eu-central-1/orders
	// the service said 503
}

// A value can be retried, and an error can count as success.
func ExampleWithPolicy() {
	strategy := newExampleStrategy(standard.Config{})
	items := 25
	write := func(context.Context) (left int, err error) {
		items /= 5 // of each batch some come back
		return items, nil
	}
	left, err := retry.Do(context.Background(), strategy, retry.Operation{}, write,
		retry.WithPolicy(func(left int, err error) error {
			if err == nil && left > 0 {
				return retry.Mark(fmt.Errorf("%d items were throttled", left), classify.Throttling)
			}
			return err
		}))
	fmt.Println(left, err)
	// Output: 0 <nil>
}

// A job is polled for a minute at most.
func ExamplePoll() {
	strategy := newExampleStrategy(standard.Config{})
	polls := 0
	describeJob := func(context.Context) (string, error) {
		switch polls++; polls {
		case 1, 3:
			return "RUNNING", nil
		case 2:
			return "", &serviceError{503} // which is retried
		default:
			return "SUCCEEDED", nil
		}
	}
	op := retry.Operation{Name: "DescribeJob", MaxElapsed: time.Minute}
	every := retry.Interval{First: time.Second, Max: 10 * time.Second, Jitter: 0.2}
	state, err := retry.Poll(context.Background(), strategy, op, every,
		func(ctx context.Context) (state string, done bool, err error) {
			state, err = describeJob(ctx)
			return state, state != "RUNNING", err
		})
	if errors.Is(err, retry.ErrMaxElapsed) {
		log.Print("the job takes longer than a minute: ", err)
	}
	fmt.Println(state, err)
	// Output: SUCCEEDED <nil>
}

// The error says how many polls there were, and what the last one said.
func ExamplePoll_timeIsUp() {
	op, every := retry.Operation{MaxElapsed: time.Minute}, retry.Interval{First: 10 * time.Second}
	_, err := retry.Poll(context.Background(), newExampleStrategy(standard.Config{}), op, every,
		func(context.Context) (string, bool, error) { return "RUNNING", false, nil })
	fmt.Println(err)
	// Output: retry: client-side: maximum elapsed time reached: last answer: RUNNING (1 attempt, 7 polls, 1m0s, 10s to wait)
}

// Without Once the inner call would be made three times for each of three outer attempts.
func ExampleOnce() {
	strategy := newExampleStrategy(standard.Config{})
	calls := 0
	_ = retry.DoErr(context.Background(), strategy, retry.Operation{}, func(ctx context.Context) error {
		return retry.DoErr(retry.Once(ctx), strategy, retry.Operation{}, func(context.Context) error {
			calls++
			return &serviceError{503}
		})
	})
	fmt.Println(calls, "calls")
	// Output: 3 calls
}

func ExampleAttemptFrom() {
	strategy := newExampleStrategy(standard.Config{})
	_ = retry.DoErr(context.Background(), strategy, retry.Operation{}, func(ctx context.Context) error {
		attempt, _ := retry.AttemptFrom(ctx)
		fmt.Printf("attempt %d of %d\n", attempt.Number, attempt.MaxAttempts)
		return &serviceError{503}
	})
	_, inside := retry.AttemptFrom(context.Background())
	fmt.Println(inside)
	// Output:
	// attempt 1 of 3
	// attempt 2 of 3
	// attempt 3 of 3
	// false
}

// Operations with the same key share a retry quota and a send rate.
func ExampleOperation_Key() {
	orders := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders", Name: "GetItem"}
	users := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "users", Name: "GetItem"}
	put := orders
	put.Name = "PutItem"
	fmt.Println(orders.Key(), orders.Key() == users.Key(), orders.Key() == put.Key())
	fmt.Println(retry.Operation{Scope: "night jobs"}.Key(), retry.OverflowKey())
	// Output:
	// dynamodb/eu-central-1/orders false true
	// night jobs (overflow)
}

func ExamplePlan() {
	plan := newExampleStrategy(standard.Config{}).Plan(retry.Operation{Service: "dynamodb"})
	fmt.Println(plan.MaxAttempts, "attempts, the first delay at most", plan.Base)
	// Output: 4 attempts, the first delay at most 25ms
}

// A loop of one's own calls the verbs as Do does.
func ExampleStrategy() {
	ctx := context.Background()
	strategy := newExampleStrategy(standard.Config{})
	send := func(ctx context.Context) error {
		attempt, _ := retry.AttemptFrom(ctx)
		fmt.Println("attempt", attempt.Number)
		if attempt.Number == 1 {
			return &serviceError{503}
		}
		return nil
	}
	token, err := strategy.AcquireInitialToken(ctx, retry.Operation{})
	if err != nil {
		log.Fatal(err)
	}
	for {
		if err := token.Wait(ctx); err != nil {
			_ = strategy.RecordFailure(token, err)
			fmt.Println(err)
			return
		}
		failure := send(token.Context(ctx))
		if failure == nil {
			_ = strategy.RecordSuccess(token, retry.Result{})
			return
		}
		next, err := strategy.RefreshRetryToken(ctx, token, failure)
		if err != nil {
			_ = strategy.RecordFailure(token, failure)
			fmt.Println(err)
			return
		}
		token = next
	}
	// Output:
	// attempt 1
	// attempt 2
}

// A queue that takes two messages in a call throttles the second one once.
func ExampleSendAll() {
	clk := &clock.Fake{}
	strategy, err := standard.New(standard.Config{Clock: clk})
	if err != nil {
		panic(err)
	}
	calls := 0
	batch := retry.Batch[string]{Entries: []string{"a", "b", "c"}, MaxEntries: 2}
	clk.Run(func() {
		sent, err := retry.SendAll(context.Background(), strategy, retry.Operation{}, batch,
			func(_ context.Context, some []string) ([]retry.Sent[string], error) {
				calls++
				sent := make([]retry.Sent[string], len(some))
				for i, message := range some {
					if sent[i].Value = "id of " + message; message == "b" && calls == 1 {
						sent[i].Err = retry.Mark(errors.New("slow down"), classify.Throttling)
					}
				}
				return sent, nil
			})
		fmt.Println(sent[1].Value, err, calls)
	})
	// Output: id of b <nil> 3
}
