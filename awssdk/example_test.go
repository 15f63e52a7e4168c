package awssdk_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// service is AWS STS on the loopback interface. Clients find it by the environment.
type service struct {
	*httptest.Server
	requests int
	restore  []func()
}

// failing starts a service whose first requests fail with status 503.
func failing(first int) *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if s.requests++; s.requests <= first {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `<ErrorResponse><Error><Code>ServiceUnavailable</Code></Error></ErrorResponse>`)
			return
		}
		fmt.Fprint(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>111122223333</Account>`+
			`</GetCallerIdentityResult></GetCallerIdentityResponse>`)
	}))
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "", "AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		before, set := os.LookupEnv(name) //nolint:forbidigo // what Close restores
		s.restore = append(s.restore, func() {
			if set {
				_ = os.Setenv(name, before)
			} else {
				_ = os.Unsetenv(name)
			}
		})
		_ = os.Setenv(name, value)
	}
	return s
}

// Close ends the service and restores the environment.
func (s *service) Close() {
	s.Server.Close()
	for _, f := range s.restore {
		f()
	}
}

// show makes a call, and prints its result and the number of requests.
func (s *service) show(ctx context.Context, client *sts.Client) {
	s.requests = 0
	out, err := client.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		fmt.Println("failed, requests:", s.requests)
		return
	}
	fmt.Println("account "+*out.Account+", requests:", s.requests)
}

// All clients that are made from the config retry as its settings say.
func ExampleInstall() {
	service := failing(2)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg); err != nil {
		log.Fatal(err)
	}
	service.show(ctx, sts.NewFromConfig(cfg))
	// Output: account 111122223333, requests: 3
}

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

// The snapshot of the strategy has the retry quota of each scope. Two retries have taken 14
// tokens each from this one.
func ExampleStrategyOf() {
	service := failing(3)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg); err != nil {
		log.Fatal(err)
	}
	service.show(ctx, sts.NewFromConfig(cfg))

	strategy, ok := awssdk.StrategyOf(cfg)
	if !ok {
		log.Fatal("no strategy of awsretry")
	}
	for _, scope := range strategy.Snapshot().Scopes[1:] { // the first is the strategy as a whole
		fmt.Printf("%s: %d of %d tokens\n", scope.Scope, scope.Quota, scope.QuotaCapacity)
	}
	// Output:
	// failed, requests: 3
	// sts/eu-central-1: 472 of 500 tokens
}

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
	client := sts.NewFromConfig(cfg)
	for _, tenant := range []string{"tenant 7", "tenant 8"} {
		service.show(awssdk.WithScope(ctx, tenant), client)
	}
	strategy, _ := awssdk.StrategyOf(cfg)
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		fmt.Println(scope.Scope)
	}
	// Output:
	// account 111122223333, requests: 1
	// account 111122223333, requests: 1
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
			if _, ok := input.(*sts.GetCallerIdentityInput); ok {
				op.MaxAttempts = 1
			}
			return op
		}))
	if err != nil {
		log.Fatal(err)
	}
	service.show(ctx, sts.NewFromConfig(cfg))
	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(strategy.Snapshot().Scopes[1].Scope)
	// Output:
	// failed, requests: 1
	// sts/eu-central-1/GetCallerIdentity
}

// Each operation of a service has a retry quota and a send rate of its own, as where a service
// throttles by operation.
func ExampleByOperation() {
	service := failing(0)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg, awssdk.WithOperation(awssdk.ByOperation)); err != nil {
		log.Fatal(err)
	}
	service.show(ctx, sts.NewFromConfig(cfg))
	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(strategy.Snapshot().Scopes[1].Scope)
	// Output:
	// account 111122223333, requests: 1
	// sts/eu-central-1/GetCallerIdentity
}

// All calls of a service in a region share a retry quota and a send rate, whatever resource they
// are for.
func ExampleByService() {
	service := failing(0)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg, awssdk.WithOperation(awssdk.ByService)); err != nil {
		log.Fatal(err)
	}
	service.show(ctx, sts.NewFromConfig(cfg))
	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(strategy.Snapshot().Scopes[1].Scope)
	// Output:
	// account 111122223333, requests: 1
	// sts/eu-central-1
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
		service.show(ctx, sts.NewFromConfig(cfg))
	}
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		fmt.Println(scope.Scope)
	}
	// Output:
	// account 111122223333, requests: 1
	// account 111122223333, requests: 1
	// 111122223333/sts/eu-central-1
	// 444455556666/sts/eu-central-1
}

// Settings in code override those of the environment and the files. Defaults in code do not.
func ExampleWithSettings() {
	service := failing(0)
	defer service.Close()

	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	err = awssdk.Install(&cfg, awssdk.WithSettings(
		awsretry.WithMaxAttempts(5),
		awsretry.WithDefaultMode(awsretry.ModeAdaptive),
	))
	if err != nil {
		log.Fatal(err)
	}
	strategy, _ := awssdk.StrategyOf(cfg)
	fmt.Println(cfg.Retryer().MaxAttempts(), strategy.Snapshot().Mode)
	// Output: 5 adaptive
}

// Clients of two configs share one strategy.
func ExampleWithStrategy() {
	service := failing(0)
	defer service.Close()

	ctx := context.Background()
	strategy, err := awsretry.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, region := range []string{"eu-central-1", "us-east-1"} {
		cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion(region))
		if err != nil {
			log.Fatal(err)
		}
		if err := awssdk.Install(&cfg, awssdk.WithStrategy(strategy)); err != nil {
			log.Fatal(err)
		}
		service.show(ctx, sts.NewFromConfig(cfg))
	}
	for _, scope := range strategy.Snapshot().Scopes[1:] {
		fmt.Println(scope.Scope)
	}
	// Output:
	// account 111122223333, requests: 1
	// account 111122223333, requests: 1
	// sts/eu-central-1
	// sts/us-east-1
}

// A call with a context of retry.Once makes one attempt, for example in a loop that retries by
// itself.
func Example_once() {
	service := failing(1)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg); err != nil {
		log.Fatal(err)
	}
	service.show(retry.Once(ctx), sts.NewFromConfig(cfg))
	// Output: failed, requests: 1
}

// The error of a call holds that of the service, and why the client gave up.
func Example_errors() {
	service := failing(1)
	defer service.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	strategy, err := standard.New(standard.Config{Base: time.Hour, MaxBackoff: time.Hour, Jitter: standard.NoJitter})
	if err != nil {
		log.Fatal(err)
	}
	if err := awssdk.Install(&cfg, awssdk.WithStrategy(strategy)); err != nil {
		log.Fatal(err)
	}
	_, err = sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	fmt.Println("no time for the retry:", errors.Is(err, retry.ErrDeadline))
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		fmt.Println("the service said:", api.ErrorCode())
	}
	// Output:
	// no time for the retry: true
	// the service said: ServiceUnavailable
}
