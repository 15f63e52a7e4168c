package sdktest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

const (
	ours   = "111122223333"
	theirs = "444455556666"
)

// inAccount returns credentials that know their account.
func inAccount(account string) credentials.StaticCredentialsProvider {
	return credentials.StaticCredentialsProvider{Value: aws.Credentials{
		AccessKeyID: "KEY-OF-" + account, SecretAccessKey: "SECRET", AccountID: account,
	}}
}

// getItem returns a call that reads from a table.
func getItem(client *dynamodb.Client, table string) func(ctx context.Context) error {
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "1"}}
	return func(ctx context.Context) error {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key})
		return err
	}
}

// issuer is a provider of credentials that counts how often it is asked.
type issuer struct {
	asked  atomic.Int64
	answer func(ctx context.Context, asked int64) (aws.Credentials, error) // by default credentials of our account
}

func (s *issuer) Retrieve(ctx context.Context) (aws.Credentials, error) {
	asked := s.asked.Add(1)
	if s.answer != nil {
		return s.answer(ctx, asked)
	}
	return inAccount(ours).Value, nil
}

// TestCredentialsAreFetchedAsOftenAsByTheSDK has two clients of a config, whose first calls come at once. All calls that are sent
// have the account of their credentials.
func TestCredentialsAreFetchedAsOftenAsByTheSDK(t *testing.T) {
	t.Parallel()
	const known, unknown = ours + "/dynamodb/eu-central-1/orders", "dynamodb/eu-central-1/orders"
	cached := func(s *issuer) aws.CredentialsProvider { return aws.NewCredentialsCache(s) }
	failing := func(err error, times int64) func(context.Context, int64) (aws.Credentials, error) {
		return func(_ context.Context, asked int64) (aws.Credentials, error) {
			pause(time.Second)
			if asked <= times {
				return aws.Credentials{}, err
			}
			return inAccount(ours).Value, nil
		}
	}
	throttle := &smithy.GenericAPIError{Code: "Throttling"}
	for name, c := range map[string]struct {
		provider func(s *issuer) aws.CredentialsProvider
		answer   func(context.Context, int64) (aws.Credentials, error)
		want     []string
		inTurn   bool // because delays are random, or calls at once may share an answer
	}{
		"static":                    {func(*issuer) aws.CredentialsProvider { return inAccount(ours) }, nil, []string{known}, false},
		"static, account not known": {func(*issuer) aws.CredentialsProvider { return inAccount("") }, nil, []string{unknown}, false},
		"in a cache":                {cached, nil, []string{known}, false},
		"in a cache, slow":          {cached, failing(nil, 0), []string{known}, false},
		"in a cache, of no use": {cached, func(context.Context, int64) (aws.Credentials, error) {
			of := inAccount(ours).Value
			of.CanExpire = true // long ago
			return of, nil
		}, []string{known}, true},
		"in a cache, fails":               {cached, failing(errors.New("wrong code"), 1<<40), []string{unknown}, true},
		"in a cache, is cut":              {cached, failing(io.ErrUnexpectedEOF, 1<<40), []string{unknown}, true},
		"in a cache, fails once":          {cached, failing(errors.New("wrong code"), 1), []string{unknown, known}, true},
		"in a cache, is throttled":        {cached, failing(throttle, 1<<40), []string{unknown}, true},
		"in a cache, is throttled once":   {cached, failing(throttle, 1), []string{unknown, known}, true},
		"without a cache":                 {func(s *issuer) aws.CredentialsProvider { return s }, nil, []string{known}, false},
		"without a cache, throttled once": {func(s *issuer) aws.CredentialsProvider { return s }, failing(throttle, 1), []string{known, unknown}, true},
		"anonymous":                       {func(*issuer) aws.CredentialsProvider { return aws.AnonymousCredentials{} }, nil, []string{unknown}, false},
		"none":                            {func(*issuer) aws.CredentialsProvider { return nil }, nil, []string{unknown}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := func(install bool) (n int64, scopes []string) {
				synctest.Test(t, func(t *testing.T) {
					cfg, s := configFor(newScript(say(400, ""))), &issuer{answer: c.answer}
					cfg.Credentials = c.provider(s)
					if install {
						require.NoError(t, awssdk.Install(&cfg, hermetic()))
					}
					var calls sync.WaitGroup
					for range 2 {
						client := dynamodb.NewFromConfig(cfg)
						for range 3 {
							calls.Go(func() { _ = getItem(client, "orders")(t.Context()) })
							if c.inTurn {
								calls.Wait()
							}
						}
					}
					calls.Wait()
					_ = getItem(dynamodb.NewFromConfig(cfg), "orders")(t.Context())
					n = s.asked.Load()
					if install {
						scopes = scopesIn(t, cfg)
					}
				})
				return n, scopes
			}
			want, _ := asked(false)
			got, scopes := asked(true)
			require.Equal(t, want, got)
			require.ElementsMatch(t, c.want, scopes)
		})
	}
}

