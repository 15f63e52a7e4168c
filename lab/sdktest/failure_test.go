package sdktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/oam"
	"github.com/aws/aws-sdk-go-v2/service/sso"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// seeing is a retryer that retries nothing and keeps the error of the attempt, as a classifier
// of a client of aws-sdk-go-v2 sees it.
type seeing struct {
	aws.NopRetryer
	seen *error
}

func (s seeing) IsErrorRetryable(err error) bool {
	*s.seen = err
	return false
}

// callSSO makes one call of a real client and returns the error of its attempt.
func callSSO(ctx context.Context, tb testing.TB, endpoint string, client aws.HTTPClient) error {
	tb.Helper()
	var seen error
	_, err := sso.New(sso.Options{
		BaseEndpoint: &endpoint, Region: "eu-central-1", HTTPClient: client, Retryer: seeing{seen: &seen},
	}).ListAccounts(ctx, &sso.ListAccountsInput{AccessToken: aws.String("token")})
	require.Error(tb, err)
	if seen == nil {
		return err // the context ended before the SDK asked the retryer
	}
	return seen
}

// answering starts a service with one answer.
func answering(tb testing.TB, status int, errorType string, header ...string) string {
	tb.Helper()
	return serving(tb, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", errorType)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"message":"no"}`)
	})
}

func serving(tb testing.TB, handler http.HandlerFunc) string {
	tb.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	tb.Cleanup(server.Close)
	return server.URL
}

// hijacked takes the connection away from the server and ends it.
func hijacked(end func(c *net.TCPConn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			end(connection.(*net.TCPConn))
			_ = connection.Close()
		}
	}
}

