package awsretry_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing/fstest"
	"time"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func getItem(context.Context) (string, error) { return "an item", nil }

// Without options, Load reads the environment of the process and the shared files in the home
// directory.
func ExampleLoad_withoutOptions() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx)
	if err != nil {
		log.Fatal(err) // names the value, its place and what would be accepted
	}
	op := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}
	item, err := retry.Do(ctx, strategy, op, func(ctx context.Context) (string, error) {
		return getItem(ctx)
	})
	fmt.Println(item, err)
}

// idempotent forbids the retry of an operation that timed out, unless it may be executed twice.
type idempotent struct{}

func (idempotent) Name() string { return "idempotent" }

func (idempotent) Classify(o classify.Outcome) classify.Verdict {
	if o.Previous.Kind() == classify.Timeout && !strings.HasPrefix(o.Operation, "Get") {
		return classify.Forbidden()
	}
	return classify.Verdict{}
}

func ExampleWithClassifier() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx, awsretry.WithClassifier(classify.Also(
		classify.Code(classify.Codes{"Maintenance": classify.Server}), // besides the codes of AWS
		idempotent{},
	)))
	if err != nil {
		log.Fatal(err)
	}
	item, err := retry.Do(ctx, strategy, retry.Operation{Name: "GetItem"}, getItem)
	fmt.Println(item, err)
}

// A test gives the strategy a fake clock. The time moves whenever the strategy waits.
func ExampleWithClock() {
	clk := &clock.Fake{}
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithClock(clk),
		awsretry.WithRandom(func() float64 { return 1 }), // no jitter
		awsretry.WithEnv(func(string) (string, bool) { return "", false }),
		awsretry.WithFS(fstest.MapFS{}))
	if err != nil {
		log.Fatal(err)
	}

	calls := 0
	flaky := func(context.Context) error {
		if calls++; calls < 3 {
			return unavailable{}
		}
		return nil
	}
	clk.Run(func() { err = retry.DoErr(context.Background(), strategy, retry.Operation{}, flaky) })
	fmt.Println(err, clk.Waits()) // the waits took no time
	// Output:
	// <nil> [50ms 100ms]
}

// Five attempts. The longest delay grows from 200 ms to 2 s.
func ExampleLoad_attemptsAndDelays() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx,
		awsretry.WithMaxAttempts(5),
		awsretry.WithMaxBackoff(2*time.Second),
		awsretry.WithStandard(standard.Config{
			Base:           200 * time.Millisecond, // the longest delay before the first retry; it doubles
			ThrottlingBase: 200 * time.Millisecond, // the same after a throttle
		}))
	if err != nil {
		log.Fatal(err)
	}
	plan := strategy.Plan(retry.Operation{})
	fmt.Println(plan.MaxAttempts, plan.Base, plan.MaxBackoff)
}

// EC2 throttles calls by operation, so each operation of EC2 has a scope of its own here. The
// limit of RunInstances is known.
func ExampleWithConfig() {
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithMode(awsretry.ModeAdaptive),
		awsretry.WithEnv(func(string) (string, bool) { return "", false }),
		awsretry.WithFS(fstest.MapFS{}),
		awsretry.WithConfig(adaptive.Config{
			Standard: standard.Config{Scope: func(op retry.Operation) retry.ScopeKey {
				if op.Service == "ec2" {
					return retry.ScopeKey{Account: op.Account, Service: op.Service, Region: op.Region, Name: op.Name}
				}
				return op.Key()
			}},
			SendLimit: func(scope retry.ScopeKey) adaptive.SendLimit {
				if scope.Name == "RunInstances" {
					return adaptive.SendLimit{Starting: 1, Ceiling: 2}
				}
				return adaptive.SendLimit{}
			},
		}))
	if err != nil {
		log.Fatal(err)
	}
	for _, op := range []retry.Operation{
		{Service: "ec2", Region: "eu-central-1", Name: "RunInstances"},
		{Service: "ec2", Region: "eu-central-1", Name: "DescribeVpcs"},
		{Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: "orders"},
	} {
		call := func(context.Context) (string, error) { return "the answer of " + op.Name, nil }
		if _, err := retry.Do(context.Background(), strategy, op, call); err != nil {
			log.Fatal(err)
		}
	}
	for _, scope := range strategy.Snapshot().Scopes {
		fmt.Printf("%-29s quota %d, limited %t\n", scope.Key, scope.Quota, scope.Limited)
	}
	// Output:
	//                               quota 500, limited false
	// dynamodb/eu-central-1/orders  quota 500, limited false
	// ec2/eu-central-1/DescribeVpcs quota 500, limited false
	// ec2/eu-central-1/RunInstances quota 500, limited true
}

// Callers with the same key share a strategy, its retry quota and its send rate.
func ExampleNewFactory() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithEnv(func(string) (string, bool) { return "", false }),
		awsretry.WithFS(fstest.MapFS{}))
	if err != nil {
		log.Fatal(err)
	}
	factory, err := awsretry.NewFactory(settings)
	if err != nil {
		log.Fatal(err)
	}
	reader, err := factory.Strategy("dynamodb/eu-central-1")
	if err != nil {
		log.Fatal(err)
	}
	writer, err := factory.Strategy("dynamodb/eu-central-1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reader == writer, reader.Snapshot().SharedAs)
	// Output:
	// true dynamodb/eu-central-1
}

// unavailable is an error with an HTTP status, as AWS clients return it.
type unavailable struct{}

func (unavailable) Error() string       { return "service unavailable" }
func (unavailable) HTTPStatusCode() int { return 503 }
