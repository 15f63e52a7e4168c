package sdktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/bubble"
	"github.com/awsretry/awsretry/retry"
)

// growing is the timeout that the guide for S3 asks for.
var growing = retry.FixedTimeout{First: 2 * time.Second, Factor: 2}

// after answers when some time has passed.
func after(d time.Duration, answer answerFunc) answerFunc {
	return func(r *http.Request) (*http.Response, error) {
		if err := (clock.System{}).Sleep(r.Context(), d); err != nil {
			return nil, err
		}
		return answer(r)
	}
}

// learned returns a timeout of three times the 90th percentile.
func learned(t *testing.T) *retry.LearnedTimeout {
	t.Helper()
	timeout, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: 10 * time.Millisecond, Ceiling: 10 * time.Second})
	require.NoError(t, err)
	return timeout
}

// body gives its parts one after the other, with a pause before each, as long as its context lives.
type body struct {
	ctx    context.Context //nolint:containedctx // as that of net/http
	pauses []time.Duration
	closed bool
}

func (b *body) Read(p []byte) (int, error) {
	if len(b.pauses) == 0 {
		return 0, io.EOF
	}
	if err := (clock.System{}).Sleep(b.ctx, b.pauses[0]); err != nil {
		return 0, err
	}
	b.pauses = b.pauses[1:]
	return copy(p, "x"), nil
}

func (b *body) Close() error { b.closed = true; return nil }

func TestBodyThatIsHandedToTheCallerIsNeverCut(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, b io.ReadCloser){
		"read to its end": func(t *testing.T, b io.ReadCloser) {
			t.Helper()
			text, err := io.ReadAll(b)
			require.NoError(t, err)
			require.Equal(t, "xx", string(text))
		},
		"closed early": func(t *testing.T, b io.ReadCloser) {
			t.Helper()
			require.NoError(t, b.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent *http.Request
				client := answerFunc(func(r *http.Request) (*http.Response, error) {
					sent = r
					answer := response(200, "")
					answer.Body, answer.ContentLength = &body{ctx: r.Context(), pauses: []time.Duration{time.Hour, time.Hour}}, 2
					return answer, nil
				})
				cfg := installed(t, client, hermetic(), awssdk.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
				out, err := s3.NewFromConfig(cfg).GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
				require.NoError(t, err)
				require.NoError(t, sent.Context().Err())
				end(t, out.Body)
				require.Error(t, sent.Context().Err(), "the context of the attempt is released")
			})
		})
	}
}

// upload is a body that cannot be rewound, with pauses.
type upload struct {
	pauses []time.Duration
}

func (u *upload) Read(p []byte) (int, error) {
	if len(u.pauses) == 0 {
		return 0, io.EOF
	}
	pause(u.pauses[0])
	u.pauses = u.pauses[1:]
	return copy(p, "x"), nil
}

// TestTimeOfAnUploadCountsFromItsLastPart sends bodies of four parts.
func TestTimeOfAnUploadCountsFromItsLastPart(t *testing.T) {
	const limit = time.Second
	parts := func(d time.Duration) []time.Duration { return []time.Duration{d, d, d, d} }
	for name, c := range map[string]struct {
		body   []time.Duration
		answer time.Duration
		took   time.Duration
		late   bool
	}{
		"slow, but it gets on":      {parts(900 * time.Millisecond), 900 * time.Millisecond, 4500 * time.Millisecond, false},
		"the answer is late":        {parts(900 * time.Millisecond), 1100 * time.Millisecond, 4600 * time.Millisecond, true},
		"the connection stops":      {parts(900 * time.Millisecond)[:2], -1, 2800 * time.Millisecond, true},
		"the connection takes none": {nil, -1, time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := answerFunc(func(r *http.Request) (*http.Response, error) {
					part := make([]byte, 1)
					for range c.body {
						if _, err := r.Body.Read(part); err != nil {
							return nil, err
						}
					}
					if c.answer < 0 {
						return hangs(r)
					}
					_, _ = io.Copy(io.Discard, r.Body)
					return after(c.answer, say(200, ""))(r)
				})
				cfg := installed(t, client, hermetic(awsretry.WithMaxAttempts(1)), awssdk.WithAttemptTimeout(retry.FixedTimeout{First: limit}))
				began := time.Now()
				err := put(t.Context(), cfg, &upload{parts(900 * time.Millisecond)}, 4)
				_, late := errors.AsType[*retry.AttemptTimeoutError](err)
				require.Equal(t, c.late, late, "%v", err)
				if !c.late {
					require.NoError(t, err)
				}
				require.Equal(t, c.took, time.Since(began).Round(time.Millisecond))
			})
		})
	}
}

