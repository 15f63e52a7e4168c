package sdktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// kind is a kind of call: a client and an operation, with a body or without.
type kindOfCall struct {
	name string
	make func(cfg aws.Config) func(ctx context.Context, n int) error
}

var (
	withBody = []kindOfCall{
		{"DynamoDB PutItem", func(cfg aws.Config) func(context.Context, int) error {
			client := dynamodb.NewFromConfig(cfg)
			return func(ctx context.Context, n int) error {
				_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
					TableName: aws.String("orders"),
					Item:      map[string]types.AttributeValue{"ID": &types.AttributeValueMemberS{Value: strconv.Itoa(n)}},
				})
				return err
			}
		}},
		{"S3 PutObject", func(cfg aws.Config) func(context.Context, int) error {
			client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
			return func(ctx context.Context, n int) error {
				_, err := client.PutObject(ctx, &s3.PutObjectInput{
					Bucket: aws.String("photos"), Key: aws.String(strconv.Itoa(n)), Body: bytes.NewReader(bytes.Repeat([]byte("x"), 64<<10)),
				})
				return err
			}
		}},
		{"SQS SendMessage", func(cfg aws.Config) func(context.Context, int) error {
			client := sqs.NewFromConfig(cfg)
			return func(ctx context.Context, n int) error {
				_, err := client.SendMessage(ctx, &sqs.SendMessageInput{
					QueueUrl: aws.String(*cfg.BaseEndpoint + "/1/jobs"), MessageBody: aws.String(strconv.Itoa(n)),
				})
				return err
			}
		}},
		{"SNS Publish", func(cfg aws.Config) func(context.Context, int) error {
			client := sns.NewFromConfig(cfg)
			return func(ctx context.Context, n int) error {
				_, err := client.Publish(ctx, &sns.PublishInput{TopicArn: aws.String("arn:topic"), Message: aws.String(strconv.Itoa(n))})
				return err
			}
		}},
	}
	withoutBody = []kindOfCall{
		{"S3 ListObjectsV2", func(cfg aws.Config) func(context.Context, int) error {
			client := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
			return func(ctx context.Context, _ int) error {
				out, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("photos")})
				if err == nil && len(out.Contents) != 20 {
					return fmt.Errorf("%d objects", len(out.Contents))
				}
				return err
			}
		}},
	}
)

const callsOfEach = 8

// TestFaultsLoseNothing lets the first two requests of each call fail, in each way. Every call
// must succeed with the third request, none must be sent again after the answer, and no
// goroutine or connection must stay. With -v it prints the counts.
func TestFaultsLoseNothing(t *testing.T) {
	calls, requests := 0, 0
	for _, f := range []fault{
		none, throttled, hinted, internal, unavailable, reset, closed, resetInBody, closedInBody, silence, skewed, lateHeaders,
	} {
		for _, mode := range []config.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
			for _, kind := range append(withBody, withoutBody...) {
				t.Run(strings.Join([]string{string(f), string(mode), kind.name}, "/"), func(t *testing.T) {
					before := goleak.IgnoreCurrent()
					each := 3
					if f == none || f == lateHeaders {
						each = 1
					}
					var known *peers
					t.Run("calls", func(t *testing.T) { known = sweep(t, f, mode, kind, each) })
					goleak.VerifyNone(t, before)
					require.Zero(t, known.left(), "connections")
					calls, requests = calls+callsOfEach, requests+callsOfEach*each
				})
			}
		}
	}
	t.Logf("%d calls, %d requests", calls, requests)
}

func sweep(t *testing.T, f fault, mode config.Mode, kind kindOfCall, each int) *peers {
	t.Helper()
	s, server := newService(t, twice(f))
	clk := &clock.Fake{}
	cfg := installed(t, overTCP(t, s.peers), hermetic(
		awsretry.WithMode(mode), awsretry.WithMaxAttempts(4), awsretry.WithClock(clk), noBackoff(),
		awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(10_000)}}),
	))
	cfg.BaseEndpoint = &server.URL
	calls, errs := callsOf(t.Context(), kind.make(cfg))
	clk.Run(calls...)
	require.NoError(t, errors.Join(errs...))
	s.requireBooks(t, callsOfEach, each)
	return s.peers
}

