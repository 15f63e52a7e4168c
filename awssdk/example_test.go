package awssdk_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// service stands in for AWS CloudFormation and its client. Its first requests fail.
type service struct {
	failures, requests int
	restore            []func()
}

// failing starts a service whose first requests fail, in an environment with nothing but a region and credentials.
func failing(first int) *service {
	s := &service{failures: first}
	for name, value := range map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "", "AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		before, set := os.LookupEnv(name) //nolint:forbidigo // what Close restores
		s.restore = append(s.restore, func() {
			if set {
				_ = os.Setenv(name, before)
			} else {
				_ = os.Unsetenv(name)
			}
		})
		_ = os.Setenv(name, value)
	}
	return s
}

// Close restores the environment.
func (s *service) Close() {
	for _, f := range s.restore {
		f()
	}
}

// ListStacksInput is the input of the only operation.
type ListStacksInput struct{}

// call calls ListStacks as the client of a config does.
func (s *service) call(ctx context.Context, cfg aws.Config) error {
	const operation = "ListStacks"
	ctx = awsmiddleware.SetServiceID(awsmiddleware.SetRegion(ctx, cfg.Region), "CloudFormation")
	ctx = awsmiddleware.SetOperationName(ctx, operation)
	stack := middleware.NewStack(operation, smithyhttp.NewStackRequest)
	loop := sdkretry.NewAttemptMiddleware(cfg.Retryer(), smithyhttp.RequestCloner)
	if err := stack.Finalize.Add(loop, middleware.After); err != nil {
		return err
	}
	for _, option := range cfg.APIOptions {
		if err := option(stack); err != nil {
			return err
		}
	}
	s.requests = 0
	handler := middleware.HandlerFunc(func(context.Context, any) (any, middleware.Metadata, error) {
		if s.requests++; s.requests <= s.failures {
			return nil, middleware.Metadata{}, &smithy.GenericAPIError{Code: "RequestTimeout"}
		}
		return nil, middleware.Metadata{}, nil
	})
	_, _, err := middleware.DecorateHandler(handler, stack).Handle(ctx, &ListStacksInput{})
	return err
}

// show makes a call, and prints its result and the number of requests.
func (s *service) show(ctx context.Context, cfg aws.Config) {
	result := "succeeded"
	if s.call(ctx, cfg) != nil {
		result = "failed"
	}
	fmt.Println(result+", requests:", s.requests)
}

// All clients that are made from the config retry as its settings say.
func ExampleInstall() {
	service := failing(2)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg); err != nil {
		log.Fatal(err)
	}
	service.show(ctx, cfg)
	// Output: succeeded, requests: 3
}

// One call loads a config and gives its clients a strategy, those for credentials included.
func ExampleLoadDefaultConfig() {
	service := failing(2)
	defer service.Close()

	ctx := context.Background()
	cfg, err := awssdk.LoadDefaultConfig(ctx,
		awssdk.WithLoadOptions(config.WithRegion("eu-central-1")),
		awssdk.WithSettings(awsretry.WithDefaultMode(awsretry.ModeAdaptive)))
	if err != nil {
		log.Fatal(err)
	}
	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(strategy.Snapshot().Mode)
	service.show(ctx, cfg)
	// Output:
	// adaptive
	// succeeded, requests: 3
}

// The snapshot of the strategy has the retry quota of each scope. Two retries have taken 14
// tokens each from this one.
func ExampleStrategyOf() {
	service := failing(3)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg); err != nil {
		log.Fatal(err)
	}
	service.show(ctx, cfg)

	strategy, ok := awssdk.StrategyOf(cfg)
	if !ok {
		log.Fatal("no strategy of awsretry")
	}
	for _, scope := range strategy.Snapshot().Scopes[1:] { // the first is the strategy as a whole
		fmt.Printf("%s: %d of %d tokens\n", scope.Scope, scope.Quota, scope.QuotaCapacity)
	}
	// Output:
	// failed, requests: 3
	// cloudformation/eu-central-1: 472 of 500 tokens
}

// Settings in code override those of the environment and the files. Defaults in code do not.
func ExampleWithSettings() {
	service := failing(0)
	defer service.Close()

	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	err = awssdk.Install(&cfg, awssdk.WithSettings(
		awsretry.WithMaxAttempts(5),
		awsretry.WithDefaultMode(awsretry.ModeAdaptive),
	))
	if err != nil {
		log.Fatal(err)
	}
	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(cfg.Retryer().MaxAttempts(), strategy.Snapshot().Mode)
	// Output: 5 adaptive
}

// Transactions of DynamoDB that nothing but throttles has canceled are retried.
func ExampleWithSettings_transactions() {
	service := failing(0)
	defer service.Close()

	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	err = awssdk.Install(&cfg, awssdk.WithSettings(
		awsretry.WithClassifier(classify.Also(classify.ThrottledTransactions())),
	))
	if err != nil {
		log.Fatal(err)
	}
}

// Reads of objects have the timeout that the guide for S3 asks for, and items one that is learned.
func ExampleWithAttemptTimeout() {
	service := failing(1)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}

	reads := retry.FixedTimeout{First: 2 * time.Second, Factor: 2}
	items, err := retry.NewLearnedTimeout(retry.Slower{
		Quantile: 0.9, Factor: 3, Floor: 20 * time.Millisecond, Ceiling: 10 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	choose := func(op retry.Operation) retry.AttemptTimeout {
		switch op.Service + " " + op.Name {
		case "s3 GetObject", "s3 HeadObject":
			return reads
		case "dynamodb GetItem", "dynamodb PutItem", "dynamodb UpdateItem":
			return items
		default:
			return nil // no timeout
		}
	}
	if err := awssdk.Install(&cfg, awssdk.WithAttemptTimeout(retry.TimeoutFunc(choose))); err != nil {
		log.Fatal(err)
	}

	service.show(ctx, cfg)
	// Output: succeeded, requests: 2
}

// slower is a retryer with delays of at least a second.
type slower struct{ aws.RetryerV2 }

func (r slower) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay, delayErr := r.RetryerV2.RetryDelay(attempt, err)
	return max(delay, time.Second), delayErr
}

// prompt is a retryer whose delays are told and not slept.
type prompt struct{ aws.RetryerV2 }

func (r prompt) RetryDelay(attempt int, err error) (time.Duration, error) {
	delay, delayErr := r.RetryerV2.RetryDelay(attempt, err)
	fmt.Println(delay, "are due")
	return 0, delayErr
}

// A retryer around ours sees each backoff, and may change it.
func ExampleRetryer_RetryDelay() {
	service := failing(2)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithRandom(func() float64 { return 1 }))); err != nil {
		log.Fatal(err)
	}
	ours := cfg.Retryer().(aws.RetryerV2)
	cfg.Retryer = func() aws.Retryer { return prompt{slower{ours}} }

	service.show(ctx, cfg)
	// Output:
	// 1s are due
	// 1s are due
	// succeeded, requests: 3
}

// The error of a call holds that of the service, and why the client gave up.
func Example_errors() {
	service := failing(1)
	defer service.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	strategy, err := standard.New(standard.Config{Base: time.Hour, MaxBackoff: time.Hour, Jitter: standard.NoJitter})
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg, awssdk.WithStrategy(strategy)); err != nil {
		log.Fatal(err)
	}
	err = service.call(ctx, cfg)
	fmt.Println("no time for the retry:", errors.Is(err, retry.ErrDeadline))
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		fmt.Println("the service said:", api.ErrorCode())
	}
	// Output:
	// no time for the retry: true
	// the service said: RequestTimeout
}
