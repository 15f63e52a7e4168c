package sdktest

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	kinesistypes "github.com/aws/aws-sdk-go-v2/service/kinesis/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/redis/go-redis/v9"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// The clients of all processes that do this share the send rate of each scope.
func Example_fleet() {
	ctx := context.Background()
	store, err := redisstore.New(redisstore.Config{
		Options: &redis.UniversalOptions{Addrs: []string{"cache.internal:6379"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Check(ctx); err != nil {
		log.Print(err) // the members have send rates of their own until it is mended
	}
	shared, err := fleet.New(fleet.Config{
		Store:     store,
		Namespace: "prod/111122223333", // the stage and the account
		Observer:  fleet.SlogObserver(nil),
	})
	if err != nil {
		log.Fatal(err)
	}

	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	err = awssdk.Install(&cfg, awssdk.WithSettings(
		awsretry.WithDefaultMode(awsretry.ModeAdaptive), awsretry.WithConfig(shared.Config(adaptive.Config{}))))
	if err != nil {
		log.Fatal(err)
	}
	_ = dynamodb.NewFromConfig(cfg)

	// When the program ends:
	shared.Close()
	if err := store.Close(); err != nil {
		log.Fatal(err)
	}
}

// A fleet needs one line in the two ways to use this module.
func Example_fleetInOneLine() {
	ctx, cfg := context.Background(), aws.Config{}
	shared, err := fleet.New(fleet.Config{Store: &fleet.Memory{}, Namespace: "test"})
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()

	mode, config := awsretry.WithDefaultMode(awsretry.ModeAdaptive), awsretry.WithConfig(shared.Config(adaptive.Config{}))
	strategy, err := awsretry.Load(ctx, mode, config)                 // for any function
	failed := awssdk.Install(&cfg, awssdk.WithSettings(mode, config)) // for clients of the SDK

	fmt.Println(err, failed, strategy.Snapshot().Mode)
	// Output: <nil> <nil> adaptive
}

// The three functions that docs/clients.md points to.

type (
	record  = kinesistypes.PutRecordsRequestEntry
	write   = dynamotypes.WriteRequest
	message = sqstypes.SendMessageBatchRequestEntry
)

// putRecords puts records into a stream, so many at once, and returns their sequence numbers.
func putRecords(ctx context.Context, cfg aws.Config, client *kinesis.Client, stream string, records []record, atOnce int) ([]retry.Sent[string], error) {
	s, _ := awssdk.StrategyOf(cfg)
	op, err := awssdk.OperationOf(ctx, cfg, kinesis.ServiceID, &kinesis.PutRecordsInput{StreamName: &stream})
	if err != nil {
		return nil, err
	}
	batch := retry.Batch[record]{Entries: records, MaxEntries: atOnce}
	return retry.SendAll(ctx, s, op, batch, func(ctx context.Context, some []record) ([]retry.Sent[string], error) {
		out, err := client.PutRecords(ctx, &kinesis.PutRecordsInput{StreamName: &stream, Records: some})
		if err != nil {
			return nil, err
		}
		sent := make([]retry.Sent[string], len(some))
		for i, r := range out.Records {
			if sent[i].Value = aws.ToString(r.SequenceNumber); r.ErrorCode != nil {
				sent[i].Err = &smithy.GenericAPIError{Code: *r.ErrorCode, Message: aws.ToString(r.ErrorMessage)}
			}
		}
		return sent, nil
	})
}

var errUnprocessed = errors.New("unprocessed")

// writeItems writes into a table. same reports whether two writes are of one key.
func writeItems(ctx context.Context, cfg aws.Config, client *dynamodb.Client, table string, items []write, same func(a, b write) bool) ([]retry.Sent[struct{}], error) {
	s, _ := awssdk.StrategyOf(cfg)
	op, err := awssdk.OperationOf(ctx, cfg, dynamodb.ServiceID, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]write{table: items}})
	if err != nil {
		return nil, err
	}
	batch := retry.Batch[write]{Entries: items, MaxEntries: 25}
	return retry.SendAll(ctx, s, op, batch, func(ctx context.Context, some []write) ([]retry.Sent[struct{}], error) {
		out, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]write{table: some}})
		if err != nil {
			return nil, err
		}
		sent := make([]retry.Sent[struct{}], len(some))
		for i, item := range some {
			if slices.ContainsFunc(out.UnprocessedItems[table], func(left write) bool { return same(left, item) }) {
				sent[i].Err = retry.Mark(errUnprocessed, classify.Throttling)
			}
		}
		return sent, nil
	})
}

// sendMessages sends messages, each with an Id of its own, to a queue.
func sendMessages(ctx context.Context, cfg aws.Config, client *sqs.Client, queue string, messages []message) ([]retry.Sent[struct{}], error) {
	s, _ := awssdk.StrategyOf(cfg)
	op, err := awssdk.OperationOf(ctx, cfg, sqs.ServiceID, &sqs.SendMessageBatchInput{QueueUrl: &queue})
	if err != nil {
		return nil, err
	}
	batch := retry.Batch[message]{Entries: messages, MaxEntries: 10}
	return retry.SendAll(ctx, s, op, batch, func(ctx context.Context, some []message) ([]retry.Sent[struct{}], error) {
		out, err := client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &queue, Entries: some})
		if err != nil {
			return nil, err
		}
		sent := make([]retry.Sent[struct{}], len(some))
		for _, failed := range out.Failed {
			i := slices.IndexFunc(some, func(m message) bool { return *m.Id == *failed.Id })
			sent[i].Err = &smithy.GenericAPIError{Code: *failed.Code, Message: aws.ToString(failed.Message)}
		}
		return sent, nil
	})
}
