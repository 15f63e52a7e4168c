package adopters

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

// ShardReads is for harlow/kinesis-consumer, as is nextPage.
//
// They replace, in shard_scan.go and consumer.go, the loop that asks for a new iterator after a throttle, its count of
// attempts, its delays and its waits.
func ShardReads() (retry.Strategy, error) {
	return awsretry.Plain(math.MaxInt32, 200*time.Millisecond, 5*time.Second,
		awsretry.WithoutQuota(), awsretry.WithRetryIf(needsIterator))
}

// nextPage reads at the iterator, or from start if there is none. After a failure the iterator is a new one.
func nextPage(
	ctx context.Context, s retry.Strategy, client *kinesis.Client, start *kinesis.GetShardIteratorInput, iterator *string,
) (*kinesis.GetRecordsOutput, error) {
	op := retry.Operation{Service: "kinesis", Name: "GetRecords", Resource: *start.ShardId}
	return retry.Do(ctx, s, op, func(ctx context.Context) (*kinesis.GetRecordsOutput, error) {
		ctx = retry.Once(ctx) // the client makes one attempt, for this loop makes the others
		if iterator == nil {
			from, err := client.GetShardIterator(ctx, start)
			if err != nil {
				return nil, err
			}
			iterator = from.ShardIterator
		}
		page, err := client.GetRecords(ctx, &kinesis.GetRecordsInput{ShardIterator: iterator})
		if err != nil {
			iterator = nil
		}
		return page, err
	})
}

func needsIterator(err error) bool {
	_, expired := errors.AsType[*types.ExpiredIteratorException](err)
	_, throttled := errors.AsType[*types.ProvisionedThroughputExceededException](err)
	return expired || throttled
}
