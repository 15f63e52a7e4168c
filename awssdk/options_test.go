package awssdk_test

import (
	"context"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestWithStrategyBesideWithSettingsIsAnError(t *testing.T) {
	t.Parallel()
	const text = "awssdk: WithStrategy and WithSettings exclude each other"
	both := []awssdk.Option{
		awssdk.WithStrategy(strategy(t, standard.Config{})), awssdk.WithSettings(awsretry.WithMaxAttempts(2)), awssdk.WithStrategy(nil),
	}
	_, err := awssdk.Load(t.Context(), both...)
	require.EqualError(t, err, text)
	cfg := aws.Config{}
	require.EqualError(t, awssdk.Install(&cfg, both...), text)
	require.Equal(t, aws.Config{}, cfg)
	_, err = awssdk.Load(t.Context(), both[0], awssdk.WithSettings())
	require.NoError(t, err, "no settings")
}

func TestAccountThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"1", "11112222333x", "arn:aws:iam::111122223333:root"} {
		want := "awssdk: an account of WithAccount must have twelve digits: " + strconv.Quote(id)
		_, err := awssdk.Load(t.Context(), awssdk.WithAccount(id), awssdk.WithStrategy(strategy(t, standard.Config{})))
		require.EqualError(t, err, want)
		cfg := aws.Config{}
		require.EqualError(t, awssdk.Install(&cfg, awssdk.WithAccount(id)), want)
		require.Equal(t, aws.Config{}, cfg)
	}
	cfg := aws.Config{}
	require.NoError(t, awssdk.Install(&cfg, awssdk.WithAccount(""), awssdk.WithStrategy(strategy(t, standard.Config{}))))
}

// wrapping is a strategy by another author.
type wrapping struct{ retry.Strategy }

func TestStrategyThatNoConstructorMadeIsRefusedWhereItIsGiven(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]retry.Strategy{"nil *awssdk_test.wrapping": (*wrapping)(nil), "awssdk_test.wrapping around nil": wrapping{}} {
		_, err := awssdk.New(s, nil)
		require.ErrorContains(t, err, name)
		_, err = awssdk.Load(t.Context(), awssdk.WithStrategy(s))
		require.ErrorContains(t, err, name)
		cfg := aws.Config{}
		err = awssdk.Install(&cfg, awssdk.WithStrategy(s))
		require.ErrorContains(t, err, name)
		require.Nil(t, cfg.Retryer)
	}
}

func TestObserverOfAnOptionHearsOfTheAttempts(t *testing.T) {
	t.Parallel()
	var told []retry.EventKind
	observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) { told = append(told, e.Kind) })
	load, err := awssdk.Load(t.Context(), awssdk.WithObserver(observer), awssdk.WithSettings(
		awsretry.WithEnv(func(string) (string, bool) { return "", false }), awsretry.WithFS(fstest.MapFS{})))
	require.NoError(t, err)
	r, ok := load().(aws.RetryerV2)
	require.True(t, ok)
	_, err = loop(t.Context(), r, nil)
	require.NoError(t, err)
	require.Contains(t, told, retry.AttemptEnded)

	_, err = awssdk.Load(t.Context(), awssdk.WithObserver(observer), awssdk.WithStrategy(strategy(t, standard.Config{})))
	require.ErrorContains(t, err, "exclude each other")
}
