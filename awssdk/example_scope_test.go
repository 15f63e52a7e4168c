package awssdk_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

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

	service.show(ctx, sts.NewFromConfig(cfg))
	// Output:
	// 1s are due
	// 1s are due
	// account 111122223333, requests: 3
}

// The SDK takes zero attempts for a number that is not set, and so does Install. The observer is told.
func ExampleInstall_zeroAttempts() {
	service := failing(2)
	defer service.Close()
	_ = os.Setenv("AWS_MAX_ATTEMPTS", "0")

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.SettingIgnored {
			fmt.Println(e.Kind, e.Err)
		}
	})
	if err := awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithObserver(observer))); err != nil {
		log.Fatal(err)
	}
	fmt.Println(cfg.Retryer().MaxAttempts(), "attempts")
	// Output:
	// setting-ignored awsretry: AWS_MAX_ATTEMPTS: "0": must be a decimal integer from 1 to 2147483647; aws-sdk-go-v2 starts with it, so its reading counts
	// 3 attempts
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
	service.show(ctx, sts.NewFromConfig(cfg))
	// Output:
	// adaptive
	// account 111122223333, requests: 3
}

// attempts is a provider that counts the attempts of all clients. Its other instruments do nothing.
type attempts struct {
	metrics.NopMeter
	made *atomic.Int64
}

func (a attempts) Meter(string, ...metrics.MeterOption) metrics.Meter { return a }

func (a attempts) Int64Counter(name string, opts ...metrics.InstrumentOption) (metrics.Int64Counter, error) {
	if name == "client.call.attempts" {
		return a, nil
	}
	return a.NopMeter.Int64Counter(name, opts...)
}

func (a attempts) Add(_ context.Context, n int64, _ ...metrics.RecordMetricOption) { a.made.Add(n) }

// One option gives all clients of a config the metrics of the SDK, and another one its traces.
func ExampleWithMeterProvider() {
	service := failing(2)
	defer service.Close()

	ctx := context.Background()
	meters, tracers := attempts{made: &atomic.Int64{}}, &tracing.NopTracerProvider{}
	cfg, err := awssdk.LoadDefaultConfig(ctx,
		awssdk.WithMeterProvider(meters),
		awssdk.WithTracerProvider(tracers))
	if err != nil {
		log.Fatal(err)
	}
	service.show(ctx, sts.NewFromConfig(cfg))
	fmt.Println("attempts:", meters.made.Load())
	// Output:
	// account 111122223333, requests: 3
	// attempts: 3
}
