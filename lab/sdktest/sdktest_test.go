package sdktest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/clock"
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
		awsretry.WithEnv(func(name string) (string, bool) { return "/nowhere", name == "HOME" }),
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

// retryerOnly returns a config like configFor, with a strategy and without middlewares.
func retryerOnly(t *testing.T, client aws.HTTPClient, opts ...awssdk.Option) aws.Config {
	t.Helper()
	cfg := configFor(client)
	retryer, err := awssdk.Load(t.Context(), opts...)
	require.NoError(t, err)
	cfg.Retryer = retryer
	return cfg
}

// setup makes a config whose clients have a strategy.
type setup func(t *testing.T, client aws.HTTPClient, opts ...awssdk.Option) aws.Config

// bothWays runs a test in virtual time, with the middlewares and without.
func bothWays(t *testing.T, test func(t *testing.T, setup setup)) {
	t.Helper()
	t.Run("Install", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, installed) })
	})
	t.Run("Load", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, retryerOnly) })
	})
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

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// bodyOf reads the body of a request.
func bodyOf(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}
	return string(body)
}
