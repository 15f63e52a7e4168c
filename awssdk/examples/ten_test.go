package examples_test

import (
	"context"
	"fmt"
	"log"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

// The first of ten common programs: the defaults of the SDK.
func Example_sdkDefaults() {
	ctx := context.Background()

	cfg, err := awssdk.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(cfg.Retryer().MaxAttempts())
	// Output: 3
}

// The second: adaptive mode with ten attempts.
func Example_sdkAdaptive() {
	ctx := context.Background()

	mode, attempts := awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(10)
	cfg, err := awssdk.LoadDefaultConfig(ctx, awssdk.WithSettings(mode, attempts))
	if err != nil {
		log.Fatal(err)
	}

	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(cfg.Retryer().MaxAttempts(), strategy.Snapshot().Mode)
	// Output: 10 adaptive
}
