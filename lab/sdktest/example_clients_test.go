package sdktest

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
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

// Two tables on one client do not disturb each other.
func Example_twoTables() {
	ctx := context.Background()
	cfg := configFor(answerFunc(func(r *http.Request) (*http.Response, error) {
		if body, err := io.ReadAll(r.Body); err != nil || strings.Contains(string(body), `"busy"`) {
			return response(http.StatusBadRequest, `{"__type": "ProvisionedThroughputExceededException"}`), err
		}
		return response(http.StatusOK, "{}"), nil
	}))

	strategy, err := awsretry.Load(ctx, awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(1))
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg, awssdk.WithStrategy(strategy)); err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg)
	for _, table := range []string{"busy", "quiet"} {
		_, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(table)})
		fmt.Println(table, err == nil)
	}
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		fmt.Printf("%s: held back: %t\n", scope.Scope, scope.Limited)
	}
	// Output:
	// busy false
	// quiet true
	// dynamodb/eu-central-1/busy: held back: true
	// dynamodb/eu-central-1/quiet: held back: false
}

// The behavior that the SDKs had before v2.1.
func Example_behaviorBefore() {
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithStandard(standard.Config{Behavior: retry.V20}))); err != nil {
		log.Fatal(err)
	}

	fmt.Println(dynamodb.NewFromConfig(cfg).Options().Retryer.MaxAttempts())
}

// Adaptive mode for the calls of one client, here those of one table, and standard mode for all others.
func Example_adaptiveForOneTable() {
	ctx := context.Background()
	cfg, err := awssdk.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	paced := cfg.Copy()
	if err := awssdk.Install(&paced, awssdk.WithSettings(awsretry.WithMode(awsretry.ModeAdaptive))); err != nil {
		log.Fatal(err)
	}
	orders := dynamodb.NewFromConfig(paced) // for the table that throttles
	others := dynamodb.NewFromConfig(cfg)

	fmt.Println(orders.Options().RetryMode, others.Options().RetryMode)
	// Output: adaptive standard
}

// PutItem is never sent twice. All else is retried.
func Example_oneOperationWithoutRetries() {
	requests := 0
	cfg := configFor(answerFunc(func(*http.Request) (*http.Response, error) {
		requests++
		return jsonError(http.StatusServiceUnavailable, ""), nil
	}))

	err := awssdk.Install(&cfg, awssdk.WithOperation(
		func(_ context.Context, op retry.Operation, input any) retry.Operation {
			if _, ok := input.(*dynamodb.PutItemInput); ok {
				op.MaxAttempts = 1
			}
			return op
		}))
	if err != nil {
		log.Fatal(err)
	}

	client, table := dynamodb.NewFromConfig(cfg), aws.String("orders")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: map[string]types.AttributeValue{}})
	fmt.Println("PutItem:", requests, err != nil)
	_, err = client.Scan(retry.Once(ctx), &dynamodb.ScanInput{TableName: table})
	fmt.Println("Scan, once:", requests-1, err != nil)
	_, err = client.Scan(ctx, &dynamodb.ScanInput{TableName: table})
	fmt.Println("Scan:", requests-2, err != nil)
	// Output:
	// PutItem: 1 true
	// Scan, once: 1 true
	// Scan: 4 true
}

// One client has the SDK's retryer. The others of the config keep their strategy.
func Example_withoutAwsretry() {
	cfg := configFor(answerFunc(func(*http.Request) (*http.Response, error) {
		return jsonError(http.StatusBadRequest, "ThrottlingException"), nil
	}))
	if err := awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithRandom(func() float64 { return 0 }))); err != nil {
		log.Fatal(err)
	}
	plain := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = sdkretry.NewStandard()
	})

	_, err := plain.ListTables(context.Background(), &dynamodb.ListTablesInput{}, func(o *dynamodb.Options) {
		o.Retryer = sdkretry.AddWithMaxBackoffDelay(o.Retryer, time.Nanosecond)
	})
	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(err != nil, "scopes that awsretry has seen:", len(strategy.Snapshot().Scopes)-1)
	// Output: true scopes that awsretry has seen: 0
}

// One quota and one send rate for each client, as in the SDK: here by the service,
// which has one client.
func Example_scopeOfTheClient() {
	cfg := configFor(nil)
	oneScope := func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		op.Scope = op.Service
		return op
	}
	if err := awssdk.Install(&cfg, awssdk.WithOperation(oneScope)); err != nil {
		log.Fatal(err)
	}
}

// TestExamplesRun runs the examples whose output depends on the environment.
func TestExamplesRun(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
		"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "", "AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": "",
	} {
		t.Setenv(name, value)
	}
	Example_behaviorBefore()
	Example_scopeOfTheClient()
}
