package adopters

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
)

// EBSDriver is for kubernetes-sigs/aws-ebs-csi-driver.
//
// It replaces pkg/cloud/retry_manager.go, which makes an adaptive retryer for each of nine
// operations of EC2 that change something, because the send rate of the SDK is that of a retryer,
// and the option in pkg/cloud/cloud.go at each of their calls that sets the retryer. Here each
// operation of EC2 has a retry quota and a send rate of its own, those included that only read.
// The quota of an operation gets something back for each success on the first attempt.
func EBSDriver(ctx context.Context, load ...func(*config.LoadOptions) error) (aws.Config, error) {
	return awssdk.LoadDefaultConfig(ctx, awssdk.WithLoadOptions(load...), awssdk.WithSettings(
		awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(50)))
}
