package sdktest

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/tracing"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
)

// provided is what a client has.
type provided struct {
	meters  metrics.MeterProvider
	tracers tracing.TracerProvider
}

// providersOf makes a client of each service and returns what they have.
func providersOf(cfg aws.Config) map[string]provided {
	table, streams, stream := dynamodb.NewFromConfig(cfg).Options(), dynamodbstreams.NewFromConfig(cfg).Options(), kinesis.NewFromConfig(cfg).Options()
	key, function, bucket := kms.NewFromConfig(cfg).Options(), lambda.NewFromConfig(cfg).Options(), s3.NewFromConfig(cfg).Options()
	topic, queue := sns.NewFromConfig(cfg).Options(), sqs.NewFromConfig(cfg).Options()
	signOn, tokens := sso.NewFromConfig(cfg).Options(), sts.NewFromConfig(cfg).Options()
	return map[string]provided{
		"DynamoDB":         {table.MeterProvider, table.TracerProvider},
		"DynamoDB Streams": {streams.MeterProvider, streams.TracerProvider},
		"Kinesis":          {stream.MeterProvider, stream.TracerProvider},
		"KMS":              {key.MeterProvider, key.TracerProvider},
		"Lambda":           {function.MeterProvider, function.TracerProvider},
		"S3":               {bucket.MeterProvider, bucket.TracerProvider},
		"SNS":              {topic.MeterProvider, topic.TracerProvider},
		"SQS":              {queue.MeterProvider, queue.TracerProvider},
		"SSO":              {signOn.MeterProvider, signOn.TracerProvider},
		"STS":              {tokens.MeterProvider, tokens.TracerProvider},
	}
}

// requireProviders checks that the clients of all services have the same providers.
func requireProviders(t *testing.T, cfg aws.Config, want provided) {
	t.Helper()
	for service, got := range providersOf(cfg) {
		require.Equal(t, want, got, service)
	}
}

// defaults is what clients have without providers.
func defaults() provided {
	return provided{metrics.NopMeterProvider{}, &tracing.NopTracerProvider{}}
}

func TestAllClientsOfAConfigHaveTheProviders(t *testing.T) {
	machine(t, nil)
	m, tr := &meters{}, &tracers{}
	both := []awssdk.Option{awssdk.WithMeterProvider(m), awssdk.WithTracerProvider(tr)}
	requireProviders(t, installed(t, nil, append(both, hermetic())...), provided{m, tr})

	cfg, err := awssdk.LoadDefaultConfig(t.Context(), both...)
	require.NoError(t, err)
	requireProviders(t, cfg, provided{m, tr})
	copied := cfg.Copy()
	requireProviders(t, copied, provided{m, tr})

	around := cfg.Retryer().(aws.RetryerV2)
	copied.Retryer = func() aws.Retryer { return counts{RetryerV2: around} }
	requireProviders(t, copied, provided{m, tr})

	other := &meters{}
	require.NoError(t, awssdk.Install(&copied, hermetic(), awssdk.WithMeterProvider(other)))
	requireProviders(t, copied, provided{other, tr})
	requireProviders(t, cfg, provided{m, tr})
}

func TestProviderThatIsNilIsAsIfAbsent(t *testing.T) {
	t.Parallel()
	requireProviders(t, installed(t, nil, hermetic(), awssdk.WithMeterProvider(nil), awssdk.WithTracerProvider(nil)), defaults())
	m, tr := &meters{}, &tracers{}
	requireProviders(t, installed(t, nil, hermetic(), awssdk.WithMeterProvider(m), awssdk.WithMeterProvider(nil)),
		provided{m, defaults().tracers})
	requireProviders(t, installed(t, nil, hermetic(), awssdk.WithTracerProvider(tr), awssdk.WithTracerProvider(nil)),
		provided{defaults().meters, tr})
	_, err := awssdk.Load(t.Context(), hermetic(), awssdk.WithMeterProvider(nil), awssdk.WithTracerProvider(nil))
	require.NoError(t, err)
}

func TestProvidersBesideLoadAreAnError(t *testing.T) {
	t.Parallel()
	for _, option := range []awssdk.Option{awssdk.WithMeterProvider(&meters{}), awssdk.WithTracerProvider(&tracers{})} {
		_, err := awssdk.Load(t.Context(), hermetic(), option)
		require.EqualError(t, err, "awssdk: WithMeterProvider and WithTracerProvider have no effect in Load: use LoadDefaultConfig or Install")
	}
}

// setMeters is a function for ServiceOptions that changes the clients of one service.
func setMeters(p metrics.MeterProvider) func(string, any) {
	return func(_ string, o any) {
		if o, ok := o.(*dynamodb.Options); ok {
			o.MeterProvider = p
		}
	}
}

// attemptsOf returns how many attempts of DynamoDB a provider has counted.
func attemptsOf(m *meters) int { return len(m.of("client.call.attempts", "DynamoDB")) }

func TestProvidersOfAClientOrACallWin(t *testing.T) {
	t.Parallel()
	ours, own, ofCall := &meters{}, &meters{}, &meters{}
	theirs, ownTracers := &tracers{}, &tracers{}
	cfg := installed(t, newScript(say(200, "{}")), hermetic(), awssdk.WithMeterProvider(ours), awssdk.WithTracerProvider(theirs))
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.MeterProvider, o.TracerProvider = own, ownTracers })
	list := func(optFns ...func(*dynamodb.Options)) {
		_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}, optFns...)
		require.NoError(t, err)
	}
	list()
	require.Equal(t, 1, attemptsOf(own))
	list(func(o *dynamodb.Options) { o.MeterProvider = ofCall })
	require.Equal(t, 1, attemptsOf(own))
	require.Equal(t, 1, attemptsOf(ofCall))
	require.Len(t, ownTracers.paths(), 2*len(spansOfACall(1)))
	require.Zero(t, ours.size()+len(theirs.paths()))
}

