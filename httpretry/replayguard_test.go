package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var (
	errDial  = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	errReset = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// marked is a failure that carries the verdict, and is wrapped.
func marked(v classify.Verdict) scripted {
	return scripted{err: fmt.Errorf("base: %w", &classify.JudgedError{Verdict: v, Err: errReset})}
}

// unopened is a base that looks for a connection and gets none.
type unopened struct{ err error }

func (u unopened) RoundTrip(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GetConn("service:80")
	return nil, u.err
}

func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	post := func(r *http.Request) { r.Method = http.MethodPost }
	withKey := func(r *http.Request) { post(r); r.Header.Set("Idempotency-Key", "1") }
	stream := func(r *http.Request) { r.GetBody = nil }
	failure := func(err error) scripted { return scripted{err: err} }
	status := func(status int, header ...string) scripted { return scripted{status: status, header: header} }
	idempotent := func(is bool) httpretry.Config {
		return httpretry.Config{Idempotent: func(*http.Request) bool { return is }}
	}
	byPolicy := httpretry.Config{Policy: func(_ *http.Response, err error) error { return retry.Mark(err, classify.Transient) }}
	again, final := classify.RetryAs(classify.Transient), classify.Forbidden()
	for _, c := range []struct {
		name    string
		request func(r *http.Request)
		unread  bool // the base fails before it reads the body
		fails   http.RoundTripper
		config  httpretry.Config
		want    int
	}{
		{name: "PUT, reset", fails: failure(errReset), want: 3},
		{name: "PUT, 500", fails: status(500), want: 3},
		{name: "PUT, 404", fails: status(404), want: 1},
		{name: "POST, reset", request: post, fails: failure(errReset), want: 1},
		{name: "POST, no connection", request: post, fails: failure(errDial), want: 3},
		{name: "POST, no connection to a proxy", request: post, fails: failure(&net.OpError{Op: "proxyconnect", Err: errDial}), want: 3},
		{name: "POST, no name for now", request: post, fails: failure(&net.DNSError{IsTemporary: true}), want: 3},
		{name: "POST, no connection, in any words", request: post, fails: unopened{errors.New("vpn: no way today")}, want: 3},
		{name: "POST, no connection, canceled", request: post, fails: unopened{context.Canceled}, want: 1},
		{name: "POST, 500", request: post, fails: status(500), want: 1},
		{name: "POST, 502", request: post, fails: status(502, "Retry-After", "1"), want: 1},
		{name: "POST, 503", request: post, fails: status(503), want: 1},
		{name: "POST, 503 with a hint", request: post, fails: status(503, "Retry-After", "1"), want: 3},
		{name: "POST, 529", request: post, fails: status(529), want: 1},
		{name: "POST, 529 with a hint", request: post, fails: status(529, "Retry-After", "1"), want: 3},
		{name: "POST, 429", request: post, fails: status(429), want: 3},
		{name: "POST with a key, reset", request: withKey, fails: failure(errReset), want: 3},
		{name: "POST, reset, idempotent by config", request: post, fails: failure(errReset), want: 3, config: idempotent(true)},
		{name: "PUT, reset, not idempotent by config", fails: failure(errReset), want: 1, config: idempotent(false)},
		{name: "POST, reset, marked", request: post, fails: marked(again), want: 3},
		{name: "POST, reset, marked as final", request: post, fails: marked(final), want: 1},
		{name: "PUT, reset, marked as final", fails: marked(final), want: 1},
		{name: "POST, reset, one of two marked", request: post, fails: failure(errors.Join(errReset, marked(again).err)), want: 1},
		{name: "POST, reset, by a policy", request: post, fails: failure(errReset), want: 3, config: byPolicy},
		{name: "stream, reset", request: stream, fails: failure(errReset), want: 1},
		{name: "stream, 503", request: stream, fails: status(503), want: 1},
		{name: "stream, by a policy", request: stream, fails: status(503), want: 1, config: byPolicy},
		{name: "stream, no connection, unread", request: stream, unread: true, fails: failure(errDial), want: 3},
		{name: "stream, 503, unread", request: stream, unread: true, fails: status(503), want: 3},
		{name: "stream, POST, 503, unread", request: func(r *http.Request) { post(r); stream(r) }, unread: true, fails: status(503), want: 1},
		{name: "stream of unknown length", request: func(r *http.Request) { stream(r); r.ContentLength = 0 }, fails: status(503), want: 1},
		{name: "NoBody", request: func(r *http.Request) { r.Body = http.NoBody; stream(r) }, fails: status(503), want: 3},
		{name: "nil body", request: func(r *http.Request) { r.Body = nil; stream(r) }, fails: status(503), want: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body := newBody("body")
			request := newRequest(t, http.MethodPut, "body")
			request.Body = body
			if c.request != nil {
				c.request(request)
			}
			bodiless := request.Body == nil || request.Body == http.NoBody
			c.config.Base = roundTripFunc(func(r *http.Request) (*http.Response, error) {
				if !c.unread && !bodiless {
					text, err := io.ReadAll(r.Body)
					require.NoError(t, err)
					require.Equal(t, "body", string(text))
				}
				if r.Body != nil {
					require.NoError(t, r.Body.Close())
				}
				return c.fails.RoundTrip(r)
			})
			require.Equal(t, c.want, try(t, c.config, request).attempts)
			if !bodiless {
				require.Equal(t, int32(1), body.closed.Load(), "the body is closed once")
			}
		})
	}
}