// scopesIn are the names of the scopes that the strategy of a config has now.
func scopesIn(t *testing.T, cfg aws.Config) (names []string) {
	t.Helper()
	for _, scope := range strategyOf(t, cfg).Snapshot().Scopes[1:] {
		names = append(names, scope.Scope)
	}
	return names
}

// TestClientsInsideOfProvidersAreNoPartOfTheCall: the provider has a client with our retryer, but without our middlewares.
func TestClientsInsideOfProvidersAreNoPartOfTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(fail(503, ""))
		cfg := installed(t, s, hermetic())
		inside := newScript(fail(503, ""))
		cfg.Credentials = &issuer{answer: func(ctx context.Context, _ int64) (aws.Credentials, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, err := sts.New(sts.Options{Region: "eu-central-1", HTTPClient: inside, Retryer: cfg.Retryer()}).GetCallerIdentity(ctx, nil)
			require.Error(t, err)
			return inAccount(ours).Value, nil
		}}
		require.Error(t, getItem(dynamodb.NewFromConfig(cfg), "orders")(t.Context()))
		require.Equal(t, 4, s.requests(), "the attempts of DynamoDB")
		require.Equal(t, 4*3, inside.requests())
		require.Equal(t, []string{ours + "/dynamodb/eu-central-1/orders"}, scopesIn(t, cfg))
	})
}

// TestAttemptsThatEndBeforeTheirRequest has a middleware between the loop and the credentials.
func TestAttemptsThatEndBeforeTheirRequest(t *testing.T) {
	t.Parallel()
	type handle = func(middleware.FinalizeHandler, context.Context, middleware.FinalizeInput) (middleware.FinalizeOutput, middleware.Metadata, error)
	for name, c := range map[string]struct {
		handle   handle
		attempts int
		requests int
	}{
		"fails": {func(middleware.FinalizeHandler, context.Context, middleware.FinalizeInput) (out middleware.FinalizeOutput, m middleware.Metadata, err error) {
			return out, m, &smithyhttp.RequestSendError{Err: errors.New("no")}
		}, 4, 0},
		"answers": {func(middleware.FinalizeHandler, context.Context, middleware.FinalizeInput) (out middleware.FinalizeOutput, m middleware.Metadata, err error) {
			out.Result = &dynamodb.GetItemOutput{}
			return out, m, nil
		}, 1, 0},
		"goes on twice": {func(next middleware.FinalizeHandler, ctx context.Context, in middleware.FinalizeInput) (middleware.FinalizeOutput, middleware.Metadata, error) {
			_, _, _ = next.HandleFinalize(ctx, middleware.FinalizeInput{Request: in.Request.(*smithyhttp.Request).Clone()})
			return next.HandleFinalize(ctx, in)
		}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				s := newScript(say(200, "{}"))
				cfg := installed(t, s, hermetic(awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.AttemptEnded {
						attempts++
					}
				}))))
				cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
					return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("between", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
						return c.handle(next, ctx, in)
					}), "Retry", middleware.After)
				})
				_ = getItem(dynamodb.NewFromConfig(cfg), "orders")(t.Context())
				require.Equal(t, c.attempts, attempts)
				require.Equal(t, c.requests, s.requests())
			})
		})
	}
}

func TestAccountFollowsTheCredentialsOfTheCall(t *testing.T) {
	t.Parallel()
	created := scopesOf(t, func(ctx context.Context, cfg aws.Config) {
		cfg.Credentials = inAccount(ours)
		client := dynamodb.NewFromConfig(cfg)
		_ = getItem(client, "orders")(ctx)
		_, _ = client.ListTables(ctx, &dynamodb.ListTablesInput{}, func(o *dynamodb.Options) { o.Credentials = inAccount(theirs) })
		_ = getItem(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Credentials = inAccount(theirs) }), "orders")(ctx)
		_, _ = sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
		cfg.Credentials = nil
		_ = getItem(dynamodb.NewFromConfig(cfg), "orders")(ctx)
	})
	require.Equal(t, []string{
		ours + "/dynamodb/eu-central-1/orders", theirs + "/dynamodb/eu-central-1", theirs + "/dynamodb/eu-central-1/orders",
		ours + "/sts/eu-central-1", "dynamodb/eu-central-1/orders",
	}, keysOf(created))
}