// TestErrorsOfRealClients runs the default chain on the errors that a generated client of
// aws-sdk-go-v2 makes of answers and connections on the loopback interface. sdkRetries is
// what the standard retryer of the SDK says of the same error.
func TestErrorsOfRealClients(t *testing.T) {
	t.Parallel()
	as, none := classify.RetryAs, classify.Verdict{}
	skewed := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, c := range []struct {
		name       string
		call       func(t *testing.T, client *awshttp.BuildableClient) error
		want       classify.Verdict
		sdkRetries bool
	}{
		{"modeled throttle", answered(429, "TooManyRequestsException"), as(classify.Throttling), true},
		{"throttle by code", answered(400, "ThrottlingException"), as(classify.Throttling), true},
		{"throttle by code as on the wire", answered(400, "aws.x#ThrottlingException:http://x/"), as(classify.Throttling), true},
		{"throttle by status only", answered(429, "Busy"), as(classify.Throttling), true},
		{"server error", answered(503, "ServiceUnavailable"), as(classify.Transient), true},
		{"server error without a code", answered(500, ""), as(classify.Transient), true},
		{"transient code", answered(400, "RequestTimeoutException"), as(classify.Transient), true},
		{"modeled final error", answered(404, "ResourceNotFoundException"), none, false},
		{"final error", answered(400, "ValidationException"), none, false},
		{"final server error", answered(501, "NotImplemented"), none, false},
		{"refused signature, clock agrees", answered(403, "InvalidSignatureException"), none, false},
		{
			"refused signature, clock is off", answered(403, "InvalidSignatureException", "Date", skewed),
			as(classify.ClockSkew), true,
		},
		{"no server listens", func(t *testing.T, client *awshttp.BuildableClient) error {
			t.Helper()
			return callSSO(t.Context(), t, "http://127.0.0.1:1", client) // another test may take a port that was free
		}, as(classify.Transient), true},
		{"connection reset", served(hijacked(func(c *net.TCPConn) { _ = c.SetLinger(0) })), as(classify.Transient), true},
		{"connection closed without an answer", served(hijacked(func(*net.TCPConn) {})), as(classify.Transient), true},
		{"connection closed in the answer", served(hijacked(func(c *net.TCPConn) {
			_, _ = io.WriteString(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 100\r\n\r\n{")
		})), as(classify.Transient), true},
		{"no header in time", func(t *testing.T, client *awshttp.BuildableClient) error {
			t.Helper()
			client = client.WithTransportOptions(func(tr *http.Transport) { tr.ResponseHeaderTimeout = 10 * time.Millisecond })
			return callSSO(t.Context(), t, serving(t, silent), client)
		}, as(classify.Timeout), true},
		{"no connection in time", func(t *testing.T, client *awshttp.BuildableClient) error {
			t.Helper()
			client = client.WithDialerOptions(func(d *net.Dialer) { d.Timeout = time.Nanosecond })
			return callSSO(t.Context(), t, serving(t, silent), client)
		}, as(classify.Timeout), true},
		{"no handshake in time", func(t *testing.T, client *awshttp.BuildableClient) error {
			t.Helper()
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Cleanup(func() { _ = listener.Close() })
			client = client.WithTransportOptions(func(tr *http.Transport) { tr.TLSHandshakeTimeout = 10 * time.Millisecond })
			return callSSO(t.Context(), t, "https://"+listener.Addr().String(), client)
		}, as(classify.Timeout), true},
		{"certificate that is not trusted", func(t *testing.T, client *awshttp.BuildableClient) error {
			t.Helper()
			server := httptest.NewUnstartedServer(http.NotFoundHandler())
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.StartTLS()
			t.Cleanup(server.Close)
			return callSSO(t.Context(), t, server.URL, client)
		}, as(classify.Transient), true},
		{"caller that cancels", func(t *testing.T, client *awshttp.BuildableClient) error {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			return callSSO(ctx, t, serving(t, func(w http.ResponseWriter, r *http.Request) {
				cancel()
				silent(w, r)
			}), client)
		}, none, false},
		{"caller without time left", func(t *testing.T, client *awshttp.BuildableClient) error {
			t.Helper()
			clk := clock.NewFake(time.Now()) // it moves only by hand
			ctx, cancel := clk.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			return callSSO(ctx, t, serving(t, func(w http.ResponseWriter, r *http.Request) {
				clk.Advance(time.Hour)
				silent(w, r)
			}), client)
		}, none, false},
		{"fault of the server without an answer", func(*testing.T, *awshttp.BuildableClient) error {
			return &smithy.OperationError{ServiceID: "SSO", OperationName: "ListAccounts", Err: &smithy.GenericAPIError{
				Code: "InternalFailure", Fault: smithy.FaultServer,
			}}
		}, as(classify.Server), false},
		{"fault of the client without an answer", func(*testing.T, *awshttp.BuildableClient) error {
			return &smithy.GenericAPIError{Code: "Odd", Fault: smithy.FaultClient}
		}, none, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := awshttp.NewBuildableClient()
			client = client.WithTransportOptions(func(tr *http.Transport) { tr.DisableKeepAlives = true })
			err := c.call(t, client)
			verdict, trail := classify.Default().Explain(classify.Outcome{Err: err})
			require.Equal(t, c.want, verdict, "%v: %v", err, trail)
			require.Equal(t, c.sdkRetries, sdkretry.NewStandard().IsErrorRetryable(err), err)
		})
	}
}

func answered(status int, errorType string, header ...string) func(t *testing.T, client *awshttp.BuildableClient) error {
	return func(t *testing.T, client *awshttp.BuildableClient) error {
		t.Helper()
		err := callSSO(t.Context(), t, answering(t, status, errorType, header...), client)
		response, ok := errors.AsType[*awshttp.ResponseError](err)
		require.True(t, ok)
		require.Equal(t, status, response.HTTPStatusCode())
		return err
	}
}

func served(handler http.HandlerFunc) func(t *testing.T, client *awshttp.BuildableClient) error {
	return func(t *testing.T, client *awshttp.BuildableClient) error {
		t.Helper()
		return callSSO(t.Context(), t, serving(t, handler), client)
	}
}

// TestTheServiceOfARealErrorIsKnown has an error that only the model of its service marks as
// retryable. The client wraps it in an error that names the service.
func TestTheServiceOfARealErrorIsKnown(t *testing.T) {
	t.Parallel()
	const code = "ReplicatedWriteConflictException"
	for service, want := range map[string]classify.Verdict{
		"DynamoDB": classify.RetryAs(classify.Transient),
		"SSO":      {},
	} {
		err := &smithy.OperationError{ServiceID: service, OperationName: "PutItem", Err: &smithy.GenericAPIError{Code: code}}
		require.Equal(t, want, classify.Default().Classify(classify.Outcome{Err: err}), service)
		require.False(t, sdkretry.NewStandard().IsErrorRetryable(err))
	}
}

// TestVerdictsOnErrorsOfAClientAllocateNothing runs alone: other tests allocate too.
func TestVerdictsOnErrorsOfAClientAllocateNothing(t *testing.T) {
	chain, retryer, client := classify.Default(), sdkretry.NewStandard(), awshttp.NewBuildableClient()
	for status, code := range map[int]string{
		429: "TooManyRequestsException", 503: "ServiceUnavailable", 404: "ResourceNotFoundException",
	} {
		err := callSSO(t.Context(), t, answering(t, status, code), client)
		require.Zero(t, testing.AllocsPerRun(100, func() { chain.Classify(classify.Outcome{Err: err}) }), code)
		require.NotZero(t, testing.AllocsPerRun(100, func() { retryer.IsErrorRetryable(err) }), code)
	}
}

// What an answer takes.
const answerTime = 50 * time.Millisecond

// clientsOf are the configs of the four that are compared.
func clientsOf(t *testing.T, client aws.HTTPClient) map[string]aws.Config {
	t.Helper()
	sdk, sdkAdaptive := configFor(client), configFor(client)
	shared := exactAdaptive{sdkretry.NewAdaptiveMode()}
	sdkAdaptive.Retryer = func() aws.Retryer { return shared }
	return map[string]aws.Config{
		"aws-sdk-go-v2, standard": sdk, "aws-sdk-go-v2, adaptive": sdkAdaptive,
		"awsretry, standard": installed(t, client, hermetic(awsretry.WithMode(awsretry.ModeStandard))),
		"awsretry, adaptive": installed(t, client, hermetic(awsretry.WithMode(awsretry.ModeAdaptive))),
	}
}

// named are the names of clientsOf.
func named() []string {
	return []string{"aws-sdk-go-v2, standard", "aws-sdk-go-v2, adaptive", "awsretry, standard", "awsretry, adaptive"}
}

// TestHardQuotaWithStatus429IsFinal prints figures of docs/classification.md with -v.
func TestHardQuotaWithStatus429IsFinal(t *testing.T) {
	for _, name := range named() {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			cfg := clientsOf(t, answerFunc(func(*http.Request) (*http.Response, error) {
				attempts++
				pause(answerTime)
				return jsonError(429, "ServiceQuotaExceededException"), nil
			}))[name]
			began := time.Now()
			_, err := oam.NewFromConfig(cfg).CreateSink(t.Context(), &oam.CreateSinkInput{Name: aws.String("sink")})
			require.ErrorContains(t, err, "ServiceQuotaExceededException")
			t.Logf("%s: %d attempts, %v", name, attempts, time.Since(began))
			require.Equal(t, 1, attempts)
		})
	}
}

