package sdktest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
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
	asked   atomic.Int64
	answer  func(ctx context.Context) (aws.Credentials, error) // by default credentials of our account
	origins []aws.CredentialSource
}

func (s *issuer) Retrieve(ctx context.Context) (aws.Credentials, error) {
	s.asked.Add(1)
	if s.answer != nil {
		return s.answer(ctx)
	}
	return inAccount(ours).Value, nil
}

func (s *issuer) ProviderSources() []aws.CredentialSource { return s.origins }

// record returns an option that records how often the issuer was asked before each first attempt.
func (s *issuer) record(before *[]int64) awssdk.Option {
	return awssdk.WithOperation(func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		*before = append(*before, s.asked.Load())
		return op
	})
}

// scopesWith makes two calls with these credentials, and returns their scopes.
func scopesWith(t *testing.T, provider aws.CredentialsProvider, opts ...awssdk.Option) []string {
	t.Helper()
	return keysOf(scopesOf(t, func(ctx context.Context, cfg aws.Config) {
		cfg.Credentials = provider
		client := dynamodb.NewFromConfig(cfg)
		for range 2 {
			_ = getItem(client, "orders")(ctx)
		}
	}, opts...))
}

func TestAccountIsThatOfTheCredentials(t *testing.T) {
	t.Parallel()
	const known, unknown = ours + "/dynamodb/eu-central-1/orders", "dynamodb/eu-central-1/orders"
	for name, c := range map[string]struct {
		provider func(s *issuer) aws.CredentialsProvider
		origins  []aws.CredentialSource
		want     string
		asked    int64 // by two calls
	}{
		"static":                     {func(*issuer) aws.CredentialsProvider { return inAccount(ours) }, nil, known, 0},
		"static in a cache":          {func(*issuer) aws.CredentialsProvider { return aws.NewCredentialsCache(inAccount(ours)) }, nil, known, 0},
		"static, account not known":  {func(*issuer) aws.CredentialsProvider { return inAccount("") }, nil, unknown, 0},
		"in a cache":                 {func(s *issuer) aws.CredentialsProvider { return aws.NewCredentialsCache(s) }, nil, known, 1},
		"in a cache, of a role":      {func(s *issuer) aws.CredentialsProvider { return aws.NewCredentialsCache(s) }, []aws.CredentialSource{aws.CredentialSourceIMDS, aws.CredentialSourceSTSAssumeRole}, known, 1},
		"in a cache, of an instance": {func(s *issuer) aws.CredentialsProvider { return aws.NewCredentialsCache(s) }, []aws.CredentialSource{aws.CredentialSourceIMDS}, unknown, 1},
		"without a cache":            {func(s *issuer) aws.CredentialsProvider { return s }, nil, unknown, 2},
		"anonymous":                  {func(*issuer) aws.CredentialsProvider { return aws.AnonymousCredentials{} }, nil, unknown, 0},
		"none":                       {func(*issuer) aws.CredentialsProvider { return nil }, nil, unknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &issuer{origins: c.origins}
			require.Equal(t, []string{c.want}, scopesWith(t, c.provider(s)), "the same for both calls")
			require.Equal(t, c.asked, s.asked.Load(), "as often as the SDK asks")
		})
	}
}

func TestAccountFollowsTheCredentialsOfTheClient(t *testing.T) {
	t.Parallel()
	created := scopesOf(t, func(ctx context.Context, cfg aws.Config) {
		cfg.Credentials = inAccount(ours)
		_ = getItem(dynamodb.NewFromConfig(cfg), "orders")(ctx)
		client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Credentials = inAccount(theirs) })
		_ = getItem(client, "orders")(ctx)
		cfg.Credentials = nil
		_ = getItem(dynamodb.NewFromConfig(cfg), "orders")(ctx)
	})
	require.Equal(t, []string{
		ours + "/dynamodb/eu-central-1/orders", theirs + "/dynamodb/eu-central-1/orders", "dynamodb/eu-central-1/orders",
	}, keysOf(created))
}

