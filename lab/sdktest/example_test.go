package sdktest

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/redis/go-redis/v9"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
	"github.com/awsretry/awsretry/modes/adaptive"
)

// The clients of all processes that do this share the send rate of each scope.
func Example_fleet() {
	ctx := context.Background()
	store, err := redisstore.New(redisstore.Config{
		Options: &redis.UniversalOptions{Addrs: []string{"cache.internal:6379"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Check(ctx); err != nil {
		log.Print(err) // the members have send rates of their own until it is mended
	}
	shared, err := fleet.New(fleet.Config{
		Store:     store,
		Namespace: "prod/111122223333", // the stage and the account
		Observer:  fleet.SlogObserver(nil),
	})
	if err != nil {
		log.Fatal(err)
	}

	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	err = awssdk.Install(&cfg, awssdk.WithSettings(
		awsretry.WithDefaultMode(awsretry.ModeAdaptive), awsretry.WithConfig(shared.Config(adaptive.Config{}))))
	if err != nil {
		log.Fatal(err)
	}
	_ = dynamodb.NewFromConfig(cfg)

	// When the program ends:
	shared.Close()
	if err := store.Close(); err != nil {
		log.Fatal(err)
	}
}

// A fleet needs one line in the two ways to use this module.
func Example_fleetInOneLine() {
	ctx, cfg := context.Background(), aws.Config{}
	shared, err := fleet.New(fleet.Config{Store: &fleet.Memory{}, Namespace: "test"})
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()

	mode, config := awsretry.WithDefaultMode(awsretry.ModeAdaptive), awsretry.WithConfig(shared.Config(adaptive.Config{}))
	strategy, err := awsretry.Load(ctx, mode, config)                 // for any function
	failed := awssdk.Install(&cfg, awssdk.WithSettings(mode, config)) // for clients of the SDK

	fmt.Println(err, failed, strategy.Snapshot().Mode)
	// Output: <nil> <nil> adaptive
}
