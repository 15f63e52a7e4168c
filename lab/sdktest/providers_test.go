package sdktest

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/metrics/smithyotelmetrics"
	"github.com/aws/smithy-go/tracing/smithyoteltracing"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/metrics/otelretry"
)

// flakyTables answers the requests of a client in the place of DynamoDB: it fails the first one.
type flakyTables struct{ requests int }

func (s *flakyTables) Do(*http.Request) (*http.Response, error) {
	s.requests++
	status, body := http.StatusOK, `{"TableNames":[]}`
	if s.requests == 1 {
		status, body = http.StatusServiceUnavailable, `{"__type":"ServiceUnavailable"}`
	}
	header := http.Header{"X-Amzn-Requestid": {"A1"}}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// callTheSDK lists the tables once, with two attempts, with providers of OpenTelemetry.
func callTheSDK(t *testing.T, meterProvider *sdkmetric.MeterProvider, tracerProvider *sdktrace.TracerProvider) {
	t.Helper()
	telemetry, err := otelretry.New(otelretry.Config{MeterProvider: meterProvider, SDKServices: true})
	require.NoError(t, err)
	cfg := aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("ID", "SECRET", ""), HTTPClient: &flakyTables{},
	}
	require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithObserver(telemetry))))
	cfg.ServiceOptions = append(cfg.ServiceOptions, provideAll(smithyotelmetrics.Adapt(meterProvider), smithyoteltracing.Adapt(tracerProvider)))
	strategy, ok := awssdk.StrategyOf(cfg)
	require.True(t, ok)
	require.NoError(t, telemetry.Watch(strategy))
	_, err = dynamodb.NewFromConfig(cfg).ListTables(context.Background(), &dynamodb.ListTablesInput{})
	require.NoError(t, err)
}

func TestClientsOfTheSDKMakeSpansOfOpenTelemetry(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	callTheSDK(t, sdkmetric.NewMeterProvider(), sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	named := map[string][]sdktrace.ReadOnlySpan{}
	for _, s := range spans.Ended() {
		named[s.Name()] = append(named[s.Name()], s)
	}
	call, loop, attempts := named["DynamoDB.ListTables"], named["RetryLoop"], named["Attempt"]
	require.Len(t, call, 1)
	require.Len(t, loop, 1)
	require.Len(t, attempts, 2)
	require.Equal(t, trace.SpanKindClient, call[0].SpanKind())
	require.Contains(t, call[0].Attributes(), attribute.String("rpc.service", "DynamoDB"))
	require.False(t, call[0].Parent().IsValid())
	require.Equal(t, call[0].SpanContext().SpanID(), loop[0].Parent().SpanID())
	for i, attempt := range attempts {
		require.Equal(t, loop[0].SpanContext().SpanID(), attempt.Parent().SpanID())
		require.Contains(t, attempt.Attributes(), attribute.Int("operation.attempt", i+1))
	}
	// The SDK writes the id of the request into the span that it finds in the context.
	require.True(t, slices.ContainsFunc(spans.Ended(), func(s sdktrace.ReadOnlySpan) bool {
		return slices.Contains(s.Attributes(), attribute.String("aws.request_id", "A1"))
	}))
	var events []string
	for _, event := range call[0].Events() {
		events = append(events, event.Name)
	}
	require.Equal(t, []string{"awsretry.retry"}, events, "of the strategy, in the span of the call")
}
