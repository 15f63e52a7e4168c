package sdktest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
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

	inner := cfg.Retryer().(aws.RetryerV2)
	copied.Retryer = func() aws.Retryer { return counts{RetryerV2: inner} }
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

// spansOfACall returns the spans of a call of DynamoDB with so many attempts, without its name.
func spansOfACall(attempts int) []string {
	spans := []string{"", "/OperationSerializer", "/RetryLoop"}
	for range attempts {
		spans = append(spans, "/RetryLoop/Attempt")
		for _, inside := range []string{
			"ResolveAuthScheme", "GetIdentity", "ResolveEndpoint", "ComputePayloadSHA256", "SignRequest", "DoHTTPRequest", "OperationDeserializer",
		} {
			spans = append(spans, "/RetryLoop/Attempt/"+inside)
		}
	}
	return spans
}

// TestAttemptsOfTheSDKContainTheBackoff: the first attempt of a call lasts until the second one may
// be made, for the metrics and the spans of the SDK.
func TestAttemptsOfTheSDKContainTheBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		m, tr := &meters{}, &tracers{}
		var told []time.Duration
		cfg := installed(t, newScript(fail(400, "ThrottlingException"), say(200, "{}")), hermetic(
			awsretry.WithMode(awsretry.ModeAdaptive),
			awsretry.WithRandom(func() float64 { return 1 }),
			awsretry.WithConfig(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Starting: 0.5} }}),
			awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.AttemptEnded {
					told = append(told, e.Elapsed)
				}
			})),
		), awssdk.WithMeterProvider(m), awssdk.WithTracerProvider(tr))
		began := time.Now()
		require.NoError(t, describe(t, cfg))
		took := time.Since(began).Seconds()
		require.GreaterOrEqual(t, took, 2.0)
		require.Equal(t, []float64{1, 1}, m.of("client.call.attempts", "DynamoDB"))
		require.Equal(t, []float64{1}, m.of("client.call.errors", "DynamoDB"))
		durations := m.of("client.call.attempt_duration", "DynamoDB")
		require.Len(t, durations, 2)
		require.InDelta(t, took, durations[0]+durations[1], 1e-6)
		require.Equal(t, []time.Duration{0, 0}, told, "the requests take no time")
		var want []string
		for _, path := range spansOfACall(2) {
			want = append(want, "DynamoDB.DescribeTable"+path)
		}
		require.ElementsMatch(t, want, tr.paths())
	})
}

// TestRefusedAttemptsCountForTheSDK: the strategy refuses a first attempt that would begin too late.
func TestRefusedAttemptsCountForTheSDK(t *testing.T) {
	t.Parallel()
	m, s := &meters{}, newScript(say(200, "{}"))
	cfg := installed(t, s, hermetic(), awssdk.WithMeterProvider(m), awssdk.WithOperation(
		func(_ context.Context, op retry.Operation, _ any) retry.Operation {
			op.NotAfter = time.Unix(1, 0)
			return op
		}))
	require.ErrorIs(t, describe(t, cfg), retry.ErrMaxElapsed)
	require.Zero(t, s.requests())
	require.Equal(t, []float64{1}, m.of("client.call.attempts", "DynamoDB"))
	require.Equal(t, []float64{1}, m.of("client.call.errors", "DynamoDB"))
}

// TestSpansOfCredentialsAreInTheSpanOfTheCall that they are fetched for, with all sources.
func TestSpansOfCredentialsAreInTheSpanOfTheCall(t *testing.T) {
	for _, s := range sources {
		t.Run(s.name, func(t *testing.T) {
			s.prepare(t)
			inBubble(t, func(t *testing.T) {
				t.Helper()
				m, tr := &meters{}, &tracers{}
				client := newScript(func(r *http.Request) (*http.Response, error) {
					if strings.Contains(r.Header.Get("X-Amz-Target"), "DescribeTable") {
						return response(200, "{}"), nil
					}
					return identity(r)
				})
				cfg, err := awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(s.loading(client)...),
					awssdk.WithMeterProvider(m), awssdk.WithTracerProvider(tr), awssdk.WithAccount("111122223333"))
				require.NoError(t, err)
				require.NoError(t, describe(t, cfg))
				var loops int
				for _, path := range tr.paths() {
					require.True(t, strings.HasPrefix(path, "DynamoDB.DescribeTable"), path)
					if strings.Contains(path, "/GetIdentity/") && strings.HasSuffix(path, "/RetryLoop") {
						loops++
					}
				}
				require.Positive(t, loops, tr.paths())
				require.Equal(t, []float64{1}, m.of("client.call.attempts", "DynamoDB"))
				require.Empty(t, m.of("client.call.attempts", "ec2imds"))
			})
		})
	}
}

type callerKey struct{}

