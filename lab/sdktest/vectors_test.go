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

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/adaptive"
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
	mark := func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		op.LongPolling = c.Given.LongPolling
		return op
	}
	config := adaptive.Config{Standard: play.Config(c.Behavior, c.Given)}
	return []awssdk.Option{hermetic(awsretry.WithConfig(config)), awssdk.WithOperation(mark)}
}

func outcomeOf(err error) string {
	if _, exhausted := errors.AsType[*sdkretry.MaxAttemptsError](err); exhausted {
		return "max_attempts_exceeded"
	}
	return play.Outcome(err)
}

func TestClientsFollowTheVectors(t *testing.T) {
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.Sequences {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { follow(t, c) })
			})
		}
	}
}

// follow makes one call after the other until the steps of the vector end.
func follow(t *testing.T, c vectors.Sequence) {
	t.Helper()
	var attempt func(func(vectors.Response)) // of the present call
	n := 0
	cfg := installed(t, answerFunc(func(*http.Request) (response *http.Response, err error) {
		attempt(func(r vectors.Response) {
			n++
			response, err = wire(r, n) //nolint:bodyclose // the client closes it
		})
		return response, err
	}), optionsOf(c)...)
	call := caller(t, cfg, c.Given)
	play.Sequence(t, c, func() int { return quotaOfAny(t, cfg) }, func(next func(func(vectors.Response))) string {
		attempt = next
		return outcomeOf(call(t.Context()))
	})
}

func TestClientsAtTheSameTimeFollowTheVectors(t *testing.T) {
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.Concurrent {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { interleave(t, c) })
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
func interleave(t *testing.T, c vectors.Sequence) {
	t.Helper()
	all, cancel := context.WithCancel(t.Context())
	defer cancel() // of the calls that no step ends
	calls := map[string]*attempt{}
	cfg := installed(t, answerFunc(func(r *http.Request) (*http.Response, error) {
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
	if c.FinalQuota != nil {
		require.Equal(t, *c.FinalQuota, quotaOfAny(t, cfg))
	}
}
