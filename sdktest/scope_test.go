package sdktest

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

// scopesOf makes calls, and returns the operations that were the first of their scopes.
func scopesOf(t *testing.T, call func(ctx context.Context, cfg aws.Config), opts ...awssdk.Option) []retry.Operation {
	t.Helper()
	var created []retry.Operation
	observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.ScopeCreated {
			created = append(created, e.Operation)
		}
	})
	cfg := installed(t, newScript(say(400, "")), append(opts, hermetic(awsretry.WithObserver(observer)))...)
	call(t.Context(), cfg)
	return created
}

func TestScopeIsTheResourceOfTheInput(t *testing.T) {
	t.Parallel()
	text := aws.String
	attributes := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	keys := types.KeysAndAttributes{Keys: []map[string]types.AttributeValue{attributes}}
	put := func(table string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: text(table), Item: attributes}}
	}
	remove := func(table string) types.TransactWriteItem {
		return types.TransactWriteItem{Delete: &types.Delete{TableName: text(table), Key: attributes}}
	}
	for _, c := range []struct {
		name string
		want string
		call func(ctx context.Context, cfg aws.Config)
	}{
		{"table", "dynamodb/eu-central-1/orders", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).GetItem(ctx, &dynamodb.GetItemInput{TableName: text("orders"), Key: attributes})
		}},
		{"no table", "dynamodb/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).ListTables(ctx, &dynamodb.ListTablesInput{})
		}},
		{"batch over one table", "dynamodb/eu-central-1/orders", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{"orders": keys},
			})
		}},
		{"batch over two tables", "dynamodb/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{"orders": keys, "users": keys},
			})
		}},
		{"transaction over one table", "dynamodb/eu-central-1/orders", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{put("orders"), remove("orders")},
			})
		}},
		{"transaction over two tables", "dynamodb/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{put("orders"), remove("users"), put("orders")},
			})
		}},
		{"transaction that reads", "dynamodb/eu-central-1/orders", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
				TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: text("orders"), Key: attributes}}},
			})
		}},
		{"bucket", "s3/eu-central-1/photos", func(ctx context.Context, cfg aws.Config) {
			_, _ = s3.NewFromConfig(cfg).HeadObject(ctx, &s3.HeadObjectInput{Bucket: text("photos"), Key: text("cat")})
		}},
		{"queue", "sqs/eu-central-1/https://sqs.test/1/jobs", func(ctx context.Context, cfg aws.Config) {
			_, _ = sqs.NewFromConfig(cfg).PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: text("https://sqs.test/1/jobs")})
		}},
		{"topic", "sns/eu-central-1/arn:aws:sns:eu-central-1:1:news", func(ctx context.Context, cfg aws.Config) {
			_, _ = sns.NewFromConfig(cfg).Publish(ctx, &sns.PublishInput{TopicArn: text("arn:aws:sns:eu-central-1:1:news"), Message: text("m")})
		}},
		{"target of a topic", "sns/eu-central-1/arn:aws:sns:eu-central-1:1:phone", func(ctx context.Context, cfg aws.Config) {
			_, _ = sns.NewFromConfig(cfg).Publish(ctx, &sns.PublishInput{TargetArn: text("arn:aws:sns:eu-central-1:1:phone"), Message: text("m")})
		}},
		{"stream", "kinesis/eu-central-1/clicks", func(ctx context.Context, cfg aws.Config) {
			_, _ = kinesis.NewFromConfig(cfg).PutRecord(ctx, &kinesis.PutRecordInput{
				StreamName: text("clicks"), PartitionKey: text("1"), Data: []byte("d"),
			})
		}},
		{"stream by ARN", "kinesis/eu-central-1/arn:aws:kinesis:eu-central-1:123456789012:stream/clicks", func(ctx context.Context, cfg aws.Config) {
			_, _ = kinesis.NewFromConfig(cfg).ListShards(ctx, &kinesis.ListShardsInput{
				StreamARN: text("arn:aws:kinesis:eu-central-1:123456789012:stream/clicks"),
			})
		}},
		{"function", "lambda/eu-central-1/resize", func(ctx context.Context, cfg aws.Config) {
			_, _ = lambda.NewFromConfig(cfg).Invoke(ctx, &lambda.InvokeInput{FunctionName: text("resize")})
		}},
		{"key", "kms/eu-central-1/alias/main", func(ctx context.Context, cfg aws.Config) {
			_, _ = kms.NewFromConfig(cfg).Encrypt(ctx, &kms.EncryptInput{KeyId: text("alias/main"), Plaintext: []byte("p")})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			created := scopesOf(t, c.call)
			require.Len(t, created, 1)
			require.Equal(t, c.want, created[0].Key().String())
		})
	}
}

func TestCallerMayNameTheScope(t *testing.T) {
	t.Parallel()
	get := func(ctx context.Context, cfg aws.Config) {
		_, _ = dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	}
	perOperation := awssdk.WithOperation(func(_ context.Context, op retry.Operation, input any) retry.Operation {
		if in, ok := input.(*dynamodb.DescribeTableInput); ok {
			op.Resource = *in.TableName + "/" + op.Name
		}
		return op
	})
	named := func(ctx context.Context, cfg aws.Config) { get(awssdk.WithScope(ctx, "tenant 7"), cfg) }

	require.Equal(t, "dynamodb/eu-central-1/orders/DescribeTable", scopesOf(t, get, perOperation)[0].Key().String())
	require.Equal(t, "tenant 7", scopesOf(t, named, perOperation)[0].Key().String(), "the context counts more")
	require.Equal(t, "dynamodb/eu-central-1/orders", scopesOf(t, func(ctx context.Context, cfg aws.Config) {
		get(awssdk.WithScope(ctx, ""), cfg)
	})[0].Key().String())
}

func TestRetryerAloneKnowsServiceRegionAndName(t *testing.T) {
	t.Parallel()
	cfg := retryerOnly(t, newScript(say(400, "")), hermetic())
	_ = describe(t, cfg)
	_ = describeWith(awssdk.WithScope(t.Context(), "tenant 7"), cfg)
	var names []string
	for _, s := range strategyOf(t, cfg).Snapshot().Scopes {
		names = append(names, s.Scope)
	}
	require.Equal(t, []string{"", "dynamodb/eu-central-1", "tenant 7"}, names)
}

// TestClientsShareTheStateOfAScope, also those with the results of several calls of the function
// of Load.
func TestClientsShareTheStateOfAScope(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		cfg := setup(t, newScript(fail(400, "ThrottlingException")), hermetic(awsretry.WithMaxAttempts(1), awsretry.WithMode(awsretry.ModeAdaptive)))
		began := time.Now()
		require.Error(t, describe(t, cfg)) // makes a client each time
		require.Zero(t, time.Since(began))
		require.Error(t, describe(t, cfg))
		require.Positive(t, time.Since(began), "held back by what the other has learned")
		require.Len(t, strategyOf(t, cfg).Snapshot().Scopes, 2)
	})
}
