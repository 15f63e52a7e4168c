package httpretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// marked is a failure that carries the verdict, and is wrapped.
func marked(v classify.Verdict) error {
	return fmt.Errorf("base: %w", &classify.JudgedError{Verdict: v, Err: errReset})
}

func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	post := func(r *http.Request) { r.Method = http.MethodPost }
	withKey := func(r *http.Request) { post(r); r.Header.Set("Idempotency-Key", "1") }
	stream := func(r *http.Request) { r.GetBody = nil }
	failure := func(err error) scripted { return scripted{err: err} }
	status := func(status int, header ...string) scripted { return scripted{status: status, header: header} }
	for _, c := range []struct {
		name    string
		request func(r *http.Request)
		unread  bool // the base fails before it reads the body
		fails   scripted
		config  httpretry.Config
		want    int
	}{
		{name: "PUT, reset", fails: failure(errReset), want: 3},
		{name: "PUT, 500", fails: status(500), want: 3},
		{name: "PUT, 404", fails: status(404), want: 1},
		{name: "POST, reset", request: post, fails: failure(errReset), want: 1},
		{name: "POST, no connection", request: post, fails: failure(errDial), want: 3},
		{name: "POST, no connection to a proxy", request: post, fails: failure(errProxy), want: 3},
		{name: "POST, no connection through a SOCKS proxy", request: post, fails: failure(errSOCKS), want: 3},
		{name: "POST, no name for now", request: post, fails: failure(&net.DNSError{IsTemporary: true}), want: 3},
		{name: "POST, name server refuses", request: post, fails: failure(&net.DNSError{Err: "server misbehaving"}), want: 3},
		{name: "POST, no such name", request: post, fails: failure(&net.DNSError{IsNotFound: true}), want: 1},
		{name: "POST, 500", request: post, fails: status(500), want: 1},
		{name: "POST, 502", request: post, fails: status(502, "Retry-After", "1"), want: 1},
		{name: "POST, 503", request: post, fails: status(503), want: 1},
		{name: "POST, 503 with a hint", request: post, fails: status(503, "Retry-After", "1"), want: 3},
		{name: "POST, 529", request: post, fails: status(529), want: 1},
		{name: "POST, 529 with a hint", request: post, fails: status(529, "Retry-After", "1"), want: 3},
		{name: "POST, 521", request: post, fails: status(521), want: 1},
		{name: "PUT, 521", fails: status(521), want: 3},
		{name: "POST, 429", request: post, fails: status(429), want: 3},
		{name: "POST, a throttle", request: post, fails: status(400, "X-Amzn-Errortype", "Throttling"), want: 3},
		{name: "POST with a key, reset", request: withKey, fails: failure(errReset), want: 3},
		{name: "POST, reset, idempotent by config", request: post, fails: failure(errReset), want: 3, config: httpretry.Config{
			Idempotent: func(*http.Request) bool { return true },
		}},
		{name: "PUT, reset, not idempotent by config", fails: failure(errReset), want: 1, config: httpretry.Config{
			Idempotent: func(*http.Request) bool { return false },
		}},
		{name: "POST, reset, marked", request: post, fails: failure(marked(classify.RetryAs(classify.Transient))), want: 3},
		{name: "POST, reset, marked as final", request: post, fails: failure(marked(classify.Forbidden())), want: 1},
		{name: "PUT, reset, marked as final", fails: failure(marked(classify.Forbidden())), want: 1},
		{name: "POST, reset, one of two marked", request: post, want: 1, fails: failure(
			errors.Join(errReset, marked(classify.RetryAs(classify.Transient))),
		)},
		{name: "POST, reset, by a policy", request: post, fails: failure(errReset), want: 3, config: httpretry.Config{
			Policy: func(_ *http.Response, err error) error { return retry.Mark(err, classify.Transient) },
		}},
		{name: "stream, reset", request: stream, fails: failure(errReset), want: 1},
		{name: "stream, 503", request: stream, fails: status(503), want: 1},
		{name: "stream, by a policy", request: stream, fails: status(503), want: 1, config: httpretry.Config{
			Policy: func(_ *http.Response, err error) error { return retry.Mark(err, classify.Transient) },
		}},
		{name: "stream, no connection, unread", request: stream, unread: true, fails: failure(errDial), want: 3},
		{name: "stream, 503, unread", request: stream, unread: true, fails: status(503), want: 3},
		{name: "stream, POST, 503, unread", request: func(r *http.Request) { post(r); stream(r) }, unread: true, fails: status(503), want: 1},
		{name: "stream of unknown length", request: func(r *http.Request) { stream(r); r.ContentLength = 0 }, fails: status(503), want: 1},
		{name: "NoBody", request: func(r *http.Request) { r.Body = http.NoBody; stream(r) }, fails: status(503), want: 3},
		{name: "nil body", request: func(r *http.Request) { r.Body = nil; stream(r) }, fails: status(503), want: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			body := &bodyReader{Reader: strings.NewReader("body")}
			request := newRequest(t.Context(), t, http.MethodPut, "http://service/", "body")
			request.Body = body
			if c.request != nil {
				c.request(request)
			}
			bodiless := request.Body == nil || request.Body == http.NoBody
			attempts := 0
			c.config.Strategy = on(t, clk)
			c.config.Base = roundTripFunc(func(r *http.Request) (*http.Response, error) {
				attempts++
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
			transport := newTransport(t, c.config)
			clk.Run(func() { exchange(transport, request) })
			require.Equal(t, c.want, attempts)
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
	never := func(*http.Request) bool { return false }
	mark := func(_ *http.Response, err error) error { return retry.Mark(err, classify.Transient) }
	end := func(_ *http.Response, err error) error { return retry.Permanent(err) }
	for _, c := range []struct {
		name    string
		stream  bool
		base    scripted
		config  httpretry.Config
		rule    string // empty if no rule is the reason
		verdict classify.Verdict
	}{
		{name: "not idempotent, 500", base: scripted{status: 500}, rule: notIdempotent, verdict: classify.RetryAs(classify.Transient)},
		{name: "not idempotent, reset", base: scripted{err: errReset}, rule: notIdempotent, verdict: classify.RetryAs(classify.Transient)},
		{name: "not idempotent, 404", base: scripted{status: 404}},
		{name: "no body, 500", stream: true, base: scripted{status: 500}, rule: noBody, verdict: classify.RetryAs(classify.Transient)},
		{name: "no body, throttle", stream: true, base: scripted{status: 429}, rule: noBody, verdict: classify.RetryAs(classify.Throttling)},
		{name: "no body, 404", stream: true, base: scripted{status: 404}},
		{
			name: "no body, marked by a policy", stream: true, base: scripted{status: 404}, config: httpretry.Config{Policy: mark},
			rule: noBody, verdict: classify.RetryAs(classify.Transient),
		},
		{
			name: "permanent by a policy", stream: true, base: scripted{status: 500}, config: httpretry.Config{Policy: end},
			verdict: classify.Forbidden(),
		},
		{
			name: "not idempotent by config, no attempts left", base: scripted{status: 500},
			config: httpretry.Config{Idempotent: never, MaxAttempts: 1}, verdict: classify.RetryAs(classify.Transient),
		},
	} {
		for _, mode := range []string{"standard", "adaptive"} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				var events []retry.Event
				s := modes(t, standard.Config{Clock: &clock.Fake{}, Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
					if e.Kind == retry.AttemptEnded || e.Kind == retry.RetryRefused {
						events = append(events, e)
					}
				})})[mode]
				config := c.config
				config.Strategy, config.Base = s, roundTripFunc(func(r *http.Request) (*http.Response, error) {
					_, err := io.Copy(io.Discard, r.Body)
					require.NoError(t, err)
					return c.base.RoundTrip(r)
				})
				config.Operation = func(*http.Request) retry.Operation { return retry.Operation{} }
				request := newRequest(t.Context(), t, http.MethodPost, "http://service/", "body")
				if c.stream {
					request.GetBody = nil
				}
				got := exchange(newTransport(t, config), request)
				refusal := errors.Join(got.refusal, got.err) // one of them

				require.Len(t, events, 2)
				require.Equal(t, retry.AttemptEnded, events[0].Kind)
				require.Equal(t, c.verdict, events[0].Verdict)
				require.Equal(t, retry.RetryRefused, events[1].Kind)
				require.Equal(t, mode == "adaptive" && c.base.status == 429, s.Snapshot().Scopes[0].Limited)
				require.Equal(t, 500, s.Snapshot().Scopes[0].Quota)
				if c.rule == "" {
					require.NotContains(t, refusal.Error(), "not sent again")
					require.NotContains(t, events[1].Reason.Error(), "not sent again")
					return
				}
				require.ErrorIs(t, events[1].Reason, retry.ErrNotRetryable)
				require.EqualError(t, events[1].Reason, "retry: failure is not retryable: "+c.rule)
				said, ok := errors.AsType[*retry.Error](refusal)
				require.True(t, ok)
				require.ErrorIs(t, events[1].Reason, said.Detail)
				require.EqualError(t, said.Detail, c.rule)
				if c.base.err != nil {
					require.ErrorIs(t, refusal, c.base.err)
					return
				}
				last, ok := lastOf(refusal)
				require.True(t, ok)
				require.Equal(t, c.base.status, last.Status)
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
	s := modes(t, standard.Config{Clock: &clock.Fake{}})["standard"]
	attempts := 0
	transport := newTransport(t, httpretry.Config{Strategy: granting{s}, Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
		attempts++
		return scripted{status: 500}.RoundTrip(r)
	})})
	got := exchange(transport, newRequest(t.Context(), t, http.MethodPost, "http://service/", ""))
	require.Equal(t, 500, got.status)
	require.ErrorContains(t, got.refusal, "POST is not sent again")
	require.Equal(t, 1, attempts)
	require.Equal(t, 500, s.Snapshot().Scopes[1].Quota, "what the retry took is given back")
}

