package sdktest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
)

// impatient is how long an attempt may take. A slow machine needs more attempts than the two that the
// tests are about, and pauses between them.
const (
	impatient    = 25 * time.Millisecond
	maxBackoff   = time.Second
	manyAttempts = 200
)

// stalling starts a service that never ends the first answer of a call.
func stalling(t *testing.T, inBody bool) (endpoint string, stalled *atomic.Int32) {
	t.Helper()
	stalled = new(atomic.Int32)
	endpoint = serving(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see that the client has gone
		stalls := strings.Contains(r.Header.Get("Amz-Sdk-Request"), "attempt=1;")
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if stalls && inBody {
			_, _ = io.WriteString(w, `{"Table":`)
			_ = http.NewResponseController(w).Flush()
		}
		if stalls {
			stalled.Add(1)
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, `{"Table":{"TableName":"orders"}}`)
	})
	return endpoint, stalled
}

// retryers make configs with the retryer of the SDK and with ours, all without a retry quota.
func retryers() map[string]func(t *testing.T, client aws.HTTPClient) aws.Config {
	ours := hermetic(awsretry.WithMaxAttempts(manyAttempts), awsretry.WithConfig(adaptive.Config{
		Standard: standard.Config{NoQuota: true, MaxBackoff: maxBackoff},
	}))
	return map[string]func(t *testing.T, client aws.HTTPClient) aws.Config{
		"SDK": func(_ *testing.T, client aws.HTTPClient) aws.Config {
			cfg := configFor(client)
			cfg.Retryer = func() aws.Retryer {
				return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
					o.MaxAttempts, o.RateLimiter, o.MaxBackoff = manyAttempts, ratelimit.None, maxBackoff
				})
			}
			return cfg
		},
		"Install": func(t *testing.T, client aws.HTTPClient) aws.Config {
			t.Helper()
			return installed(t, client, ours)
		},
	}
}

// roundTrip is a transport of the user's own.
type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// cancelBody ends the context of an attempt with its body.
type cancelBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b cancelBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// limited is a transport with a context of its own for each attempt.
func limited(base http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithTimeout(r.Context(), impatient)
		response, err := base.RoundTrip(r.WithContext(ctx))
		if err != nil {
			cancel()
			return nil, err
		}
		response.Body = cancelBody{response.Body, cancel}
		return response, nil
	})
}

// TestStalledAttemptsAreRetriedAsByTheSDK has the ways to limit an attempt. The error of a timeout of
// net/http is the bare context.DeadlineExceeded if a context wins a race there, hence so many calls.
func TestStalledAttemptsAreRetriedAsByTheSDK(t *testing.T) {
	const calls, workers = 100, 20
	for name, newClient := range map[string]func(transport *http.Transport) aws.HTTPClient{
		"BuildableClient.WithTimeout": func(*http.Transport) aws.HTTPClient {
			return awshttp.NewBuildableClient().WithTimeout(impatient)
		},
		"http.Client.Timeout": func(transport *http.Transport) aws.HTTPClient {
			return &http.Client{Timeout: impatient, Transport: roundTrip(transport.RoundTrip)}
		},
		"a context for each attempt": func(transport *http.Transport) aws.HTTPClient {
			return &http.Client{Transport: limited(transport)}
		},
	} {
		for where, inBody := range map[string]bool{"before the headers": false, "in the body": true} {
			for whose, config := range retryers() {
				t.Run(name+"/"+where+"/"+whose, func(t *testing.T) {
					transport := &http.Transport{MaxIdleConnsPerHost: workers}
					defer transport.CloseIdleConnections()
					endpoint, stalls := stalling(t, inBody)
					cfg := config(t, newClient(transport))
					cfg.BaseEndpoint = &endpoint
					client, table := dynamodb.NewFromConfig(cfg), &dynamodb.DescribeTableInput{TableName: aws.String("orders")}
					errs := make([]error, workers)
					var all sync.WaitGroup
					for i := range workers {
						all.Go(func() {
							for range calls / workers {
								_, err := client.DescribeTable(t.Context(), table)
								errs[i] = errors.Join(errs[i], err)
							}
						})
					}
					all.Wait()
					require.NoError(t, errors.Join(errs...))
					require.NotZero(t, stalls.Load())
				})
			}
		}
	}
}

// stalled answers a request only when the context of its attempt ends.
func stalled(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// cut begins an answer that goes on only when the context of its attempt ends.
func cut(r *http.Request) (*http.Response, error) {
	answer := response(200, "")
	answer.Body, answer.ContentLength = io.NopCloser(readerFunc(func([]byte) (int, error) {
		<-r.Context().Done()
		return 0, r.Context().Err()
	})), -1
	return answer, nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestTheDeadlineOfTheCallIsNoTimeoutOfAnAttempt has stalls that only the caller's deadline ends.
func TestTheDeadlineOfTheCallIsNoTimeoutOfAnAttempt(t *testing.T) {
	for where, stall := range map[string]answerFunc{"before the headers": stalled, "in the body": cut} {
		for whose, config := range retryers() {
			t.Run(where+"/"+whose, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newScript(fail(503, ""), stall, say(200, "{}"))
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					began := time.Now()
					err := describeWith(ctx, config(t, s))
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.Equal(t, time.Second, time.Since(began))
					require.Equal(t, 2, s.requests())
					require.Equal(t, whose == "Install", strings.Contains(err.Error(), "503"), "%v", err)
				})
			})
		}
	}
}

// limitAttempts adds a middleware between the loop and everything below that gives each attempt a
// context of its own.
func limitAttempts(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("limit", func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			ctx, cancel := context.WithTimeout(ctx, impatient)
			defer cancel()
			return next.HandleFinalize(ctx, in)
		}), "Retry", middleware.After)
	})
}

// TestALimitOfAMiddlewareIsNotTheCallers: before the headers the SDK says that the caller has canceled
// the request, which is final for it and for us. In the body it does not.
func TestALimitOfAMiddlewareIsNotTheCallers(t *testing.T) {
	for whose, config := range retryers() {
		t.Run(whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				final := newScript(stalled, say(200, "{}"))
				require.ErrorIs(t, describe(t, config(t, final), limitAttempts), context.DeadlineExceeded)
				require.Equal(t, 1, final.requests())
				retried := newScript(cut, say(200, "{}"))
				require.NoError(t, describe(t, config(t, retried), limitAttempts))
				require.Equal(t, 2, retried.requests())
			})
		})
	}
}