// TestUploadThatWaitsInTheKernelIsSentOnce has a connection that takes all of a body at once and sends it at a
// steady rate, so that nothing is seen of it until the answer comes.
func TestUploadThatWaitsInTheKernelIsSentOnce(t *testing.T) {
	put := func(t *testing.T, cfg aws.Config, size int) error {
		t.Helper()
		_, err := s3.NewFromConfig(cfg).PutObject(t.Context(), &s3.PutObjectInput{
			Bucket: aws.String("b"), Key: aws.String("k"), Body: strings.NewReader(strings.Repeat("x", size)),
		})
		return err
	}
	for name, config := range map[string]func(t *testing.T, client aws.HTTPClient) aws.Config{
		"SDK": func(_ *testing.T, client aws.HTTPClient) aws.Config { return configFor(client) },
		"fixed": func(t *testing.T, client aws.HTTPClient) aws.Config {
			t.Helper()
			return installed(t, client, hermetic(), awssdk.WithAttemptTimeout(growing))
		},
		"learned": func(t *testing.T, client aws.HTTPClient) aws.Config {
			t.Helper()
			return installed(t, client, hermetic(), awssdk.WithAttemptTimeout(learned(t)))
		},
	} {
		for _, rate := range []int{130, 250, 1000} { // KiB a second
			t.Run(fmt.Sprintf("%s, %d KiB/s", name, rate), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					requests := 0
					cfg := config(t, answerFunc(func(r *http.Request) (*http.Response, error) {
						requests++
						size, err := io.Copy(io.Discard, r.Body)
						if err != nil {
							return nil, err
						}
						return after(50*time.Millisecond+time.Duration(size)*time.Second/time.Duration(rate<<10), say(200, ""))(r)
					}))
					for range 50 {
						require.NoError(t, put(t, cfg, 1<<10))
					}
					require.NoError(t, put(t, cfg, 5<<20))
					require.Equal(t, 51, requests)
				})
			})
		}
	}
}

// TestLearnedTimeoutFailsNoCallOfTheSDK has calls of 10 ms, and then some of 45 ms, which is over the timeout. Each
// succeeds with the SDK alone. What else may keep a retry from being made is in the tests of retry and in the promises.
func TestLearnedTimeoutFailsNoCallOfTheSDK(t *testing.T) {
	for name, c := range map[string]struct {
		around func(ours aws.Retryer) aws.Retryer
		ended  bool
	}{
		"ours":                                 {func(ours aws.Retryer) aws.Retryer { return ours }, true},
		"a retryer of the program around ours": {func(ours aws.Retryer) aws.Retryer { return veto{v2(ours), false} }, false},
		"a retryer of the SDK around ours": {func(ours aws.Retryer) aws.Retryer {
			return sdkretry.AddWithErrorCodes(ours, "Weird")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				takes, requests := 10*time.Millisecond, 0
				cfg := installed(t, answerFunc(func(r *http.Request) (*http.Response, error) {
					requests++
					return after(takes, say(200, "{}"))(r)
				}), hermetic(noBackoff()), awssdk.WithAttemptTimeout(learned(t)))
				own := cfg.Retryer
				cfg.Retryer = func() aws.Retryer { return c.around(own()) }
				call := func(n int) {
					for range n {
						require.NoError(t, describe(t, cfg))
						pause(time.Second)
					}
				}
				call(100)
				takes, requests = 45*time.Millisecond, 0
				call(10)
				require.Equal(t, c.ended, requests > 10, requests)
			})
		})
	}
}

// TestLearnedTimeoutFailsCallsBeyondItsCeiling has 100 calls whose answers take 3 s. None fails with the SDK.
func TestLearnedTimeoutFailsCallsBeyondItsCeiling(t *testing.T) {
	for ceiling, failures := range map[time.Duration]int{2 * time.Second: 100, 4 * time.Second: 0} {
		synctest.Test(t, func(t *testing.T) {
			timeout, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: time.Millisecond, Ceiling: ceiling})
			require.NoError(t, err)
			cfg := installed(t, after(3*time.Second, say(200, "{}")), hermetic(), awssdk.WithAttemptTimeout(timeout))
			failed := 0
			for range 100 {
				if describe(t, cfg) != nil {
					failed++
				}
			}
			require.Equal(t, failures, failed, ceiling)
		})
	}
}