// A rule of the transport is a reason like any other: the strategy, its quota, its send rate
// and its observer hear of the attempt and of the refusal once.
func TestRefusalByARule(t *testing.T) {
	t.Parallel()
	const (
		notIdempotent = "httpretry: POST is not sent again: it may have been executed and is not idempotent"
		noBody        = "httpretry: POST is not sent again: its body was read and the request has no GetBody"
	)
	transient := classify.RetryAs(classify.Transient)
	for _, c := range []struct {
		name    string
		stream  bool
		base    scripted
		config  httpretry.Config
		rule    string // empty if no rule is the reason
		verdict classify.Verdict
	}{
		{name: "not idempotent, 500", base: scripted{status: 500}, rule: notIdempotent, verdict: transient},
		{name: "not idempotent, reset", base: scripted{err: errReset}, rule: notIdempotent, verdict: transient},
		{name: "not idempotent, 404", base: scripted{status: 404}},
		{name: "no body, 500", stream: true, base: scripted{status: 500}, rule: noBody, verdict: transient},
		{name: "no body, throttle", stream: true, base: scripted{status: 429}, rule: noBody, verdict: classify.RetryAs(classify.Throttling)},
		{name: "no body, 404", stream: true, base: scripted{status: 404}},
		{
			name: "no body, marked by a policy", stream: true, base: scripted{status: 404}, rule: noBody, verdict: transient,
			config: httpretry.Config{Policy: func(_ *http.Response, err error) error { return retry.Mark(err, classify.Transient) }},
		},
		{
			name: "permanent by a policy", stream: true, base: scripted{status: 500}, verdict: classify.Forbidden(),
			config: httpretry.Config{Policy: func(_ *http.Response, err error) error { return retry.Permanent(err) }},
		},
		{
			name: "not idempotent by config, no attempts left", base: scripted{status: 500}, verdict: transient,
			config: httpretry.Config{Idempotent: func(*http.Request) bool { return false }, MaxAttempts: 1},
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				var seen events
				s := modes(t, standard.Config{Clock: &clock.Fake{}, Observer: &seen})[mode]
				config := c.config
				config.Strategy, config.Base = s, roundTripFunc(func(r *http.Request) (*http.Response, error) {
					_, err := io.Copy(io.Discard, r.Body)
					require.NoError(t, err)
					return c.base.RoundTrip(r)
				})
				config.Operation = func(*http.Request) retry.Operation { return retry.Operation{} }
				request := newRequest(t, http.MethodPost, "body")
				if c.stream {
					request.GetBody = nil
				}
				got := try(t, config, request)
				refusal := errors.Join(got.refusal, got.err) // one of them
				require.Equal(t, mode == "adaptive" && c.base.status == 429, s.Snapshot().Scopes[0].Limited)
				require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
				ends := seen.of(retry.AttemptEnded, retry.RetryRefused)
				require.Len(t, ends, 2)
				require.Equal(t, c.verdict, ends[0].Verdict)
				require.Equal(t, retry.RetryRefused, ends[1].Kind)
				if c.rule == "" {
					require.NotContains(t, refusal.Error(), "not sent again")
					require.NotContains(t, ends[1].Reason.Error(), "not sent again")
					return
				}
				require.ErrorIs(t, ends[1].Reason, retry.ErrNotRetryable)
				require.EqualError(t, ends[1].Reason, "retry: failure is not retryable: "+c.rule)
				said, ok := errors.AsType[*retry.Error](refusal)
				require.True(t, ok)
				require.ErrorIs(t, ends[1].Reason, said.Detail)
				require.EqualError(t, said.Detail, c.rule)
				if c.base.err != nil {
					require.ErrorIs(t, refusal, c.base.err)
				} else {
					require.Equal(t, c.base.status, lastOf(t, refusal).Status)
				}
			})
		}
	}
}

// granting is a wrapper that hides from the strategy what it must not retry.
type granting struct{ retry.Strategy }

func (s granting) RefreshRetryToken(ctx context.Context, t retry.Token, _ error) (retry.Token, error) {
	return s.Strategy.RefreshRetryToken(ctx, t, errReset)
}

func TestRuleHoldsWhereAWrapperGrantsTheRetry(t *testing.T) {
	t.Parallel()
	s := on(t, &clock.Fake{})
	got := try(t, httpretry.Config{Strategy: granting{s}, Base: scripted{status: 500}}, newRequest(t, http.MethodPost, ""))
	require.Equal(t, 500, got.status)
	require.ErrorContains(t, got.refusal, "POST is not sent again")
	require.Equal(t, 1, got.attempts)
	require.Equal(t, 500, s.Snapshot().Scopes[1].Quota, "what the retry took is given back")
}
