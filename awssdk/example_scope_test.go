package awssdk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

// The calls of each tenant have a retry quota and a send rate of their own.
func ExampleWithScope() {
	service := failing(0)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg); err != nil {
		log.Fatal(err)
	}
	for _, tenant := range []string{"tenant 7", "tenant 8"} {
		service.show(awssdk.WithScope(ctx, tenant), cfg)
	}
	strategy, _ := awssdk.StrategyOf(cfg)
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		fmt.Println(scope.Scope)
	}
	// Output:
	// succeeded, requests: 1
	// succeeded, requests: 1
	// tenant 7
	// tenant 8
}

// Each operation of a service gets a scope of its own, and one of them a single attempt.
func ExampleWithOperation() {
	service := failing(1)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	err = awssdk.Install(&cfg, awssdk.WithOperation(
		func(_ context.Context, op retry.Operation, input any) retry.Operation {
			op.Resource = op.Name
			if _, ok := input.(*ListStacksInput); ok {
				op.MaxAttempts = 1
			}
			return op
		}))
	if err != nil {
		log.Fatal(err)
	}
	service.show(ctx, cfg)
	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(strategy.Snapshot().Scopes[1].Scope)
	// Output:
	// failed, requests: 1
	// cloudformation/eu-central-1/ListStacks
}

// The clients of two accounts share a strategy, and neither account slows the other. The accounts
// are given because the credentials do not know them.
func ExampleWithAccount() {
	service := failing(0)
	defer service.Close()

	ctx := context.Background()
	strategy, err := awsretry.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, account := range []string{"111122223333", "444455556666"} {
		cfg, err := config.LoadDefaultConfig(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if err := awssdk.Install(&cfg, awssdk.WithStrategy(strategy), awssdk.WithAccount(account)); err != nil {
			log.Fatal(err)
		}
		service.show(ctx, cfg)
	}
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		fmt.Println(scope.Scope)
	}
	// Output:
	// succeeded, requests: 1
	// succeeded, requests: 1
	// 111122223333/cloudformation/eu-central-1
	// 444455556666/cloudformation/eu-central-1
}
