package telemetry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/metrics/promretry"
)

// All clients of the config have one strategy, so one call of Watch is enough.
func Example() {
	ctx := context.Background()
	metrics := promretry.New(promretry.Config{})
	cfg, err := awssdk.LoadDefaultConfig(ctx, awssdk.WithSettings(awsretry.WithObserver(metrics)))
	if err != nil {
		log.Fatal(err)
	}
	if strategy, ok := awssdk.StrategyOf(cfg); ok {
		err = metrics.Watch(strategy)
	}
	fmt.Println(err, prometheus.Register(metrics))
}

// The last of ten common programs: metrics of the calls of an SDK client, with the global
// MeterProvider.
func Example_metrics() {
	ctx := context.Background()

	telemetry, err := otelretry.New(otelretry.Config{})
	if err != nil {
		log.Fatal(err)
	}
	cfg, err := awssdk.LoadDefaultConfig(ctx, awssdk.WithSettings(awsretry.WithObserver(telemetry)))
	if err != nil {
		log.Fatal(err)
	}
	strategy, _ := awssdk.StrategyOf(cfg)
	if err := telemetry.Watch(strategy); err != nil {
		log.Fatal(err)
	}

	fmt.Println(strategy.Snapshot().Mode)
	// Output: standard
}