// callsOf returns calls to make at the same time, and their errors, which are there when
// the calls have returned.
func callsOf(ctx context.Context, call func(ctx context.Context, n int) error) (calls []func(), errs []error) {
	errs = make([]error, callsOfEach)
	for i := range errs {
		calls = append(calls, func() { errs[i] = call(ctx, i) })
	}
	return calls, errs
}

// bucket is the token bucket of a service that takes a number of requests a second.
type bucket struct {
	rate, tokens float64
	clk          clock.Clock
	at           time.Time
}

func (b *bucket) take() bool {
	now := b.clk.Now()
	b.tokens = min(b.rate, b.tokens+b.rate*now.Sub(b.at).Seconds())
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// TestServiceThrottlesByItsOwnBucket has all four clients at the same time, each with the limit
// of its own resource, over TCP.
func TestServiceThrottlesByItsOwnBucket(t *testing.T) {
	var all sync.WaitGroup
	for _, kind := range withBody {
		all.Go(func() {
			clk := &clock.Fake{}
			limit := &bucket{rate: 10, clk: clk}
			throttles := 0
			s, server := newService(t, func(string, int) fault {
				if limit.take() {
					return none
				}
				throttles++
				return throttled
			})
			cfg := installed(t, overTCP(t, s.peers), hermetic(
				awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithMaxAttempts(50), awsretry.WithClock(clk), noBackoff(),
				awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(10_000)}}),
			))
			cfg.BaseEndpoint = &server.URL
			call := kind.make(cfg)
			for range 5 {
				calls, errs := callsOf(t.Context(), call)
				clk.Run(calls...)
				if err := errors.Join(errs...); err != nil {
					t.Errorf("%s: %v", kind.name, err)
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.answered) != 5*callsOfEach || s.repeated != 0 || throttles == 0 {
				t.Errorf("%s: %d answered, %d repeated, %d throttled", kind.name, len(s.answered), s.repeated, throttles)
			}
		})
	}
	all.Wait()
}

// TestUploadThatCannotBeReadAgainIsNotRetried: the SDK waits, fails to rewind the body and
// forgets what the service said.
func TestUploadThatCannotBeReadAgainIsNotRetried(t *testing.T) {
	const rule = "awssdk: the body of the request cannot be sent again"
	for _, c := range []struct {
		name     string
		fault    fault
		wrap     func(aws.RetryerV2) aws.RetryerV2
		code     string
		reason   string // of the event, after that of the strategy
		told     bool   // whether the error of the call has the rule
		throttle bool
	}{
		{name: "server error", fault: unavailable, code: "ServiceUnavailable", reason: ": " + rule},
		{name: "throttle", fault: throttled, code: "SlowDown", reason: ": " + rule, throttle: true},
		{name: "client error", fault: skewed, code: "RequestTimeTooSkewed"},
		{name: "retryer that overrules", fault: unavailable, wrap: overruling, code: "ServiceUnavailable", reason: ": " + rule, told: true},
		{name: "retryer that does not ask", fault: unavailable, wrap: deaf, code: "ServiceUnavailable", reason: ": " + rule, told: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var refused []retry.Event
			s, server := newService(t, twice(c.fault))
			cfg := installed(t, overTCP(t, s.peers), hermetic(
				awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithClock(&clock.Fake{}), // it does not move
				awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.RetryRefused {
						refused = append(refused, e)
					}
				}))))
			cfg.BaseEndpoint = &server.URL
			client := s3.NewFromConfig(cfg, func(o *s3.Options) {
				o.UsePathStyle = true
				o.DisableClockSkewCorrection = true
				o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
				if c.wrap != nil {
					o.Retryer = c.wrap(o.Retryer.(aws.RetryerV2))
				}
			})
			_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
				Bucket: aws.String("photos"), Key: aws.String("cat"), Body: &onlyReader{strings.NewReader("meow")}, ContentLength: aws.Int64(4),
			}, s3.WithAPIOptions(unsignedPayload))
			require.ErrorContains(t, err, c.code)
			require.NotContains(t, err.Error(), "rewind")
			require.Equal(t, c.told, strings.Contains(err.Error(), rule), err)
			require.Equal(t, 500, quotaOf(t, cfg))
			require.Equal(t, c.throttle, strategyOf(t, cfg).Snapshot().Scopes[1].Limited)
			require.Len(t, refused, 1)
			require.ErrorIs(t, refused[0].Reason, retry.ErrNotRetryable)
			require.EqualError(t, refused[0].Reason, retry.ErrNotRetryable.Error()+c.reason)
		})
	}
}

