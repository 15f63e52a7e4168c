package awsretry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// variables is an environment.
type variables map[string]string

func (v variables) lookup(name string) (string, bool) {
	value, ok := v[name]
	return value, ok
}

func ExampleResolve() {
	files := fstest.MapFS{"aws/config": {Data: []byte("[profile x]\nretry_mode = adaptive\nmax_attempts = 7\n")}}
	environment := map[string]string{"AWS_PROFILE": "x", "AWS_MAX_ATTEMPTS": "4", "AWS_CONFIG_FILE": "/aws/config"}

	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithFS(files),
		awsretry.WithEnv(func(name string) (string, bool) {
			value, ok := environment[name]
			return value, ok
		}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.RetryMode.Value, "from", settings.RetryMode.Origin)
	fmt.Println(settings.MaxAttempts.Value, "from", settings.MaxAttempts.Origin)
	for _, loser := range settings.MaxAttempts.Overridden {
		fmt.Println("  beats", loser.Raw, "from", loser.Origin)
	}
	// Output:
	// adaptive from /aws/config:2: [profile x] retry_mode
	// 4 from AWS_MAX_ATTEMPTS
	//   beats 7 from /aws/config:3: [profile x] max_attempts
}

// The error for a bad value names its place.
func ExampleResolve_invalidValue() {
	_, err := awsretry.Resolve(context.Background(),
		awsretry.WithFS(fstest.MapFS{}),
		awsretry.WithEnv(variables{"AWS_MAX_ATTEMPTS": "ten"}.lookup))
	fmt.Println(err)
	if invalid, ok := errors.AsType[*config.ValueError](err); ok {
		fmt.Printf("%s is %q\n", invalid.Key, invalid.Raw)
	}
	// Output:
	// config: AWS_MAX_ATTEMPTS: "ten": must be a decimal integer from 1 to 2147483647
	// max_attempts is "ten"
}

// The option is stronger than AWS_PROFILE.
func ExampleWithProfile() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithProfile("batch"),
		awsretry.WithFS(fstest.MapFS{"aws/config": {Data: []byte("[default]\n\n[profile batch]\nmax_attempts = 8\n")}}),
		awsretry.WithEnv(variables{"AWS_PROFILE": "default", "AWS_CONFIG_FILE": "/aws/config"}.lookup))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.Profile.Value, "from", settings.Profile.Origin)
	fmt.Println(settings.MaxAttempts.Value, "from", settings.MaxAttempts.Origin)
	// Output:
	// batch from option WithProfile
	// 8 from /aws/config:4: [profile batch] max_attempts
}

func ExampleWithConfigFile() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithConfigFile("/etc/service/aws"),
		awsretry.WithFS(fstest.MapFS{"etc/service/aws": {Data: []byte("[default]\nretry_mode = adaptive\n")}}),
		awsretry.WithEnv(variables{}.lookup))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.RetryMode.Value, "from", settings.RetryMode.Origin)
	// Output:
	// adaptive from /etc/service/aws:2: [default] retry_mode
}

// The credentials file is stronger than the config file, and a profile has no prefix in it.
func ExampleWithCredentialsFile() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithProfile("batch"),
		awsretry.WithConfigFile("/aws/config"),
		awsretry.WithCredentialsFile("/aws/credentials"),
		awsretry.WithFS(fstest.MapFS{
			"aws/config":      {Data: []byte("[profile batch]\nmax_attempts = 8\n")},
			"aws/credentials": {Data: []byte("[batch]\nmax_attempts = 5\n")},
		}),
		awsretry.WithEnv(variables{}.lookup))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.MaxAttempts.Value, "from", settings.MaxAttempts.Origin)
	for _, loser := range settings.MaxAttempts.Overridden {
		fmt.Println("  beats", loser.Raw, "from", loser.Origin)
	}
	// Output:
	// 5 from /aws/credentials:2: [batch] max_attempts
	//   beats 8 from /aws/config:2: [profile batch] max_attempts
}

// A test sets the variables that the code under test sees.
func ExampleWithEnv() {
	environment := map[string]string{"AWS_RETRY_MODE": "adaptive"}
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithEnv(func(name string) (string, bool) {
			value, ok := environment[name]
			return value, ok
		}),
		awsretry.WithFS(fstest.MapFS{}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.RetryMode.Value, "from", settings.RetryMode.Origin)
	// Output:
	// adaptive from AWS_RETRY_MODE
}