// TestTimeoutCostsNoGoroutine counts them during the exchange.
func TestTimeoutCostsNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := func(opts ...awssdk.Option) (n int) {
			client := answerFunc(func(*http.Request) (*http.Response, error) {
				synctest.Wait()
				n = bubble.Goroutines()
				return response(200, "{}"), nil
			})
			require.NoError(t, describe(t, installed(t, client, append(opts, hermetic())...)))
			return n
		}
		require.Equal(t, count(), count(awssdk.WithAttemptTimeout(growing)))
	})
}

func TestTimeoutHoldsForClientsOfTheConfigAndForNoOthers(t *testing.T) {
	slow := after(3*time.Second, say(200, "{}"))
	limited := func(t *testing.T, opts ...awssdk.Option) (*script, aws.Config) {
		t.Helper()
		s := newScript(slow)
		return s, installed(t, s, append(opts, hermetic(noBackoff()), awssdk.WithAttemptTimeout(growing))...)
	}
	for name, c := range map[string]struct {
		change   func(t *testing.T, cfg *aws.Config)
		requests int
	}{
		"a client of the config": {func(*testing.T, *aws.Config) {}, 2},
		"a retryer of its own": {func(_ *testing.T, cfg *aws.Config) {
			cfg.Retryer = func() aws.Retryer { return sdkretry.NewStandard() }
		}, 1},
		"installed again without": {func(t *testing.T, cfg *aws.Config) {
			t.Helper()
			require.NoError(t, awssdk.Install(cfg, hermetic()))
		}, 1},
		"installed again with another": {func(t *testing.T, cfg *aws.Config) {
			t.Helper()
			require.NoError(t, awssdk.Install(cfg, hermetic(), awssdk.WithAttemptTimeout(retry.FixedTimeout{First: time.Minute})))
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, cfg := limited(t)
				c.change(t, &cfg)
				require.NoError(t, describe(t, cfg))
				require.Equal(t, c.requests, s.requests())
			})
		})
	}
}

// TestTimeoutOfACallIsNotThatOfCallsInside: an attempt makes a call of another client of the config, whose loop was taken out or
// replaced.
func TestTimeoutOfACallIsNotThatOfCallsInside(t *testing.T) {
	for name, change := range map[string]func(stack *middleware.Stack) error{
		"no loop": noLoop,
		"another loop": func(stack *middleware.Stack) error {
			loop := sdkretry.NewAttemptMiddleware(sdkretry.NewStandard(), smithyhttp.RequestCloner)
			_, err := stack.Finalize.Swap(loop.ID(), loop)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(after(3*time.Second, say(200, "{}")))
				cfg := installed(t, newScript(say(200, "{}")), hermetic(), awssdk.WithAttemptTimeout(growing))
				inside := sqs.NewFromConfig(cfg, func(o *sqs.Options) {
					o.HTTPClient, o.APIOptions = s, append(o.APIOptions, change)
				})
				client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
					o.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
						_, err := inside.ListQueues(ctx, &sqs.ListQueuesInput{})
						return aws.Credentials{AccessKeyID: "ID", SecretAccessKey: "SECRET"}, err
					})
				})
				_, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{})
				require.NoError(t, err)
				require.Equal(t, 1, s.requests())
			})
		})
	}
}

func TestTimeoutOfTheSDKOutOfRange(t *testing.T) {
	bad := awssdk.WithAttemptTimeout(retry.FixedTimeout{First: -1})
	const want = "awssdk: WithAttemptTimeout: retry: FixedTimeout.First -1ns: must be more than zero"
	cfg := configFor(newScript(hangs))
	require.EqualError(t, awssdk.Install(&cfg, bad), want)
	require.Nil(t, cfg.Retryer)
	_, err := awssdk.LoadDefaultConfig(t.Context(), bad)
	require.EqualError(t, err, want)
	require.NoError(t, awssdk.Install(&cfg, hermetic(), awssdk.WithAttemptTimeout(nil)))

	s := newScript(hangs)
	cfg = installed(t, s, hermetic(), awssdk.WithAttemptTimeout(retry.TimeoutFunc(func(retry.Operation) retry.AttemptTimeout {
		return retry.FixedTimeout{First: -1}
	})))
	require.ErrorContains(t, describe(t, cfg), `awssdk: WithAttemptTimeout: retry: TimeoutFunc for "DescribeTable" in scope `+
		`"dynamodb/eu-central-1": FixedTimeout.First -1ns: must be more than zero`)
	require.Zero(t, s.requests())
	require.Len(t, strategyOf(t, cfg).Snapshot().Scopes, 1, "no operation has begun")
}
