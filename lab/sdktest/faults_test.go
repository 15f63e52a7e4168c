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
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
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

// TestRequestBodyThatTheSDKClosesUnderTheAnswer: the SDK closes the body of a request as soon as
// the headers of the answer are there, see plainBodies. If net/http looks for more of the body only
// after that, it closes the connection. The SDK makes the call again then, although the service has
// executed it. It does so with a strategy of this module and without one.
func TestRequestBodyThatTheSDKClosesUnderTheAnswer(t *testing.T) {
	for _, c := range []struct {
		install, hide bool // hide WriteTo of the bodies
		executed      int
	}{{false, false, 2}, {true, false, 2}, {false, true, 1}, {true, true, 1}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
				cfg := configFor(&http.Client{Transport: lateLook(transport)})
				if c.install {
					require.NoError(t, awssdk.Install(&cfg, hermetic()))
				}
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