// TestAccountOfAnAssumedRole: the first call assumes the role once, and has the account already.
func TestAccountOfAnAssumedRole(t *testing.T) {
	machine(t, map[string]string{
		".aws/config":      "[profile role]\nrole_arn = arn:aws:iam::" + theirs + ":role/r\nsource_profile = keys\nregion = eu-central-1\n",
		".aws/credentials": "[keys]\n" + keys,
	})
	s := newScript(say(200, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>`+
		`<AccessKeyId>ID</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken><Expiration>`+expiry()+`</Expiration>`+
		`</Credentials><AssumedRoleUser><Arn>arn:aws:sts::`+theirs+`:assumed-role/r/s</Arn></AssumedRoleUser></AssumeRoleResult></AssumeRoleResponse>`),
		say(400, ""))
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
		var scopes []string
		for _, scope := range strategyOf(t, cfg).Snapshot().Scopes[1:] {
			scopes = append(scopes, scope.Scope)
		}
		require.Equal(t, []string{want + "/dynamodb/eu-central-1/orders", "sts/eu-central-1"}, scopes, "AWS counts the account that assumes the role")
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
			created := scopesOf(t, func(ctx context.Context, cfg aws.Config) {
				cfg.Credentials = inAccount(c.account)
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
	created := scopesOf(t, func(ctx context.Context, cfg aws.Config) {
		cfg.Credentials = inAccount(theirs)
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

func TestScopeOfTheContextNeedsNoAccount(t *testing.T) {
	t.Parallel()
	s := &issuer{}
	var before []int64
	_ = scopesOf(t, func(ctx context.Context, cfg aws.Config) {
		cfg.Credentials = aws.NewCredentialsCache(s)
		_ = getItem(dynamodb.NewFromConfig(cfg), "orders")(awssdk.WithScope(ctx, "tenant 7"))
	}, s.record(&before))
	require.Equal(t, []int64{0}, before)
	require.EqualValues(t, 1, s.asked.Load())
}

// TestFailingCredentialsAreAskedForTheAccountOnceAMinute: each call asks for itself anyway.
func TestFailingCredentialsAreAskedForTheAccountOnceAMinute(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	fails := true
	s := &issuer{}
	s.answer = func(context.Context) (aws.Credentials, error) {
		if fails {
			return aws.Credentials{}, errors.New("no credentials")
		}
		return inAccount(ours).Value, nil
	}
	scripted := newScript(say(400, ""))
	cfg := installed(t, scripted, hermetic(awsretry.WithClock(clk)))
	cfg.Credentials = aws.NewCredentialsCache(s)
	client := dynamodb.NewFromConfig(cfg)
	call := func() error { return getItem(client, "orders")(t.Context()) }
	var scopes []string
	for want, wait := range []time.Duration{0, time.Second, time.Minute - 2*time.Second} {
		clk.Advance(wait)
		require.ErrorContains(t, call(), "no credentials")
		require.EqualValues(t, 2+want, s.asked.Load())
	}
	fails = false
	clk.Advance(time.Second)
	require.Error(t, call())
	require.Equal(t, 1, scripted.requests())
	for _, scope := range strategyOf(t, cfg).Snapshot().Scopes {
		scopes = append(scopes, scope.Scope)
	}
	require.Equal(t, []string{"", ours + "/dynamodb/eu-central-1/orders", "dynamodb/eu-central-1/orders"}, scopes)
}

// unsteady is a clock that may go back.
type unsteady struct {
	*clock.Fake
	by time.Duration
}

func (c *unsteady) Now() time.Time { return c.Fake.Now().Add(c.by) }

func TestFailingCredentialsAreAskedAgainAfterTheClockHasGoneBack(t *testing.T) {
	t.Parallel()
	clk := &unsteady{Fake: &clock.Fake{}}
	s := &issuer{answer: func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errors.New("no credentials") }}
	cfg := installed(t, newScript(say(400, "")), hermetic(awsretry.WithClock(clk)))
	cfg.Credentials = aws.NewCredentialsCache(s)
	client := dynamodb.NewFromConfig(cfg)
	for range 2 {
		asked := s.asked.Load()
		require.ErrorContains(t, getItem(client, "orders")(t.Context()), "no credentials")
		require.EqualValues(t, 2, s.asked.Load()-asked, "for the account and for the call")
		clk.by -= time.Hour
	}
}

// TestAccountIsNotAwaitedAfterTheEndOfTheContext, and a call that has ended does not count as a
// failure of the credentials.
func TestAccountIsNotAwaitedAfterTheEndOfTheContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		s := &issuer{answer: func(context.Context) (aws.Credentials, error) {
			pause(time.Second)
			return inAccount(ours).Value, nil
		}}
		cfg := installed(t, newScript(say(400, "")), hermetic())
		cfg.Credentials = aws.NewCredentialsCache(s)
		client := dynamodb.NewFromConfig(cfg)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, getItem(client, "orders")(ctx), context.DeadlineExceeded)
		require.Equal(t, 100*time.Millisecond, time.Since(began))
		_ = getItem(client, "orders")(t.Context())
		require.Equal(t, ours+"/dynamodb/eu-central-1/orders", strategyOf(t, cfg).Snapshot().Scopes[1].Scope)
		require.EqualValues(t, 1, s.asked.Load())
	})
}

// TestCredentialsDoNotWaitForThemselves has credentials whose client has these credentials, for
// calls that need none. In a bubble a wait without an end fails the test.
func TestCredentialsDoNotWaitForThemselves(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		cfg := installed(t, newScript(say(200, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>`+
			`<AccessKeyId>id</AccessKeyId><SecretAccessKey>secret</SecretAccessKey></Credentials></AssumeRoleWithWebIdentityResult>`+
			`</AssumeRoleWithWebIdentityResponse>`)), hermetic())
		var client *sts.Client
		cache := aws.NewCredentialsCache(aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
			out, err := client.AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
				RoleArn: aws.String("arn:aws:iam::" + theirs + ":role/deploy"), RoleSessionName: aws.String("s"), WebIdentityToken: aws.String("token"),
			})
			if err != nil {
				return aws.Credentials{}, err
			}
			return aws.Credentials{AccessKeyID: *out.Credentials.AccessKeyId, SecretAccessKey: *out.Credentials.SecretAccessKey, AccountID: theirs}, nil
		}))
		cfg.Credentials = cache
		client = sts.NewFromConfig(cfg)
		credentials, err := cache.Retrieve(t.Context())
		require.NoError(t, err)
		require.Equal(t, theirs, credentials.AccountID)
		require.Equal(t, "sts/eu-central-1", strategyOf(t, cfg).Snapshot().Scopes[1].Scope)
	})
}

// TestKnownAccountIsKept holds that later calls do not ask, also when the credentials have to be
// renewed.
func TestKnownAccountIsKept(t *testing.T) {
	t.Parallel()
	s := &issuer{}
	cache := aws.NewCredentialsCache(s)
	var before []int64
	created := scopesOf(t, func(ctx context.Context, cfg aws.Config) {
		cfg.Credentials = cache
		client := dynamodb.NewFromConfig(cfg)
		_ = getItem(client, "orders")(ctx)
		cache.Invalidate()
		_ = getItem(client, "orders")(ctx)
	}, s.record(&before))
	require.Equal(t, []string{ours + "/dynamodb/eu-central-1/orders"}, keysOf(created))
	require.Equal(t, []int64{1, 1}, before)
	require.EqualValues(t, 2, s.asked.Load())
}
