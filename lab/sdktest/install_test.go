package sdktest

import (
	"context"
	"encoding/json"
	"flag"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestPresigningNeedsNoRetryLoop(t *testing.T) {
	option, kept := adaptiveMode(standard.Config{})
	s := newScript(say(200, ""))
	client := s3.NewFromConfig(installed(t, s, option))
	request, err := s3.NewPresignClient(client).PresignGetObject(t.Context(), &s3.GetObjectInput{
		Bucket: aws.String("photos"), Key: aws.String("cat"),
	})
	require.NoError(t, err)
	require.Contains(t, request.URL, "X-Amz-Signature=")
	require.Zero(t, kept.acquired.Load())
	require.Zero(t, s.requests())

	url, err := sts.NewPresignClient(sts.NewFromConfig(installed(t, s, option))).PresignGetCallerIdentity(t.Context(), nil)
	require.NoError(t, err)
	require.Contains(t, url.URL, "X-Amz-Signature=")
}

// The scenarios remove it afterwards.
func TestStackWithoutLoopIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScript(say(200, "{}"))
	first := configFor(s)
	first.APIOptions = append(first.APIOptions, noLoop)
	require.NoError(t, awssdk.Install(&first, hermetic()))
	require.NoError(t, describe(t, first))
}

func TestRetryerOfACallReplacesThatOfTheConfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, kept := adaptiveMode(standard.Config{})
		own, err := standard.New(standard.Config{MaxAttempts: 5})
		require.NoError(t, err)
		s := newScript(fail(500, ""))
		retryer := installed(t, s, awssdk.WithStrategy(own)).Retryer()
		require.Error(t, describe(t, installed(t, s, client), func(o *dynamodb.Options) { o.Retryer = retryer }))
		require.Equal(t, 5, s.requests())
		require.Zero(t, kept.acquired.Load())
		require.Equal(t, 500-4*14, own.Snapshot().Scopes[1].Quota)
	})
}

func TestInstallTwiceIsTheLastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, before := adaptiveMode(standard.Config{})
		second, after := adaptiveMode(standard.Config{})
		s := newScript(fail(500, ""))
		cfg := installed(t, s, first)
		require.Equal(t, aws.RetryModeAdaptive, cfg.RetryMode)
		plain := cfg
		require.NoError(t, awssdk.Install(&plain, hermetic()))
		require.Equal(t, aws.RetryModeStandard, plain.RetryMode, "the mode of the first is not taken over")
		require.NoError(t, awssdk.Install(&cfg, second))
		require.Error(t, describe(t, cfg))
		require.Equal(t, 4, s.requests())
		require.Zero(t, before.acquired.Load())
		require.EqualValues(t, 4, after.reported.Load())
	})
}

func TestInstallDoesNotTouchACopyOfTheConfig(t *testing.T) {
	t.Parallel()
	s := newScript(say(200, "{}"))
	original := configFor(s)
	original.APIOptions = make([]func(*middleware.Stack) error, 0, 8)
	copied := original.Copy()
	require.NoError(t, awssdk.Install(&copied, hermetic()))
	require.Nil(t, original.Retryer)
	require.Nil(t, original.APIOptions[:1][0], "not written behind its end")
}

// TestCallForCredentialsIsACallOfItsOwn: another client fetches the credentials of a client,
// inside an attempt.
func TestCallForCredentialsIsACallOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		option, kept := adaptiveMode(standard.Config{})
		cfg := installed(t, newScript(say(200, "{}")), option)
		inner := newScript(stsError("Throttling"), stsError("Throttling"), stsError("AccessDenied"))
		fetching := installed(t, inner, option)
		cfg.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
			_, err := sts.NewFromConfig(fetching).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return aws.Credentials{}, err
		})
		err := describe(t, cfg)
		var refusal *retry.Error
		require.NotErrorAs(t, err, &refusal)
		require.ErrorContains(t, err, "AccessDenied")
		require.Equal(t, 3, inner.requests())
		require.EqualValues(t, 4, kept.reported.Load(), "three, and the one that they were for")
	})
}

func TestInstallFailsBeforeItChangesAnything(t *testing.T) {
	t.Parallel()
	cfg := configFor(nil)
	require.ErrorContains(t, awssdk.Install(&cfg, hermetic(awsretry.WithMaxAttempts(1<<31))), "WithMaxAttempts")
	require.Nil(t, cfg.Retryer)
	require.Nil(t, cfg.APIOptions)
	require.ErrorContains(t, awssdk.Install(nil), "without a config")
}

// planned is a strategy of a program that changes its attempts while clients have it.
type planned struct {
	retry.Strategy
	attempts *atomic.Int64
}

func (s planned) Plan(op retry.Operation) retry.Plan {
	plan := s.Strategy.Plan(op)
	plan.MaxAttempts = int(s.attempts.Load())
	return plan
}

func TestEachCallHasTheAttemptsThatTheStrategyThenPlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, err := standard.New(standard.Config{})
		require.NoError(t, err)
		strategy, s := planned{inner, new(atomic.Int64)}, newScript(fail(500, ""))
		client := dynamodb.NewFromConfig(installed(t, s, awssdk.WithStrategy(strategy)))
		total := 0
		for _, attempts := range []int{5, 2, 3} {
			strategy.attempts.Store(int64(attempts))
			_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
			require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
			total += attempts
			require.Equal(t, total, s.requests())
		}
	})
}

// What code has given to the SDK counts like WithMaxAttempts, and WithSettings overrides it.
func TestInstallUsesTheFlagsAndTheFileOfAProgram(t *testing.T) {
	machine(t, map[string]string{".aws/config": "[default]\nretry_mode = standard\nmax_attempts = 4\n"})
	var values awsretry.Values
	flags := flag.NewFlagSet("program", flag.ContinueOnError)
	values.AddFlags(flags, "aws-")
	require.NoError(t, flags.Parse([]string{"-aws-max-attempts=5", "-aws-max-elapsed=30s"}))
	require.NoError(t, json.Unmarshal([]byte(`{"retry_mode": "adaptive", "max_attempts": 6, "min_delay": "300ms"}`), &values))
	for _, load := range [][]func(*config.LoadOptions) error{nil, {config.WithRetryMaxAttempts(8), config.WithRetryMode(aws.RetryModeStandard)}} {
		cfg, err := config.LoadDefaultConfig(t.Context(), load...)
		require.NoError(t, err)
		require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithValues(values))))
		plan := strategyOf(t, cfg).Plan(retry.Operation{})
		require.Equal(t, "adaptive", strategyOf(t, cfg).Snapshot().Mode)
		require.Equal(t, []any{5, 300 * time.Millisecond, 30 * time.Second}, []any{plan.MaxAttempts, plan.MinDelay, plan.MaxElapsed})
	}
	values.MaxBackoff = "soon"
	values.From("file app.json")
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	require.EqualError(t, awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithValues(values))),
		`config: file app.json: max_backoff: "soon": must be a duration above zero, such as 20s`)
}
