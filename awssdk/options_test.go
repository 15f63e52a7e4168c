package awssdk_test

import (
	"strconv"
	"testing"

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
	cfg := aws.Config{}
	require.EqualError(t, awssdk.Install(&cfg, both...), text)
	require.Equal(t, aws.Config{}, cfg)
	require.NoError(t, awssdk.Install(&cfg, both[0], awssdk.WithSettings()), "no settings")
}

func TestAccountThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"1", "11112222333x", "arn:aws:iam::111122223333:root"} {
		want := "awssdk: an account of WithAccount must have twelve digits: " + strconv.Quote(id)
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
		cfg := aws.Config{}
		err := awssdk.Install(&cfg, awssdk.WithStrategy(s))
		require.ErrorContains(t, err, name)
		require.Nil(t, cfg.Retryer)
	}
}