// TestProvidersOfServiceOptionsWin whether they are set before Install or after it.
func TestProvidersOfServiceOptionsWin(t *testing.T) {
	machine(t, nil)
	ours, before, after := &meters{}, &meters{}, &meters{}
	cfg := configFor(newScript(say(200, "{}")))
	cfg.ServiceOptions = append(cfg.ServiceOptions, setMeters(before))
	require.NoError(t, awssdk.Install(&cfg, hermetic(), awssdk.WithMeterProvider(ours)))
	require.NoError(t, describe(t, cfg))
	require.Equal(t, 1, attemptsOf(before))
	require.Equal(t, ours, providersOf(cfg)["S3"].meters)
	cfg.ServiceOptions = append(cfg.ServiceOptions, setMeters(after))
	require.NoError(t, describe(t, cfg))
	require.Equal(t, 1, attemptsOf(after))
	cfg.ServiceOptions = append(cfg.ServiceOptions, setMeters(metrics.NopMeterProvider{}))
	require.NoError(t, describe(t, cfg))
	require.Zero(t, ours.size())

	cfg, err := awssdk.LoadDefaultConfig(t.Context(), awssdk.WithMeterProvider(ours),
		awssdk.WithLoadOptions(config.WithServiceOptions(setMeters(before))))
	require.NoError(t, err)
	require.Equal(t, before, providersOf(cfg)["DynamoDB"].meters)
	require.Equal(t, ours, providersOf(cfg)["S3"].meters)
}

// TestClientsForCredentialsHaveTheProviders: those of IMDS and of the container endpoint have no
// options for providers.
func TestClientsForCredentialsHaveTheProviders(t *testing.T) {
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			s.prepare(t)
			inBubble(t, func(t *testing.T) {
				t.Helper()
				m, tr := &meters{}, &tracers{}
				client := newScript(fail(503, ""), identity)
				cfg, err := awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(s.loading(client)...),
					awssdk.WithMeterProvider(m), awssdk.WithTracerProvider(tr))
				require.NoError(t, err)
				_, err = cfg.Credentials.Retrieve(t.Context())
				require.NoError(t, err)
				service := strings.ToUpper(s.service)
				if s.service != "sts" && s.service != "sso" {
					require.Zero(t, m.size())
					require.Empty(t, tr.paths())
					return
				}
				require.Equal(t, []float64{1, 1}, m.of("client.call.attempts", service))
				require.True(t, strings.HasPrefix(tr.paths()[0], service+"."), tr.paths()[0])
			})
		})
	}
}

// TestClientForTheTokenOfASessionHasTheProviders: the cached token of an SSO session has expired.
func TestClientForTheTokenOfASessionHasTheProviders(t *testing.T) {
	machine(t, map[string]string{
		".aws/config": "[default]\nsso_session = session\nsso_account_id = 111122223333\nsso_role_name = r\nregion = eu-central-1\n" +
			"[sso-session session]\nsso_start_url = https://sso.test\nsso_region = eu-central-1\n",
		".aws/sso/cache/fcbdc4c271c889825d8338d2d8f10b6e5e95c171.json": `{"accessToken":"T","expiresAt":"1999-01-01T00:00:00Z","refreshToken":"R",` +
			`"clientId":"C","clientSecret":"S","region":"eu-central-1","startUrl":"https://sso.test"}`,
	})
	inBubble(t, func(t *testing.T) {
		t.Helper()
		m := &meters{}
		client := newScript(say(200, `{"accessToken":"T","expiresIn":3600,"refreshToken":"R","tokenType":"Bearer"}`), identity)
		cfg, err := awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(config.WithHTTPClient(client)), awssdk.WithMeterProvider(m))
		require.NoError(t, err)
		_, err = cfg.Credentials.Retrieve(t.Context())
		require.NoError(t, err)
		require.Len(t, m.of("client.call.attempts", "SSO OIDC"), 1)
		require.Len(t, m.of("client.call.attempts", "SSO"), 1)
	})
}

// TestProvidersOfClientsForCredentialsWin: a program may make the client for a role by itself, and has
// the last word about the options of config.LoadDefaultConfig.
func TestProvidersOfClientsForCredentialsWin(t *testing.T) {
	s := sources[0]
	s.prepare(t)
	ours, own := &meters{}, &meters{}
	client := newScript(identity)
	asked := 0
	role := config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
		asked++
		o.Client = sts.New(sts.Options{Region: "eu-central-1", HTTPClient: client, MeterProvider: own})
	})
	cfg, err := awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(append(s.loading(client), role)...), awssdk.WithMeterProvider(ours))
	require.NoError(t, err)
	_, err = cfg.Credentials.Retrieve(t.Context())
	require.NoError(t, err)
	require.Positive(t, asked)
	require.Len(t, own.of("client.call.attempts", "STS"), 1)
	require.Zero(t, ours.size())
}

func TestClientWithoutProvidersStaysAsItIs(t *testing.T) {
	t.Parallel()
	m := &meters{}
	cfg := installed(t, newScript(identity, say(200, "role")), hermetic(), awssdk.WithMeterProvider(m), awssdk.WithTracerProvider(&tracers{}))
	_, err := imds.NewFromConfig(cfg).GetMetadata(t.Context(), &imds.GetMetadataInput{Path: "x"})
	require.NoError(t, err)
	require.Zero(t, m.size())
}
