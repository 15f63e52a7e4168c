package sdktest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"
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

// scopesAround is scopesOf with credentials, or nil, for calls whose scopes loops around them have too, by OperationOf.
func scopesAround(
	t *testing.T, provider aws.CredentialsProvider, call func(ctx context.Context, cfg aws.Config), opts ...awssdk.Option,
) []retry.Operation {
	t.Helper()
	var around []retry.Operation
	created := scopesOf(t, func(ctx context.Context, cfg aws.Config) {
		if provider != nil {
			cfg.Credentials = provider
		}
		bare := cfg.Copy()
		cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("around", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				op, err := awssdk.OperationOf(ctx, bare, awsmiddleware.GetServiceID(ctx), in.Parameters)
				require.NoError(t, err)
				require.True(t, op.Unpaced)
				if !slices.Contains(keysOf(around), op.Key().String()) {
					around = append(around, op)
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.After)
		})
		call(ctx, cfg)
	}, opts...)
	require.Equal(t, keysOf(created), keysOf(around))
	return created
}

// TestScopeIsWhatAWSCounts has inputs of each row of the table in awssdk/scope_table.go.
func TestScopeIsWhatAWSCounts(t *testing.T) {
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
	queue := func(url string) func(ctx context.Context, cfg aws.Config) {
		return func(ctx context.Context, cfg aws.Config) {
			_, _ = sqs.NewFromConfig(cfg).PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: text(url)})
		}
	}
	bucket := func(name string) func(ctx context.Context, cfg aws.Config) {
		return func(ctx context.Context, cfg aws.Config) {
			_, _ = s3.NewFromConfig(cfg).HeadObject(ctx, &s3.HeadObjectInput{Bucket: text(name), Key: text("cat")})
		}
	}
	function := func(name string) func(ctx context.Context, cfg aws.Config) {
		return func(ctx context.Context, cfg aws.Config) {
			_, _ = lambda.NewFromConfig(cfg).Invoke(ctx, &lambda.InvokeInput{FunctionName: text(name)})
		}
	}
	publish := func(in sns.PublishInput) func(ctx context.Context, cfg aws.Config) {
		return func(ctx context.Context, cfg aws.Config) {
			in.Message = text("m")
			_, _ = sns.NewFromConfig(cfg).Publish(ctx, &in)
		}
	}
	for _, c := range []struct {
		name string
		want string
		call func(ctx context.Context, cfg aws.Config)
	}{
		{"table", "dynamodb/eu-central-1/orders", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).GetItem(ctx, &dynamodb.GetItemInput{TableName: text("orders"), Key: attributes})
		}},
		{"tables are described", "dynamodb/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: text("orders")})
		}},
		{"no table", "dynamodb/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).ListTables(ctx, &dynamodb.ListTablesInput{})
		}},
		{"backups of tables", "dynamodb/eu-central-1/CreateBackup", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodb.NewFromConfig(cfg).CreateBackup(ctx, &dynamodb.CreateBackupInput{TableName: text("orders"), BackupName: text("first")})
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
		{"stream of a table", "111122223333/dynamodb streams/eu-central-1/orders/stream/2026-01-02", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodbstreams.NewFromConfig(cfg).GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
				StreamArn: text("arn:aws:dynamodb:eu-central-1:111122223333:table/orders/stream/2026-01-02"), ShardId: text("s"), ShardIteratorType: "LATEST",
			})
		}},
		{"streams of tables are described", "dynamodb streams/eu-central-1/DescribeStream", func(ctx context.Context, cfg aws.Config) {
			_, _ = dynamodbstreams.NewFromConfig(cfg).DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{
				StreamArn: text("arn:aws:dynamodb:eu-central-1:111122223333:table/orders/stream/2026-01-02"),
			})
		}},
		{"bucket", "s3/eu-central-1/photos", bucket("photos")},
		{"access point", "111122223333/s3/us-west-2/accesspoint/mine", bucket("arn:aws:s3:us-west-2:111122223333:accesspoint/mine")},
		{"multi-region access point", "111122223333/s3/eu-central-1/accesspoint/m.mrap", bucket("arn:aws:s3::111122223333:accesspoint/m.mrap")},
		{"no bucket", "s3/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = s3.NewFromConfig(cfg).ListBuckets(ctx, &s3.ListBucketsInput{})
		}},
		{"queue", "111122223333/sqs/eu-central-1/jobs", queue("https://sqs.eu-central-1.amazonaws.com/111122223333/jobs")},
		{"queue, older URL", "111122223333/sqs/eu-central-1/jobs", queue("https://eu-central-1.queue.amazonaws.com/111122223333/jobs")},
		{"queue, oldest URL", "111122223333/sqs/eu-central-1/jobs", queue("http://queue.amazonaws.com/111122223333/jobs")},
		{"queue, VPC endpoint", "111122223333/sqs/eu-central-1/jobs", queue("https://vpce-1-2.sqs.eu-central-1.vpce.amazonaws.com/111122223333/jobs")},
		{"queue, FIFO", "111122223333/sqs/eu-central-1/jobs.fifo", queue("https://sqs.eu-central-1.amazonaws.com/111122223333/jobs.fifo")},
		{"queue of an emulator", "000000000000/sqs/eu-central-1/jobs", queue("http://localhost:4566/000000000000/jobs")},
		{"queue of an emulator with a path", "000000000000/sqs/eu-central-1/jobs", queue("http://localhost:4566/queue/eu-central-1/000000000000/jobs")},
		{"queue without an account", "sqs/eu-central-1/https://sqs.test/1/jobs", queue("https://sqs.test/1/jobs")},
		{"topic", "111122223333/sns/eu-central-1/news", publish(sns.PublishInput{TopicArn: text("arn:aws:sns:eu-central-1:111122223333:news")})},
		{"topic as a target", "111122223333/sns/eu-central-1/news", publish(sns.PublishInput{TargetArn: text("arn:aws:sns:eu-central-1:111122223333:news")})},
		{"phone as a target", "sns/eu-central-1", publish(sns.PublishInput{TargetArn: text("arn:aws:sns:eu-central-1:111122223333:endpoint/GCM/app/1")})},
		{"phone number", "sns/eu-central-1", publish(sns.PublishInput{PhoneNumber: text("+4930123456")})},
		{"subscribers of a topic", "sns/eu-central-1/Subscribe", func(ctx context.Context, cfg aws.Config) {
			_, _ = sns.NewFromConfig(cfg).Subscribe(ctx, &sns.SubscribeInput{TopicArn: text("arn:aws:sns:eu-central-1:111122223333:news"), Protocol: text("sqs")})
		}},
		{"stream", "kinesis/eu-central-1/clicks", func(ctx context.Context, cfg aws.Config) {
			_, _ = kinesis.NewFromConfig(cfg).PutRecord(ctx, &kinesis.PutRecordInput{
				StreamName: text("clicks"), PartitionKey: text("1"), Data: []byte("d"),
			})
		}},
		{"stream by ARN", "kinesis/eu-central-1/clicks", func(ctx context.Context, cfg aws.Config) {
			_, _ = kinesis.NewFromConfig(cfg).ListShards(ctx, &kinesis.ListShardsInput{
				StreamARN: text("arn:aws:kinesis:eu-central-1:111122223333:stream/clicks"),
			})
		}},
		{"consumer of a stream", "kinesis/eu-central-1/clicks/consumer/me:1", func(ctx context.Context, cfg aws.Config) {
			_, _ = kinesis.NewFromConfig(cfg).DescribeStreamConsumer(ctx, &kinesis.DescribeStreamConsumerInput{
				ConsumerARN: text("arn:aws:kinesis:eu-central-1:111122223333:stream/clicks/consumer/me:1"),
			})
		}},
		{"streams are described", "kinesis/eu-central-1/DescribeStream", func(ctx context.Context, cfg aws.Config) {
			_, _ = kinesis.NewFromConfig(cfg).DescribeStream(ctx, &kinesis.DescribeStreamInput{StreamName: text("clicks")})
		}},
		{"function", "lambda/eu-central-1/resize", function("resize")},
		{"function by ARN", "lambda/eu-central-1/resize", function("arn:aws:lambda:eu-central-1:111122223333:function:resize")},
		{"function by ARN with an alias", "lambda/eu-central-1/resize", function("arn:aws:lambda:eu-central-1:111122223333:function:resize:live")},
		{"function by account", "lambda/eu-central-1/resize", function("111122223333:function:resize")},
		{"function with a version", "lambda/eu-central-1/resize", function("resize:7")},
		{"one function", "lambda/eu-central-1/GetFunction", func(ctx context.Context, cfg aws.Config) {
			_, _ = lambda.NewFromConfig(cfg).GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: text("resize")})
		}},
		{"functions are changed", "lambda/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = lambda.NewFromConfig(cfg).UpdateFunctionCode(ctx, &lambda.UpdateFunctionCodeInput{FunctionName: text("resize")})
		}},
		{"durable executions", "lambda/eu-central-1/GetDurableExecution", func(ctx context.Context, cfg aws.Config) {
			_, _ = lambda.NewFromConfig(cfg).GetDurableExecution(ctx, &lambda.GetDurableExecutionInput{DurableExecutionArn: text("arn")})
		}},
		{"keys are used", "kms/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = kms.NewFromConfig(cfg).Encrypt(ctx, &kms.EncryptInput{
				KeyId: text("arn:aws:kms:eu-central-1:111122223333:key/1"), Plaintext: []byte("p"),
			})
		}},
		{"keys are described", "kms/eu-central-1/DescribeKey", func(ctx context.Context, cfg aws.Config) {
			_, _ = kms.NewFromConfig(cfg).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: text("arn:aws:kms:eu-central-1:111122223333:key/1")})
		}},
		{"role of another account", "sts/eu-central-1", func(ctx context.Context, cfg aws.Config) {
			_, _ = sts.NewFromConfig(cfg).AssumeRole(ctx, &sts.AssumeRoleInput{
				RoleArn: text("arn:aws:iam::111122223333:role/deploy"), RoleSessionName: text("s"),
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			created := scopesAround(t, nil, c.call)
			require.Len(t, created, 1)
			require.Equal(t, c.want, created[0].Key().String())
		})
	}
}

