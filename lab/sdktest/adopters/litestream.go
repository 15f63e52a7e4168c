package adopters

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
)

// Litestream is for benbjohnson/litestream.
//
// It replaces newTransportRetryer in s3/replica_client.go, a retryer without a quota that makes ten attempts and retries
// the status and the code with which a store that is like S3 sheds load.
func Litestream(ctx context.Context, load ...func(*config.LoadOptions) error) (aws.Config, error) {
	shed := classify.Also(
		classify.Status(http.StatusRequestTimeout),
		classify.Code(classify.Codes{"RequestCanceled": classify.Throttling}))
	return awssdk.LoadDefaultConfig(ctx, awssdk.WithLoadOptions(load...), awssdk.WithSettings(
		awsretry.WithMaxAttempts(10), awsretry.WithoutQuota(), awsretry.WithClassifier(shed)))
}
