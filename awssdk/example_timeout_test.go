package awssdk_test

import (
	"context"
	"log"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

// Objects have the timeout that the guide for S3 asks for, and items one that is learned.
func ExampleWithAttemptTimeout() {
	service := failing(1)
	defer service.Close()

	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}

	objects := retry.FixedTimeout{First: 2 * time.Second, Factor: 2}
	items, err := retry.NewLearnedTimeout(retry.Slower{
		Quantile: 0.9, Factor: 3, Floor: 20 * time.Millisecond, Ceiling: 10 * time.Second,
	})
	if err != nil {
		log.Fatal(err)
	}
	choose := func(op retry.Operation) retry.AttemptTimeout {
		switch op.Service + " " + op.Name {
		case "s3 GetObject", "s3 HeadObject", "s3 PutObject":
			return objects
		case "dynamodb GetItem", "dynamodb PutItem", "dynamodb UpdateItem":
			return items
		default:
			return nil // no timeout
		}
	}
	if err := awssdk.Install(&cfg, awssdk.WithAttemptTimeout(retry.TimeoutFunc(choose))); err != nil {
		log.Fatal(err)
	}

	service.show(ctx, sts.NewFromConfig(cfg))
	// Output: account 111122223333, requests: 2
}
