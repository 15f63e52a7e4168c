package adopters

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Steampipe is for turbot/steampipe-plugin-aws: the strategy of all connections, which have an
// account, a region and a number of attempts each.
//
// It replaces, in aws/service.go, the type NoOpRateLimit, getClientWithMaxRetries with its retryer
// for each account and region, and the backoff NewExponentialJitterBackoff, which triples the
// delay up to five minutes. Here roles are assumed with the strategy too, and each account has a
// send rate of its own.
func Steampipe(ctx context.Context, attempts int, minDelay time.Duration) (retry.Strategy, error) {
	return awsretry.Load(ctx,
		awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(attempts), awsretry.WithoutQuota(),
		awsretry.WithClassifier(classify.Also(classify.Code(classify.Codes{"UnknownError": classify.Transient}))),
		awsretry.WithStandard(standard.Config{MinDelay: minDelay, Base: minDelay, MaxBackoff: 5 * time.Minute}))
}

// SteampipeConnection loads the config of a connection. Connections share the strategy.
func SteampipeConnection(
	ctx context.Context, strategy retry.Strategy, account string, load ...func(*config.LoadOptions) error,
) (aws.Config, error) {
	return awssdk.LoadDefaultConfig(ctx,
		awssdk.WithLoadOptions(load...), awssdk.WithStrategy(strategy), awssdk.WithAccount(account))
}