// TestFaultsBeforeAnotherS3 has gofakes3 behind the faults.
func TestFaultsBeforeAnotherS3(t *testing.T) {
	for _, f := range []fault{throttled, unavailable, reset, closed, silence} {
		s, server := newService(t, twice(f))
		s.next = gofakes3.New(s3mem.New()).Server()
		cfg := installed(t, overTCP(t, s.peers), hermetic(noBackoff()))
		cfg.BaseEndpoint = &server.URL
		useBucket(t, s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }))
		s.requireBooks(t, 8, 3)
	}
}

// useBucket makes eight calls and checks their results.
func useBucket(t *testing.T, client *s3.Client) {
	t.Helper()
	ctx, name, key, copied := t.Context(), aws.String("photos"), aws.String("cat"), aws.String("copy")
	content := bytes.Repeat([]byte("meow "), 20_000)
	_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: name})
	require.NoError(t, err)
	_, err = client.PutObject(ctx, &s3.PutObjectInput{Bucket: name, Key: key, Body: bytes.NewReader(content)})
	require.NoError(t, err)
	_, err = client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: name, Key: copied, CopySource: aws.String("photos/cat")})
	require.NoError(t, err)
	head, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: name, Key: copied})
	require.NoError(t, err)
	require.EqualValues(t, len(content), *head.ContentLength)
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: copied})
	require.NoError(t, err)
	var got bytes.Buffer
	_, err = got.ReadFrom(out.Body)
	require.NoError(t, err)
	require.NoError(t, out.Body.Close())
	require.Equal(t, content, got.Bytes())
	_, err = client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: name, Key: key})
	require.NoError(t, err)
	list, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: name})
	require.NoError(t, err)
	require.Len(t, list.Contents, 1)
	_, err = client.GetObject(ctx, &s3.GetObjectInput{Bucket: name, Key: key})
	require.ErrorContains(t, err, "NoSuchKey")
}

// TestRequestBodyThatTheSDKClosesUnderTheAnswer: the SDK closes the body of a request as soon as
// the headers of the answer are there, see plainBodies. If net/http looks for more of the body only
// after that, it closes the connection. The SDK makes the call again then, although the service has
// executed it. It does so with a strategy of this module and without one.
func TestRequestBodyThatTheSDKClosesUnderTheAnswer(t *testing.T) {
	without := func(_ *testing.T, client aws.HTTPClient, _ ...awssdk.Option) aws.Config { return configFor(client) }
	for _, c := range []struct {
		name     string
		setup    setup
		hide     bool // whether the bodies have no WriteTo
		executed int
	}{
		{"without", without, false, 2},
		{"with", installed, false, 2},
		{"without, and without WriteTo", without, true, 1},
		{"with, and without WriteTo", installed, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				t.Helper()
				executed, network := 0, pipenet.New()
				server := &http.Server{ErrorLog: log.New(io.Discard, "", 0)}
				server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					executed++
					_ = http.NewResponseController(w).Flush()
					pause(2 * lookDelay)
					_, _ = io.WriteString(w, "{}")
				})
				go func() { _ = server.Serve(network) }()
				inner := network.Transport()
				transport := http.RoundTripper(inner)
				if c.hide {
					transport = plainBodies{inner}
				}
				cfg := c.setup(t, &http.Client{Transport: lateLook(transport)}, hermetic())
				err := withBody[0].make(cfg)(t.Context(), 1)
				pause(time.Minute) // until the server has ended too
				inner.CloseIdleConnections()
				require.NoError(t, server.Close())
				require.NoError(t, err)
				require.Equal(t, c.executed, executed)
			})
		})
	}
}

