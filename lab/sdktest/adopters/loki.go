package adopters

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// LokiS3 is the part of the configuration of grafana/loki that is about retries. AddFlags of AWS
// with the prefix "s3." defines its flags.
type LokiS3 struct {
	AWS awsretry.Values `yaml:"backoff_config"`
}

// Loki is for grafana/loki.
//
// It replaces, in pkg/storage/chunk/client/aws/s3_storage_client.go, the flags s3.min-backoff,
// s3.max-backoff and s3.max-retries with their configuration, RetryMaxAttempts = 0, which does not
// switch the three attempts of the SDK off, and the loops around GetObject and the other calls,
// which are there to monitor the attempts. Here there is one loop, and the observer hears of each
// attempt, throttle and refusal.
func Loki(ctx context.Context, c LokiS3, observer retry.Observer, load ...func(*config.LoadOptions) error) (aws.Config, error) {
	return awssdk.LoadDefaultConfig(ctx, awssdk.WithLoadOptions(load...),
		awssdk.WithSettings(awsretry.WithStandard(standard.Config{MaxAttempts: 5}), awsretry.WithValues(c.AWS), awsretry.WithObserver(observer)))
}
