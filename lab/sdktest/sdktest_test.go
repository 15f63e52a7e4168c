package sdktest

import (
	"context"
	"flag"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// answerFunc answers one request of an SDK client. It is called without a network.
type answerFunc func(r *http.Request) (*http.Response, error)

// Do is the method that SDK clients call.
func (f answerFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// response makes a response with a body. Headers are given in pairs.
func response(status int, body string, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	if h.Get("Date") == "" {
		h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	return &http.Response{
		StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// jsonError is an error of a service that speaks awsJson.
func jsonError(status int, code string, headers ...string) *http.Response {
	body := ""
	if code != "" {
		body = `{"__type":"com.amazonaws.test#` + code + `","message":"made up"}`
		headers = append(headers, "X-Amzn-ErrorType", code)
	}
	return response(status, body, headers...)
}

// configFor returns a config that depends neither on the environment nor on files.
func configFor(client aws.HTTPClient) aws.Config {
	return aws.Config{
		Region:       "eu-central-1",
		Credentials:  credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
		HTTPClient:   client,
		BaseEndpoint: aws.String("http://service.test"),
	}
}

// hermetic returns settings without the environment and the files of the machine, and others.
func hermetic(opts ...awsretry.Option) awssdk.Option {
	return awssdk.WithSettings(append([]awsretry.Option{
		awsretry.WithSources(awsretry.Sources{LookupEnv: func(name string) (string, bool) { return "/nowhere", name == "HOME" }}),
	}, opts...)...)
}

// noBackoff makes every backoff zero, for tests outside of a bubble: the loop of the SDK sleeps in
// real time there.
func noBackoff() awsretry.Option { return awsretry.WithRandom(func() float64 { return 0 }) }

// installed returns a config like configFor, with a strategy.
func installed(t *testing.T, client aws.HTTPClient, opts ...awssdk.Option) aws.Config {
	t.Helper()
	cfg := configFor(client)
	require.NoError(t, awssdk.Install(&cfg, opts...))
	return cfg
}

// script gives one answer after the other, and records the times of the requests.
type script struct {
	mu      sync.Mutex // guards all below
	answers []answerFunc
	at      []time.Time
	headers []http.Header
}

func newScript(answers ...answerFunc) *script { return &script{answers: answers} }

func (s *script) Do(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	n := len(s.at)
	s.at = append(s.at, time.Now())
	s.headers = append(s.headers, r.Header.Clone())
	answer := s.answers[min(n, len(s.answers)-1)]
	s.mu.Unlock()
	return answer(r)
}

// gaps are the times between requests.
func (s *script) gaps() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	gaps := []time.Duration{}
	for i := 1; i < len(s.at); i++ {
		gaps = append(gaps, s.at[i].Sub(s.at[i-1]))
	}
	return gaps
}

func (s *script) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at)
}

func say(status int, body string, headers ...string) answerFunc {
	return func(*http.Request) (*http.Response, error) { return response(status, body, headers...), nil }
}

func fail(status int, code string, headers ...string) answerFunc {
	return func(*http.Request) (*http.Response, error) { return jsonError(status, code, headers...), nil }
}

func refuse(err error) answerFunc {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// sleep waits on the time of the bubble.
func sleep(ctx context.Context, d time.Duration) { _ = clock.System{}.Sleep(ctx, d) }

func pause(d time.Duration) { sleep(context.Background(), d) }

// bodyOf reads the body of a request.
func bodyOf(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}
	return string(body)
}

// failInside lets an attempt end with the error of f before it is sent.
func failInside(f func() error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("FailInside", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
			if err := f(); err != nil {
				return out, metadata, err
			}
			return next.HandleFinalize(ctx, in)
		}), middleware.After)
	}
}

// onlyReader is a body that can be read only once.
type onlyReader struct{ io.Reader }

// unsignedPayload leaves the body out of the signature, so that it is read only once.
func unsignedPayload(stack *middleware.Stack) error {
	return v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware(stack)
}

