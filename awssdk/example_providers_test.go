package awssdk_test

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"

	"github.com/awsretry/awsretry/awssdk"
)

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
