package promises

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// door is a way into the library: it makes a call whose attempts are those of a function.
type door func(ctx context.Context, p *play, op retry.Operation, attempt func(ctx context.Context) error) error

// failure is the error of an attempt. Over HTTP it is a response.
type failure struct {
	code   string
	status int
	narrow bool
}

func (f *failure) Error() string       { return f.code }
func (f *failure) ErrorCode() string   { return f.code }
func (f *failure) HTTPStatusCode() int { return f.status }

// ThrottledBy says that the throttle is about one key.
func (f *failure) ThrottledBy() []classify.Reason {
	if !f.narrow {
		return nil
	}
	return []classify.Reason{{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}}
}

func (p *play) throttle() error {
	if p.narrow {
		return &failure{"ProvisionedThroughputExceededException", http.StatusBadRequest, true}
	}
	return errThrottled
}

var (
	errThrottled = &failure{"ThrottlingException", http.StatusBadRequest, false}
	errOutage    = &failure{"InternalServerError", http.StatusInternalServerError, false}
	errLost      = fmt.Errorf("reading the answer: %w", io.ErrUnexpectedEOF)
)

func throughDo(ctx context.Context, p *play, op retry.Operation, attempt func(ctx context.Context) error) error {
	var opts []retry.Option
	if p.timeout != nil {
		opts = append(opts, retry.WithAttemptTimeout(p.timeout))
	}
	return retry.DoErr(ctx, p.strategy, op, attempt, opts...)
}

// throughBatches sends three entries, all of which go in or none.
func throughBatches(ctx context.Context, p *play, op retry.Operation, attempt func(ctx context.Context) error) error {
	_, err := retry.SendAll(ctx, p.strategy, op, retry.Batch[int]{Entries: []int{1, 2, 3}},
		func(ctx context.Context, entries []int) ([]retry.Sent[int], error) {
			if err := attempt(ctx); err != nil {
				return nil, err
			}
			return make([]retry.Sent[int], len(entries)), nil
		})
	return err
}

// throughNested makes the call in an attempt of a loop of another strategy, which does not repeat it.
func throughNested(ctx context.Context, p *play, op retry.Operation, attempt func(ctx context.Context) error) error {
	outer := p.outer()
	return retry.DoErr(ctx, outer, retry.Operation{Scope: "outer"}, func(ctx context.Context) error {
		return retry.Permanent(throughDo(ctx, p, op, attempt))
	})
}

// exchange answers a request with an attempt.
func exchange(r *http.Request, attempt func(ctx context.Context) error) (*http.Response, error) {
	err := attempt(r.Context())
	response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, ProtoMajor: 1, ProtoMinor: 1}
	body := "{}"
	if failed, ok := errors.AsType[*failure](err); ok {
		response.StatusCode = failed.status
		response.Header.Set("X-Amzn-Errortype", failed.code)
		body = `{"__type":"` + failed.code + `"`
		if failed.narrow {
			body += `,"throttlingReasons":[{"reason":"TableReadKeyRangeThroughputExceeded","resource":"orders"}]`
		}
		body += "}"
	} else if err != nil {
		return nil, err
	}
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	response.ContentLength, response.Body = int64(len(body)), io.NopCloser(strings.NewReader(body))
	return response, nil
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
func (f roundTripper) Do(r *http.Request) (*http.Response, error)        { return f(r) }

func throughHTTP(ctx context.Context, p *play, op retry.Operation, attempt func(ctx context.Context) error) error {
	transport, err := httpretry.New(httpretry.Config{
		Strategy: p.strategy, AttemptTimeout: p.timeout,
		Operation: func(*http.Request) retry.Operation { return op },
		Base:      roundTripper(func(r *http.Request) (*http.Response, error) { return exchange(r, attempt) }),
	})
	require.NoError(p, err)
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://service.test", bytes.NewReader(nil))
	require.NoError(p, err)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return httpretry.Refusal(response)
}

func throughSDK(ctx context.Context, p *play, op retry.Operation, attempt func(ctx context.Context) error) error {
	p.makeClient.Do(func() {
		cfg := sdkConfig()
		opts := []awssdk.Option{
			awssdk.WithStrategy(p.strategy),
			awssdk.WithOperation(func(ctx context.Context, op retry.Operation, _ any) retry.Operation {
				of, _ := ctx.Value(opKey{}).(retry.Operation)
				of.Service, of.MaxAttempts = op.Service, op.MaxAttempts
				return of
			}),
		}
		if p.timeout != nil {
			opts = append(opts, awssdk.WithAttemptTimeout(p.timeout))
		}
		require.NoError(p, awssdk.Install(&cfg, opts...))
		p.client = dynamodb.NewFromConfig(cfg)
	})
	return describe(context.WithValue(ctx, opKey{}, op), p.client, attempt)
}

func throughPlainSDK(ctx context.Context, p *play, _ retry.Operation, attempt func(ctx context.Context) error) error {
	p.makePlain.Do(func() { p.plain = dynamodb.NewFromConfig(sdkConfig()) })
	return describe(ctx, p.plain, attempt)
}

type (
	opKey      struct{}
	attemptKey struct{}
)

// sdkConfig returns a config whose clients exchange requests with the attempt in their context.
func sdkConfig() aws.Config {
	return aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String("http://service.test"),
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
		HTTPClient: roundTripper(func(r *http.Request) (*http.Response, error) {
			attempt, _ := r.Context().Value(attemptKey{}).(func(ctx context.Context) error)
			return exchange(r, attempt)
		}),
	}
}

func describe(ctx context.Context, client *dynamodb.Client, attempt func(ctx context.Context) error) error {
	ctx = context.WithValue(ctx, attemptKey{}, attempt)
	_, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	return err
}
