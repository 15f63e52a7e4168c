package telemetry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/metrics/otelretry"
)

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