// TestHardQuotaCutsNoSendRate prints figures of docs/classification.md with -v.
func TestHardQuotaCutsNoSendRate(t *testing.T) {
	for _, name := range named() {
		synctest.Test(t, func(t *testing.T) {
			full := true
			cfg := clientsOf(t, answerFunc(func(*http.Request) (*http.Response, error) {
				pause(answerTime)
				if full {
					return jsonError(400, "LimitExceededException"), nil
				}
				return response(200, `{}`), nil
			}))[name]
			client := cloudwatchlogs.NewFromConfig(cfg)
			create := func() error {
				_, err := client.CreateLogGroup(t.Context(), &cloudwatchlogs.CreateLogGroupInput{LogGroupName: aws.String("group")})
				return err
			}
			require.ErrorContains(t, create(), "LimitExceededException")
			full = false
			began := time.Now()
			for range 20 {
				require.NoError(t, create())
			}
			t.Logf("%s: twenty calls after a hard quota take %v", name, time.Since(began))
			if name == "awsretry, adaptive" {
				require.Equal(t, 20*answerTime, time.Since(began))
			}
		})
	}
}

// TestFunctionThatAsksForTwoSecondsGetsThem prints figures of docs/modes.md with -v.
func TestFunctionThatAsksForTwoSecondsGetsThem(t *testing.T) {
	for _, name := range named() {
		synctest.Test(t, func(t *testing.T) {
			var sent []time.Time
			cfg := clientsOf(t, answerFunc(func(*http.Request) (*http.Response, error) {
				sent = append(sent, time.Now())
				if len(sent) < 3 {
					return jsonError(429, "TooManyRequestsException", "Retry-After", "2"), nil
				}
				return response(200, `{}`), nil
			}))[name]
			_, err := lambda.NewFromConfig(cfg).Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f")})
			require.NoError(t, err)
			first, second := sent[1].Sub(sent[0]), sent[2].Sub(sent[1])
			t.Logf("%s: called again after %.2f and %.2f s", name, first.Seconds(), second.Seconds())
			if strings.HasPrefix(name, "awsretry") {
				require.GreaterOrEqual(t, first, 2*time.Second)
				require.GreaterOrEqual(t, second, 2*time.Second)
			}
		})
	}
}