// The names in the file system have no leading slash; the paths in the settings have one.
func ExampleWithFS() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithFS(fstest.MapFS{"aws/config": {Data: []byte("[default]\nmax_attempts = 5\n")}}),
		awsretry.WithConfigFile("/aws/config"),
		awsretry.WithCredentialsFile("/aws/credentials"),
		awsretry.WithEnv(variables{}.lookup))
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range settings.Files {
		fmt.Println(file.Path, file.Status)
	}
	// Output:
	// /aws/config loaded
	// /aws/credentials missing
}

func ExampleWithService() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithService("dynamodb"),
		awsretry.WithFS(fstest.MapFS{}),
		awsretry.WithEnv(variables{}.lookup))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.MaxAttempts.Value, "from", settings.MaxAttempts.Origin)
	// Output:
	// 4 from built-in default
}

// Without WithStrict the line would be a diagnostic, and the rest of the file would count.
func ExampleWithStrict() {
	_, err := awsretry.Resolve(context.Background(),
		awsretry.WithStrict(),
		awsretry.WithConfigFile("/aws/config"),
		awsretry.WithFS(fstest.MapFS{"aws/config": {Data: []byte("[default]\nretry_mode adaptive\n")}}),
		awsretry.WithEnv(variables{}.lookup))
	fmt.Println(err)
	if malformed, ok := errors.AsType[*config.ParseError](err); ok {
		fmt.Println("line", malformed.Line)
	}
	// Output:
	// config: /aws/config:2: "retry_mode": expected an '=' sign in a property
	// line 2
}

// An override in code is stronger than the environment.
func ExampleWithMode() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithMode(awsretry.ModeAdaptive),
		awsretry.WithFS(fstest.MapFS{}),
		awsretry.WithEnv(variables{"AWS_RETRY_MODE": "standard"}.lookup))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.RetryMode.Value, "from", settings.RetryMode.Origin)
	// Output:
	// adaptive from option WithMode
}

// A default in code is weaker than the environment.
func ExampleWithDefaultMode() {
	for _, environment := range []variables{{}, {"AWS_RETRY_MODE": "standard"}} {
		settings, err := awsretry.Resolve(context.Background(),
			awsretry.WithDefaultMode(awsretry.ModeAdaptive),
			awsretry.WithFS(fstest.MapFS{}),
			awsretry.WithEnv(environment.lookup))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(settings.RetryMode.Value, "from", settings.RetryMode.Origin)
	}
	// Output:
	// adaptive from option WithDefaultMode
	// standard from AWS_RETRY_MODE
}

// With one attempt no operation is retried.
func ExampleWithMaxAttempts() {
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithMaxAttempts(1),
		awsretry.WithFS(fstest.MapFS{}),
		awsretry.WithEnv(variables{"AWS_MAX_ATTEMPTS": "5"}.lookup))
	if err != nil {
		log.Fatal(err)
	}
	attempts := 0
	_, err = retry.Do(context.Background(), strategy, retry.Operation{}, func(context.Context) (int, error) {
		attempts++
		return 0, unavailable{}
	})
	fmt.Println(attempts, errors.Is(err, retry.ErrAttemptsExhausted))
	// Output:
	// 1 true
}

// The author of a batch job wants eight attempts, and its operator may want fewer.
func ExampleWithStandard() {
	for _, environment := range []variables{{}, {"AWS_MAX_ATTEMPTS": "2"}} {
		settings, err := awsretry.Resolve(context.Background(),
			awsretry.WithStandard(standard.Config{MaxAttempts: 8}),
			awsretry.WithFS(fstest.MapFS{}),
			awsretry.WithEnv(environment.lookup))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(settings.MaxAttempts.Value, "from", settings.MaxAttempts.Origin)
	}
	// Output:
	// 8 from option WithStandard
	// 2 from AWS_MAX_ATTEMPTS
}

// AWS tools had the behavior v2.0 before November 2026.
func ExampleWithBehavior() {
	for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
		strategy, err := awsretry.Load(context.Background(),
			awsretry.WithBehavior(behavior),
			awsretry.WithFS(fstest.MapFS{}),
			awsretry.WithEnv(variables{}.lookup))
		if err != nil {
			log.Fatal(err)
		}
		plan := strategy.Plan(retry.Operation{Service: "dynamodb"})
		fmt.Println(behavior, plan.MaxAttempts, plan.Base, plan.RetryCost, plan.TimeoutCost, plan.ThrottlingCost)
	}
	// Output:
	// v2.0 3 1s 5 10 5
	// v2.1 4 25ms 14 14 5
}

// A program that keeps v2.0 asks for it in code, because no variable and no file can.
func ExampleWithBehavior_keepV20() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx, awsretry.WithBehavior(retry.V20))
	if err != nil {
		log.Fatal(err)
	}
	item, err := retry.Do(ctx, strategy, retry.Operation{Name: "GetItem"}, getItem)
	fmt.Println(item, err)
}