// TestObserverIsToldWithTheSpanOfTheCall: all events of an operation have a context that descends from
// that of the caller. Its span is the caller's; with a TracerProvider it is that of the call, which
// is open until the last event.
func TestObserverIsToldWithTheSpanOfTheCall(t *testing.T) {
	for _, with := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			t.Helper()
			tr := &tracers{}
			kinds := map[retry.EventKind]int{}
			want := "caller"
			options := []awssdk.Option{hermetic(
				awsretry.WithMode(awsretry.ModeAdaptive),
				awsretry.WithObserver(retry.ObserverFunc(func(ctx context.Context, e retry.Event) {
					kinds[e.Kind]++
					require.Equal(t, "the caller's", ctx.Value(callerKey{}), e.Kind)
					s := spanFrom(ctx)
					require.NotNil(t, s, e.Kind)
					require.Equal(t, want, s.path(), e.Kind)
					require.True(t, s.open(), e.Kind)
				})))}
			if with {
				options = append(options, awssdk.WithTracerProvider(tr))
				want = "caller/DynamoDB.DescribeTable"
			}
			cfg := installed(t, newScript(fail(400, "ThrottlingException"), fail(500, ""), say(200, "{}")), options...)
			ctx := withSpan(context.WithValue(t.Context(), callerKey{}, "the caller's"), &span{of: tr, name: "caller"})
			require.NoError(t, describeWith(ctx, cfg))
			require.Equal(t, 3, kinds[retry.AttemptEnded])
			require.Equal(t, 2, kinds[retry.RetryScheduled])
			require.Equal(t, 1, kinds[retry.OperationEnded])
			require.Equal(t, 1, kinds[retry.ScopeCreated])
		})
	}
}

// meters records what clients measure.
type meters struct {
	mu       sync.Mutex // guards measured
	measured map[string][]float64
}

var _ metrics.MeterProvider = (*meters)(nil)

func (m *meters) Meter(string, ...metrics.MeterOption) metrics.Meter { return recordingMeter{of: m} }

// of returns the values of an instrument for a service, as the SDK spells it.
func (m *meters) of(instrument, service string) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.measured[instrument+" "+service])
}

// size returns how many instruments were used.
func (m *meters) size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.measured)
}

func (m *meters) record(instrument string, value float64, opts []metrics.RecordMetricOption) {
	var o metrics.RecordMetricOptions
	for _, opt := range opts {
		opt(&o)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.measured == nil {
		m.measured = map[string][]float64{}
	}
	key := fmt.Sprint(instrument, " ", o.Properties.Get("rpc.service"))
	m.measured[key] = append(m.measured[key], value)
}

// recordingMeter records counters and histograms.
type recordingMeter struct {
	metrics.NopMeter
	of *meters
}

func (m recordingMeter) Int64Counter(name string, _ ...metrics.InstrumentOption) (metrics.Int64Counter, error) {
	return counter{m.of, name}, nil
}

func (m recordingMeter) Float64Histogram(name string, _ ...metrics.InstrumentOption) (metrics.Float64Histogram, error) {
	return histogram{m.of, name}, nil
}

type counter struct {
	of   *meters
	name string
}

func (c counter) Add(_ context.Context, value int64, opts ...metrics.RecordMetricOption) {
	c.of.record(c.name, float64(value), opts)
}

type histogram struct {
	of   *meters
	name string
}

func (h histogram) Record(_ context.Context, value float64, opts ...metrics.RecordMetricOption) {
	h.of.record(h.name, value, opts)
}

// tracers records spans. As with OpenTelemetry, the span of a context is a value of it, and that of
// a caller is around the spans of the SDK.
type tracers struct {
	mu    sync.Mutex // guards spans, and the ends of all
	spans []*span
}

var _ tracing.TracerProvider = (*tracers)(nil)

func (t *tracers) Tracer(string, ...tracing.TracerOption) tracing.Tracer { return t }

func (t *tracers) StartSpan(ctx context.Context, name string, _ ...tracing.SpanOption) (context.Context, tracing.Span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &span{of: t, name: name, parent: spanFrom(ctx)}
	t.spans = append(t.spans, s)
	return tracing.WithSpan(withSpan(ctx, s), s), s
}

// paths returns the names of all spans, with those of the spans around them.
func (t *tracers) paths() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var paths []string
	for _, s := range t.spans {
		paths = append(paths, s.path())
	}
	return paths
}

type span struct {
	of     *tracers
	name   string
	parent *span
	ended  bool
}

type spanKey struct{}

func withSpan(ctx context.Context, s *span) context.Context {
	return context.WithValue(ctx, spanKey{}, s)
}

func spanFrom(ctx context.Context) *span {
	s, _ := ctx.Value(spanKey{}).(*span)
	return s
}

func (s *span) path() string {
	if s.parent == nil {
		return s.name
	}
	return s.parent.path() + "/" + s.name
}

func (s *span) Name() string { return s.name }

func (*span) Context() tracing.SpanContext { return tracing.SpanContext{} }

func (*span) AddEvent(string, ...tracing.EventOption) {}

func (*span) SetStatus(tracing.SpanStatus) {}

func (*span) SetProperty(any, any) {}

func (s *span) End() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.ended = true
}

// open reports whether the span can have further events.
func (s *span) open() bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return !s.ended
}