// lookDelay is how long net/http does nothing between the end of a body and its look for more.
const lookDelay = time.Second

// lateLook delays the look for more of the first body. Later bodies have no WriteTo.
func lateLook(next http.RoundTripper) http.RoundTripper {
	first := true
	return roundTripFunc(func(r *http.Request) (*http.Response, error) {
		if !first {
			return plainBodies{next}.RoundTrip(r)
		}
		first = false
		r = r.WithContext(r.Context())
		r.Body = &lateBody{r.Body, r.ContentLength}
		return next.RoundTrip(r)
	})
}

type lateBody struct {
	io.ReadCloser
	left int64
}

func (b *lateBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		pause(lookDelay)
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

func (b *lateBody) WriteTo(w io.Writer) (int64, error) {
	pause(lookDelay)
	return b.ReadCloser.(io.WriterTo).WriteTo(w)
}

// TestConnectionsThatAProxyCuts has a TCP proxy between client and service. It breaks the
// connections of all calls, and works again once all calls wait for a retry.
func TestConnectionsThatAProxyCuts(t *testing.T) {
	for _, toxic := range []struct {
		name, json string
		retried    bool
	}{
		{"cuts the answer", `{"name":"t","type":"limit_data","stream":"downstream","attributes":{"bytes":40}}`, true},
		{"cuts the request", `{"name":"t","type":"limit_data","stream":"upstream","attributes":{"bytes":100}}`, true},
		{"resets", `{"name":"t","type":"reset_peer","stream":"downstream","attributes":{"timeout":0}}`, true},
		{"delays", `{"name":"t","type":"latency","stream":"downstream","attributes":{"latency":20,"jitter":0}}`, false},
		{"cuts into slices", `{"name":"t","type":"slicer","stream":"downstream","attributes":{"average_size":10,"size_variation":1,"delay":10}}`, false},
	} {
		for _, kind := range append(withBody, withoutBody...) {
			t.Run(toxic.name+"/"+kind.name, func(t *testing.T) {
				s, server := newService(t, func(string, int) fault { return none })
				proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
					"between", "127.0.0.1:0", strings.TrimPrefix(server.URL, "http://"))
				require.NoError(t, proxy.Start())
				t.Cleanup(proxy.Stop)
				_, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic.json))
				require.NoError(t, err)

				// Every retry waits until the proxy has been mended, after the first failure of each call.
				var failed sync.WaitGroup
				failed.Add(callsOfEach)
				mended := make(chan struct{})
				retries := atomic.Int64{}
				cfg := installed(t, overTCP(t, s.peers), hermetic(noBackoff(),
					awsretry.WithConfig(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(10_000)}}),
					awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
						if e.Kind == retry.RetryScheduled {
							retries.Add(1)
							failed.Done()
							<-mended
						}
					}))))
				endpoint := "http://" + proxy.Listen
				cfg.BaseEndpoint = &endpoint

				calls, errs := callsOf(t.Context(), kind.make(cfg))
				var all sync.WaitGroup
				for _, call := range calls {
					all.Go(call)
				}
				if toxic.retried {
					failed.Wait()
					require.NoError(t, proxy.Toxics.RemoveToxic(context.Background(), "t"))
				}
				close(mended)
				all.Wait()
				require.NoError(t, errors.Join(errs...))
				require.EqualValues(t, map[bool]int{true: callsOfEach}[toxic.retried], retries.Load(), "all calls are retried, or none")
				if !toxic.retried {
					s.requireBooks(t, callsOfEach, 1)
				}
			})
		}
	}
}
