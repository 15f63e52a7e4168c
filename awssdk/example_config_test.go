package awssdk_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
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
