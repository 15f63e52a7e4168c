package sdktest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// wire returns the response of a vector as it comes over the wire.
func wire(r vectors.Response, n int) (*http.Response, error) {
	var headers []string
	for name, value := range r.Headers {
		headers = append(headers, name, value)
	}
	switch r.Kind {
	case "success":
		return response(r.Status, "{}", headers...), nil
	case "timeout":
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	case "connect":
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case "clock_skew":
		// The SDK corrects its clock each time, so the time of the service must change.
		headers = append(headers, "Date", time.Now().Add(time.Duration(n+1)*time.Hour).UTC().Format(http.TimeFormat))
	}
	return jsonError(r.Status, r.ErrorCode, headers...), nil
}

// caller returns the call of a vector, with a client of its service.
func caller(t *testing.T, cfg aws.Config, g vectors.Given) func(ctx context.Context) error {
	t.Helper()
	switch g.Service {
	case "dynamodb":
		return func(ctx context.Context) error { return describeWith(ctx, cfg) }
	case "dynamodb-streams":
		client := dynamodbstreams.NewFromConfig(cfg)
		return func(ctx context.Context) error {
			_, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String("arn:stream")})
			return err
		}
	}
	client := sqs.NewFromConfig(cfg)
	return func(ctx context.Context) error {
		_, err := client.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: aws.String("https://sqs.test/1/jobs")})
		return err
	}
}

// optionsOf returns the options of the strategy of a vector.
func optionsOf(c vectors.Sequence) []awssdk.Option {
	config := standard.Config{
		QuotaCapacity: c.Given.Capacity(),
		QuotaInitial:  c.Given.InitialQuota,
		MaxBackoff:    vectors.Seconds(c.Given.MaxBackoff),
		Random:        func() float64 { return c.Given.Jitter },
	}
	opts := []awsretry.Option{
		awsretry.WithBehavior(retry.Behavior(c.Behavior)), awsretry.WithService(c.Given.Service),
		awsretry.WithConfig(adaptive.Config{Standard: config}),
	}
	if c.Given.MaxAttempts != nil {
		opts = append(opts, awsretry.WithMaxAttempts(*c.Given.MaxAttempts))
	}
	mark := func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		op.LongPolling = c.Given.LongPolling
		return op
	}
	return []awssdk.Option{hermetic(opts...), awssdk.WithOperation(mark)}
}

func outcomeOf(err error) string {
	var exhausted *sdkretry.MaxAttemptsError
	var refusal *retry.Error
	switch {
	case err == nil:
		return "success"
	case errors.As(err, &exhausted):
		return "max_attempts_exceeded"
	case errors.Is(err, retry.ErrQuotaExhausted):
		return "quota_exceeded"
	case errors.As(err, &refusal):
		return err.Error()
	default:
		return "not_retryable"
	}
}

func vectorFiles(t *testing.T) map[string]vectors.Standard {
	t.Helper()
	return vectors.Load[vectors.Standard](t, "../..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json")
}

func TestClientsFollowTheVectors(t *testing.T) {
	for title, file := range vectorFiles(t) {
		for _, c := range file.Sequences {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				withInstall(t, func(t *testing.T, setup setup) {
					t.Helper()
					follow(t, c, setup)
				})
			})
		}
	}
}

// follow makes one call after the other until the steps of the vector end.
func follow(t *testing.T, c vectors.Sequence, setup setup) {
	t.Helper()
	var cfg aws.Config
	var answered time.Time
	i, first := 0, 0
	cfg = setup(t, answerFunc(func(*http.Request) (*http.Response, error) {
		require.Less(t, i, len(c.Steps), "an attempt too many")
		if i > first {
			before := c.Steps[i-1].Want
			require.Equal(t, "retry", before.Outcome, "step %d", i-1)
			require.Equal(t, vectors.Seconds(*before.Delay), time.Since(answered), "step %d", i-1)
			require.Equal(t, before.QuotaAfter, quotaOfAny(t, cfg), "step %d", i-1)
		}
		i++
		answered = time.Now()
		return wire(c.Steps[i-1].Response, i)
	}), optionsOf(c)...)
	call := caller(t, cfg, c.Given)
	for i < len(c.Steps) {
		first = i
		err := call(t.Context())
		last := c.Steps[i-1].Want
		require.Equal(t, last.Outcome, outcomeOf(err), "step %d: %v", i-1, err)
		require.Equal(t, last.QuotaAfter, quotaOfAny(t, cfg), "step %d", i-1)
		want := time.Duration(0)
		if last.Delay != nil {
			want = vectors.Seconds(*last.Delay)
		}
		require.Equal(t, want, time.Since(answered), "sleep before returning, step %d", i-1)
	}
	requireFinalQuota(t, c, cfg)
}

func requireFinalQuota(t *testing.T, c vectors.Sequence, cfg aws.Config) {
	t.Helper()
	if c.FinalQuota != nil {
		require.Equal(t, *c.FinalQuota, quotaOfAny(t, cfg))
	}
}

func TestClientsAtTheSameTimeFollowTheVectors(t *testing.T) {
	for title, file := range vectorFiles(t) {
		for _, c := range file.Concurrent {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				withInstall(t, func(t *testing.T, setup setup) {
					t.Helper()
					interleave(t, c, setup)
				})
			})
		}
	}
}

type requestName struct{}

// attempt is a request that waits for its answer.
type attempt struct {
	arrived  chan time.Time
	answer   chan vectors.Response
	ended    chan error
	answered time.Time
	due      *float64 // the delay before it arrives again
}

// interleave makes calls at the same time, and answers their requests in the order of the
// steps.
func interleave(t *testing.T, c vectors.Sequence, setup setup) {
	t.Helper()
	all, cancel := context.WithCancel(t.Context())
	defer cancel() // of the calls that no step ends
	calls := map[string]*attempt{}
	cfg := setup(t, answerFunc(func(r *http.Request) (*http.Response, error) {
		a, _ := r.Context().Value(requestName{}).(*attempt)
		select {
		case a.arrived <- time.Now():
			return wire(<-a.answer, 0)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}), optionsOf(c)...)
	call := caller(t, cfg, c.Given)
	for i, step := range c.Steps {
		a := calls[step.Request]
		if a == nil {
			a = &attempt{arrived: make(chan time.Time), answer: make(chan vectors.Response), ended: make(chan error, 1)}
			calls[step.Request] = a
			ctx := context.WithValue(all, requestName{}, a)
			go func() { a.ended <- call(ctx) }()
		}
		arrived := <-a.arrived
		if a.due != nil {
			require.Equal(t, vectors.Seconds(*a.due), arrived.Sub(a.answered), "delay before step %d", i)
		}
		a.answered, a.due = time.Now(), step.Want.Delay
		a.answer <- step.Response
		synctest.Wait()
		if step.Want.Outcome != "retry" {
			require.Equal(t, step.Want.Outcome, outcomeOf(<-a.ended), "step %d", i)
			delete(calls, step.Request)
		}
		require.Equal(t, step.Want.QuotaAfter, quotaOfAny(t, cfg), "step %d", i)
	}
	requireFinalQuota(t, c, cfg)
}