// TestAccountOfAnAssumedRole: the first call assumes the role once, and has the account already.
func TestAccountOfAnAssumedRole(t *testing.T) {
	machine(t, map[string]string{
		".aws/config":      "[profile role]\nrole_arn = arn:aws:iam::" + theirs + ":role/r\nsource_profile = keys\nregion = eu-central-1\n",
		".aws/credentials": "[keys]\n" + keys,
	})
	s := newScript(assumed(theirs), say(400, ""))
	for want, opts := range map[string][]awssdk.Option{theirs: nil, ours: {awssdk.WithAccount(ours)}} {
		s.at = nil
		cfg, err := awssdk.LoadDefaultConfig(t.Context(), append(opts,
			awssdk.WithLoadOptions(config.WithHTTPClient(s), config.WithSharedConfigProfile("role")))...)
		require.NoError(t, err)
		client := dynamodb.NewFromConfig(cfg)
		for range 2 {
			require.Error(t, getItem(client, "orders")(t.Context()))
		}
		require.Equal(t, 3, s.requests())
		require.Equal(t, []string{want + "/dynamodb/eu-central-1/orders", "sts/eu-central-1"}, scopesIn(t, cfg), "AWS counts the account that assumes the role")
	}
}

// assumed gives credentials of a role in the account.
func assumed(account string) answerFunc {
	return func(r *http.Request) (*http.Response, error) {
		return say(200, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>`+
			`<AccessKeyId>ID</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken><Expiration>`+expiry()+`</Expiration>`+
			`</Credentials><AssumedRoleUser><Arn>arn:aws:sts::`+account+`:assumed-role/r/s</Arn></AssumedRoleUser></AssumeRoleResult></AssumeRoleResponse>`)(r)
	}
}

// TestTableHasOneScopeByNameAndByARN, and a table of the same name in another account another one.
func TestTableHasOneScopeByNameAndByARN(t *testing.T) {
	t.Parallel()
	const own, other = "arn:aws:dynamodb:eu-central-1:" + ours + ":table/orders", "arn:aws:dynamodb:eu-central-1:" + theirs + ":table/orders"
	for name, c := range map[string]struct {
		account string // of the credentials
		opts    []awssdk.Option
		want    []string
	}{
		"account of the credentials": {ours, nil, []string{
			ours + "/dynamodb/eu-central-1/orders", theirs + "/dynamodb/eu-central-1/orders",
		}},
		"account of WithAccount": {theirs, []awssdk.Option{awssdk.WithAccount(ours)}, []string{
			ours + "/dynamodb/eu-central-1/orders", ours + "/dynamodb/eu-central-1/" + other,
		}},
		"account not known": {"", nil, []string{
			"dynamodb/eu-central-1/orders", theirs + "/dynamodb/eu-central-1/orders",
		}},
	} {
		for _, tables := range [][]string{{"orders", own, other, own, "orders"}, {own, other, "orders", other}} {
			created := scopesAround(t, inAccount(c.account), func(ctx context.Context, cfg aws.Config) {
				for _, table := range tables {
					_ = getItem(dynamodb.NewFromConfig(cfg), table)(ctx) // all clients agree
				}
			}, c.opts...)
			require.Equal(t, c.want, keysOf(created), "%s: %s", name, tables)
		}
	}
}

func TestWithAccountCountsMoreThanInputsAndCredentials(t *testing.T) {
	t.Parallel()
	created := scopesAround(t, inAccount(theirs), func(ctx context.Context, cfg aws.Config) {
		_ = getItem(dynamodb.NewFromConfig(cfg), "orders")(ctx)
		queues := sqs.NewFromConfig(cfg)
		for _, account := range []string{ours, theirs} {
			_, _ = queues.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: aws.String("https://sqs.eu-central-1.amazonaws.com/" + account + "/jobs")})
		}
		_, _ = s3.NewFromConfig(cfg).HeadBucket(ctx, &s3.HeadBucketInput{Bucket: aws.String("photos")})
	}, awssdk.WithAccount(theirs), awssdk.WithAccount(ours))
	require.Equal(t, []string{
		ours + "/dynamodb/eu-central-1/orders",
		ours + "/sqs/eu-central-1/jobs",
		ours + "/sqs/eu-central-1/https://sqs.eu-central-1.amazonaws.com/" + theirs + "/jobs",
		"s3/eu-central-1/photos",
	}, keysOf(created))
}
