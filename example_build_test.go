package awsretry_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"
	"time"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// A strategy serves any number of operations. This one reads no real environment and no real
// files, and has no delay before a retry.
func ExampleLoad() {
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithEnv(variables{"AWS_MAX_ATTEMPTS": "4"}.lookup),
		awsretry.WithFS(fstest.MapFS{}),
		awsretry.WithRandom(func() float64 { return 0 }))
	if err != nil {
		log.Fatal(err)
	}
	attempts := 0
	item, err := retry.Do(context.Background(), strategy, retry.Operation{Name: "GetItem"},
		func(context.Context) (string, error) {
			if attempts++; attempts < 3 {
				return "", unavailable{}
			}
			return "an item", nil
		})
	fmt.Println(item, err, "after", attempts, "attempts")
	// Output:
	// an item <nil> after 3 attempts
}

// New builds the strategy for settings that a program has looked at.
func ExampleNew() {
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithEnv(variables{"AWS_RETRY_MODE": "legacy"}.lookup),
		awsretry.WithFS(fstest.MapFS{}))
	if err != nil {
		log.Fatal(err)
	}
	for _, finding := range settings.Diagnostics {
		fmt.Println(finding)
	}
	strategy, err := awsretry.New(settings)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strategy.Snapshot().Mode)
	// Output:
	// warning: AWS_RETRY_MODE: "legacy": aws-sdk-go-v2, botocore, aws-cli, js: the mode is refused, or followed in another way [read-differently]
	// warning: AWS_RETRY_MODE: "legacy": a mode of other tools, read as standard [mapped-mode]
	// standard
}

// A send limit has an effect only in adaptive mode. The program does not start without it by
// mistake.
func ExampleWithConfig_sendLimit() {
	limited := awsretry.WithConfig(adaptive.Config{
		SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 10} },
	})
	hermetic := []awsretry.Option{awsretry.WithEnv(variables{}.lookup), awsretry.WithFS(fstest.MapFS{}), limited}

	_, err := awsretry.Load(context.Background(), hermetic...)
	fmt.Println(err)
	strategy, err := awsretry.Load(context.Background(), append(hermetic, awsretry.WithDefaultMode(awsretry.ModeAdaptive))...)
	fmt.Println(strategy.Snapshot().Mode, err)
	// Output:
	// awsretry: adaptive.Config.SendLimit is set, but the retry mode is standard (built-in default): add WithDefaultMode(ModeAdaptive) or WithMode(ModeAdaptive)
	// adaptive <nil>
}

// Where the operator has chosen standard mode, the program starts, and settings and observer
// say what has no effect.
func ExampleWithConfig_settingIgnored() {
	limited := awsretry.WithConfig(adaptive.Config{MaxSendWait: time.Second})
	settings, err := awsretry.Resolve(context.Background(),
		awsretry.WithEnv(variables{"AWS_RETRY_MODE": "standard"}.lookup), awsretry.WithFS(fstest.MapFS{}), limited)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.Diagnostics[0])
	_, err = awsretry.New(settings, limited,
		awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { fmt.Println(e.Kind, e.Err) })))
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// warning: AWS_RETRY_MODE: "standard": in this mode these have no effect: adaptive.Config.MaxSendWait [no-effect]
	// setting-ignored awsretry: adaptive.Config.MaxSendWait is set, but the retry mode is standard (AWS_RETRY_MODE)
}

// An observer is told about each attempt and each retry.
func ExampleWithObserver() {
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.RetryScheduled || e.Kind == retry.RetryRefused {
				fmt.Println(e.Kind, "after attempt", e.Attempt, "-", e.Err)
			}
		})),
		awsretry.WithMaxAttempts(2),
		awsretry.WithRandom(func() float64 { return 0 }), // no delay
		awsretry.WithEnv(variables{}.lookup),
		awsretry.WithFS(fstest.MapFS{}))
	if err != nil {
		log.Fatal(err)
	}
	_, _ = retry.Do(context.Background(), strategy, retry.Operation{}, func(context.Context) (int, error) {
		return 0, unavailable{}
	})
	// Output:
	// retry-scheduled after attempt 1 - service unavailable
	// retry-refused after attempt 2 - service unavailable
}

// The random numbers decide how much of the longest delay an operation waits.
func ExampleWithRandom() {
	strategy, err := awsretry.Load(context.Background(),
		awsretry.WithRandom(func() float64 { return 0.5 }),
		awsretry.WithConfig(adaptive.Config{Standard: standard.Config{Base: 200 * time.Millisecond}}),
		awsretry.WithEnv(variables{}.lookup),
		awsretry.WithFS(fstest.MapFS{}))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	token, err := strategy.AcquireInitialToken(ctx, retry.Operation{})
	if err != nil {
		log.Fatal(err)
	}
	token, err = strategy.RefreshRetryToken(ctx, token, unavailable{})
	fmt.Println(token.Delay(), err)
	// Output:
	// 100ms <nil>
}

func ExampleWithClassifier_hardQuotas() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx, awsretry.WithClassifier(classify.Also(classify.HardQuotas())))
	if err != nil {
		panic(err)
	}
	fmt.Println(strategy.Judge(retry.Operation{Service: "CloudWatch Logs"}, fullLogsError{}))
	// Output: forbid
}

// fullLogsError is the answer of CloudWatch Logs to one log group too many.
type fullLogsError struct{}

func (fullLogsError) Error() string     { return "too many log groups" }
func (fullLogsError) ErrorCode() string { return "LimitExceededException" }