// The deadline leaves room for the backoff and not for the hint, which the loop of the SDK would add.
func TestHintThatDoesNotFitBeforeTheDeadlineFailsNoCall(t *testing.T) {
	for _, header := range []string{"Retry-After", "X-Amz-Retry-After"} {
		t.Run(header, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				cfg := installed(t, answerFunc(func(*http.Request) (*http.Response, error) {
					if attempts++; attempts == 1 {
						value := map[string]string{"Retry-After": "4", "X-Amz-Retry-After": "4000"}[header]
						return jsonError(429, "TooManyRequestsException", header, value), nil
					}
					return response(200, `{}`), nil
				}), hermetic())
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				_, err := lambda.NewFromConfig(cfg).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String("f")})
				require.NoError(t, err)
				require.Equal(t, 2, attempts)
			})
		})
	}
}

func TestReasonsOfThrottlesAreInTheEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []retry.Event
		observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) })
		cfg := installed(t, answerFunc(func(*http.Request) (*http.Response, error) {
			answer := response(429, `{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded","message":"no"}`,
				"X-Amzn-ErrorType", "TooManyRequestsException", "Content-Type", "application/json")
			return answer, nil
		}), hermetic(awsretry.WithObserver(observer)))
		_, err := lambda.NewFromConfig(cfg).Invoke(t.Context(), &lambda.InvokeInput{FunctionName: aws.String("f")})
		require.Error(t, err)
		last := events[len(events)-1]
		require.Equal(t, retry.OperationEnded, last.Kind)
		require.Equal(t, classify.ReachScope, last.Verdict.Reach())
		require.Equal(t, []classify.Reason{
			{Reach: classify.ReachScope, Word: "ReservedFunctionConcurrentInvocationLimitExceeded"},
		}, last.ThrottledBy())
	})
}

func TestReasonsAreThoseOfTheModeledError(t *testing.T) {
	reason := func(word string) types.ThrottlingReason { return types.ThrottlingReason{Reason: aws.String(word)} }
	const key, table = "TableReadKeyRangeThroughputExceeded", "TableReadProvisionedThroughputExceeded"
	const most = 100
	hot := classify.Reason{Reach: classify.ReachPart, Word: key}
	for _, c := range []struct {
		name string
		err  error
		want []classify.Reason
	}{
		{"throughput", &types.ProvisionedThroughputExceededException{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, []classify.Reason{hot}},
		{"throttling", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, []classify.Reason{hot}},
		{"account", &types.RequestLimitExceeded{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, []classify.Reason{hot}},
		{
			"two", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{reason(key), reason(table)}},
			[]classify.Reason{hot, {Reach: classify.ReachScope, Word: table}},
		},
		{"empty", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{{}}}, []classify.Reason{{}}},
		{"none", &types.ThrottlingException{}, nil},
		{"too many", &types.ThrottlingException{ThrottlingReasons: make([]types.ThrottlingReason, most+1)}, make([]classify.Reason, most)},
		{"no throttle", &types.ResourceNotFoundException{}, nil},
		{"no type", &smithy.GenericAPIError{Code: "ThrottlingException"}, nil},
	} {
		for _, err := range []error{c.err, fmt.Errorf("operation: %w", c.err)} {
			var reasons []classify.Reason
			observer := retry.ObserverFunc(func(_ context.Context, e retry.Event) {
				if e.Kind == retry.AttemptEnded {
					reasons = e.ThrottledBy()
				}
			})
			cfg := installed(t, nil, hermetic(awsretry.WithMaxAttempts(1), awsretry.WithObserver(observer)))
			cfg.APIOptions = append(cfg.APIOptions, failInside(func() error { return err }))
			require.ErrorIs(t, describe(t, cfg), c.err, c.name)
			require.Equal(t, c.want, reasons, c.name)
		}
	}
}
