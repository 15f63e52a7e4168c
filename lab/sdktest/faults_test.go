package sdktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
)

// overTCP returns an HTTP client for the SDK clients of one test, whose connections are known.
func overTCP(t *testing.T, known *peers) *http.Client {
	t.Helper()
	var dialer net.Dialer
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return known.opened(conn), nil
		},
		MaxIdleConnsPerHost: 100,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: plainBodies{transport}}
}

// plainBodies hides the method WriteTo of the request bodies of the SDK. The SDK closes a body
// once the response has begun, and WriteTo then returns the error io.EOF. A transport that has
// sent the body and looks for more of it then closes the connection, although the response is
// still being read.
type plainBodies struct{ http.RoundTripper }

func (t plainBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.ContentLength > 0 {
		r = r.WithContext(r.Context())
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return t.RoundTripper.RoundTrip(r)
}

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