func TestProgramMayChooseTheScope(t *testing.T) {
	t.Parallel()
	const account, arn = "111122223333", "arn:aws:dynamodb:eu-central-1:444455556666:table/orders"
	resource := func(of func(name string, input any) string) awssdk.Option {
		return awssdk.WithOperation(func(_ context.Context, op retry.Operation, input any) retry.Operation {
			op.Resource = of(op.Name, input)
			return op
		})
	}
	byOperation := resource(func(name string, _ any) string { return name })
	byTable := resource(func(name string, input any) string {
		if in, ok := input.(*dynamodb.ScanInput); ok {
			return *in.TableName + "/" + name
		}
		return ""
	})
	byService := resource(func(string, any) string { return "" })
	for _, c := range []struct {
		by         awssdk.Option
		named      string // in the context
		scan, list string
	}{
		{awssdk.WithOperation(nil), "", account + "/dynamodb/eu-central-1/" + arn, account + "/dynamodb/eu-central-1"},
		{byOperation, "", account + "/dynamodb/eu-central-1/Scan", account + "/dynamodb/eu-central-1/ListTables"},
		{byTable, "", account + "/dynamodb/eu-central-1/" + arn + "/Scan", account + "/dynamodb/eu-central-1"},
		{byService, "", account + "/dynamodb/eu-central-1", ""},
		{byTable, "tenant 7", "tenant 7", ""}, // the context counts more
	} {
		created := scopesAround(t, nil, func(ctx context.Context, cfg aws.Config) {
			client := dynamodb.NewFromConfig(cfg)
			ctx = awssdk.WithScope(ctx, c.named)
			_, _ = client.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(arn)})
			_, _ = client.ListTables(ctx, &dynamodb.ListTablesInput{})
		}, c.by, awssdk.WithAccount(account))
		require.Equal(t, slices.DeleteFunc([]string{c.scan, c.list}, func(s string) bool { return s == "" }), keysOf(created))
	}
}

// keysOf returns the scopes of operations.
func keysOf(operations []retry.Operation) []string {
	keys := make([]string, 0, len(operations))
	for _, op := range operations {
		keys = append(keys, op.Key().String())
	}
	return keys
}

// TestClientsShareTheStateOfAScope, also those with the results of several calls of the function
// of Load.
func TestClientsShareTheStateOfAScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := installed(t, newScript(fail(400, "ThrottlingException")), hermetic(awsretry.WithMaxAttempts(1), awsretry.WithMode(awsretry.ModeAdaptive)))
		began := time.Now()
		require.Error(t, describe(t, cfg)) // makes a client each time
		require.Zero(t, time.Since(began))
		require.Error(t, describe(t, cfg))
		require.Positive(t, time.Since(began), "held back by what the other has learned")
		require.Len(t, strategyOf(t, cfg).Snapshot().Scopes, 2)
	})
}