// exactAdaptive is the adaptive mode of the SDK on a clock that fires exactly. The SDK cuts the wait for a send token to
// whole nanoseconds, wakes a fraction of one too early, and would then sleep for 0, for ever. Here no sleep is shorter
// than a microsecond.
type exactAdaptive struct{ *sdkretry.AdaptiveMode }

func (r exactAdaptive) GetAttemptToken(ctx context.Context) (release func(error) error, _ error) {
	return r.AdaptiveMode.GetAttemptToken(lateDone{ctx})
}

// lateDone is looked at between the start of a timer and the wait for it.
type lateDone struct{ context.Context } //nolint:containedctx // it is a context

func (c lateDone) Done() <-chan struct{} {
	pause(time.Microsecond)
	return c.Context.Done()
}

// books counts what the limiters of all scopes hear.
type books struct {
	acquired, reported, throttled atomic.Int64
}

type bookkeeper struct {
	adaptive.Limiter
	books *books
}

func (k bookkeeper) Acquire(ctx context.Context, r ratelimit.Request) (time.Time, error) {
	sent, err := k.Limiter.Acquire(ctx, r)
	if err == nil {
		k.books.acquired.Add(1)
	}
	return sent, err
}

func (k bookkeeper) Report(r ratelimit.Response) ratelimit.Change {
	k.books.reported.Add(1)
	if r.Throttled {
		k.books.throttled.Add(1)
	}
	return k.Limiter.Report(r)
}

// adaptiveMode returns an adaptive strategy without jitter, and what its limiters hear.
func adaptiveMode(config standard.Config) (awssdk.Option, *books) {
	if config.Random == nil {
		config.Random = func() float64 { return 1 }
	}
	return bookkept(adaptive.Config{Standard: config})
}

// bookkept returns an adaptive strategy, and what its limiters hear.
func bookkept(config adaptive.Config) (awssdk.Option, *books) {
	kept := &books{}
	config.NewLimiter = func(_ retry.ScopeKey, clk clock.Clock) adaptive.Limiter {
		return bookkeeper{sendrate.NewLimiter(sendrate.Config{Start: clk.Now()}, clk), kept}
	}
	return hermetic(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithConfig(config)), kept
}

// strategyOf returns the strategy that the clients of cfg have.
func strategyOf(t *testing.T, cfg aws.Config) retry.Strategy {
	t.Helper()
	s, ok := awssdk.StrategyOf(cfg)
	require.True(t, ok)
	return s
}

// quotaOf returns the tokens in the retry quota of the only scope that was used.
func quotaOf(t *testing.T, cfg aws.Config) int {
	t.Helper()
	scopes := strategyOf(t, cfg).Snapshot().Scopes
	require.Len(t, scopes, 2) // the first is that of the strategy as a whole
	return scopes[1].Quota
}

// quotaOfAny is quotaOf also for a strategy without a scope yet.
func quotaOfAny(t *testing.T, cfg aws.Config) int {
	t.Helper()
	scopes := strategyOf(t, cfg).Snapshot().Scopes
	return scopes[len(scopes)-1].Quota
}

func describe(t *testing.T, cfg aws.Config, optFns ...func(*dynamodb.Options)) error {
	t.Helper()
	return describeWith(t.Context(), cfg, optFns...)
}

func describeWith(ctx context.Context, cfg aws.Config, optFns ...func(*dynamodb.Options)) error {
	_, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("orders")}, optFns...)
	return err
}

// always makes every delay the longest one.
func always() awsretry.Option { return awsretry.WithRandom(func() float64 { return 1 }) }

// requireThrottle checks that err holds the error of the service in all its forms.
func requireThrottle(t *testing.T, err error) {
	t.Helper()
	var api smithy.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, "ProvisionedThroughputExceededException", api.ErrorCode())
	var modeled *types.ProvisionedThroughputExceededException
	require.ErrorAs(t, err, &modeled)
	var operation *smithy.OperationError
	require.ErrorAs(t, err, &operation)
	require.Equal(t, "DynamoDB", operation.Service())
}

var throttle = fail(400, "ProvisionedThroughputExceededException")

var update = flag.Bool("update", false, "write the golden files")
