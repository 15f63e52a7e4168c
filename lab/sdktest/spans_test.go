package sdktest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

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