// TestPOSTThatHTTP2HasNotProcessedIsSentAgain has a server that says whether it has processed a request,
// behind the net/http of Go 1.26. That sends a request whose stream was refused seven times more before it
// gives up, and one before a graceful end as often as it takes.
func TestPOSTThatHTTP2HasNotProcessedIsSentAgain(t *testing.T) {
	t.Parallel()
	const (
		noError, internalError, refusedStream = 0, 2, 7

		byItself = 8 // requests of net/http in an attempt
	)
	for _, c := range []struct {
		name   string
		answer pipenet.Frame // to the first requests; none hangs up
		hangUp bool
		stream bool // the body cannot be sent again
		bad    int  // how many requests get the answer
		want   int  // how many requests there are
	}{
		{name: "refused stream", answer: pipenet.ResetStream(refusedStream), bad: byItself, want: byItself + 1},
		{name: "refused stream, no body to send again", answer: pipenet.ResetStream(refusedStream), stream: true, bad: 1, want: 1},
		{name: "end before the request with an error", answer: pipenet.GoAway(0, internalError), bad: 1, want: 2},
		{name: "end with the request", answer: pipenet.GoAway(1, noError), hangUp: true, bad: 1, want: 1},
		{name: "broken stream", answer: pipenet.ResetStream(internalError), bad: 1, want: 1},
		{name: "broken connection", hangUp: true, bad: 1, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &pipenet.HTTP2{Close: c.hangUp}
				server.Answers = func(request int) []pipenet.Frame {
					switch {
					case request > c.bad:
						return []pipenet.Frame{pipenet.OK()}
					case c.answer == nil:
						return nil
					default:
						return []pipenet.Frame{c.answer}
					}
				}
				inner := overHTTP2(t, server)
				r := newRequest(t.Context(), t, http.MethodPost, "http://service/", "body")
				if c.stream {
					r.Body, r.GetBody = io.NopCloser(strings.NewReader("body")), nil
				}
				start := time.Now()
				got := exchange(newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: inner}), r)
				require.Equal(t, c.want, server.Requests(), got.err)
				if c.want > c.bad {
					require.NoError(t, got.err)
					require.Equal(t, http.StatusOK, got.status)
					require.GreaterOrEqual(t, time.Since(start), time.Second, "the backoff of the strategy")
				} else {
					require.Error(t, got.err)
				}
			})
		})
	}
}

