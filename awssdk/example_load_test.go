package awssdk_test

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/standard"
)

// Where no middleware can be added, a retryer alone makes the retries.
func ExampleLoad() {
	service := failing(2)
	defer service.Close()

	ctx := context.Background()
	retryer, err := awssdk.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryer(retryer))
	if err != nil {
		log.Fatal(err)
	}
	service.show(ctx, sts.NewFromConfig(cfg))
	// Output: account 111122223333, requests: 3
}

// One client gets a strategy of its own.
func ExampleNew() {
	service := failing(4)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	strategy, err := standard.New(standard.Config{MaxAttempts: 5, Base: time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	retryer, err := awssdk.New(strategy, nil)
	if err != nil {
		log.Fatal(err)
	}
	service.show(ctx, sts.NewFromConfig(cfg, func(o *sts.Options) { o.Retryer = retryer }))
	// Output: account 111122223333, requests: 5
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
