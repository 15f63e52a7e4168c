package adopters

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

// ExternalDNS is for kubernetes-sigs/external-dns.
//
// It replaces, in provider/aws/config.go, the option config.WithRetryer with AddWithMaxAttempts
// around NewStandard. That retryer has an operator's AWS_RETRY_MODE without effect, and it makes as
// many attempts as the flag --aws-api-retries says retries. Here the flag means retries, the mode
// of the environment counts, and the role of --aws-assume-role is assumed with the same strategy.
// Route 53 counts the calls of all regions together, so the scope has the region aws-global.
func ExternalDNS(ctx context.Context, profile string, retries int, load ...func(*config.LoadOptions) error) (aws.Config, error) {
	return awssdk.LoadDefaultConfig(ctx,
		awssdk.WithLoadOptions(append(load, config.WithSharedConfigProfile(profile))...),
		awssdk.WithSettings(awsretry.WithMaxAttempts(1+retries)))
}
