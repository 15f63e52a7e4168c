package sdktest

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	kinesistypes "github.com/aws/aws-sdk-go-v2/service/kinesis/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// The three functions that docs/clients.md points to. Each has fifteen lines.

type (
	record  = kinesistypes.PutRecordsRequestEntry
	write   = dynamotypes.WriteRequest
	message = sqstypes.SendMessageBatchRequestEntry
)

// putRecords puts records into a stream, so many at once, and returns their sequence numbers.
func putRecords(ctx context.Context, s retry.Strategy, client *kinesis.Client, stream string, records []record, atOnce int) ([]retry.Sent[string], error) {
	op := retry.Operation{Service: "kinesis", Resource: stream, Unpaced: true, Classifier: classify.AWSCompatible()}
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
func writeItems(ctx context.Context, s retry.Strategy, client *dynamodb.Client, table string, items []write, same func(a, b write) bool) ([]retry.Sent[struct{}], error) {
	op := retry.Operation{Service: "dynamodb", Resource: table, Unpaced: true}
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
func sendMessages(ctx context.Context, s retry.Strategy, client *sqs.Client, queue string, messages []message) ([]retry.Sent[struct{}], error) {
	op := retry.Operation{Service: "sqs", Resource: queue, Unpaced: true, Classifier: classify.AWSCompatible()}
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