// overHTTP2 returns the net/http client of a server in the bubble.
func overHTTP2(t *testing.T, server *pipenet.HTTP2) *http.Transport {
	t.Helper()
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	inner := &http.Transport{Protocols: &protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go server.Serve(theirs)
		return ours, nil
	}}
	t.Cleanup(func() {
		synctest.Wait()
		inner.CloseIdleConnections()
	})
	return inner
}

// TestStreamsThatAreResetAreSentAgain: as over HTTP/1.1, unless the server blames the client.
func TestStreamsThatAreResetAreSentAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer []pipenet.Frame
		want   int
	}{
		{"an error of the server", []pipenet.Frame{pipenet.ResetStream(2)}, 3},
		{"canceled", []pipenet.Frame{pipenet.ResetStream(8)}, 3},
		{"an error of the client", []pipenet.Frame{pipenet.ResetStream(9)}, 1},
		{"in the body, which the caller reads", []pipenet.Frame{pipenet.Begun(), pipenet.ResetStream(2)}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &pipenet.HTTP2{Answers: func(int) []pipenet.Frame { return c.answer }}
				got := exchange(newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: overHTTP2(t, server)}),
					newRequest(t.Context(), t, http.MethodPut, "http://service/", "body"))
				require.Error(t, errors.Join(got.err, got.bodyErr))
				require.Equal(t, c.want, server.Requests())
			})
		})
	}
}
