package httpretry_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	require.NoError(t, httpretry.Refusal(nil))
	require.NoError(t, httpretry.Refusal(&http.Response{}))
	require.NoError(t, httpretry.Refusal(&http.Response{Request: newRequest(t.Context(), t, http.MethodGet, "http://x/", "")}))
	for _, c := range []struct {
		status   int
		attempts int
		post     bool
		gaveUp   bool
		want     string
	}{
		{status: 200},
		{status: 304},
		{status: 404, want: "httpretry: status 404 Not Found"},
		{status: 404, post: true, want: "httpretry: status 404 Not Found"},
		{status: 501, want: "httpretry: status 501 Not Implemented"},
		{
			status: 503, attempts: 1, gaveUp: true,
			want: "retry: client-side: attempts exhausted: last error: httpretry: status 503 Service Unavailable (1 attempt of 1)",
		},
		{
			status: 500, post: true, gaveUp: true,
			want: "retry: client-side: failure is not retryable: httpretry: POST is not sent again: it may have been executed" +
				" and is not idempotent: last error: httpretry: status 500 Internal Server Error (1 attempt)",
		},
	} {
		for _, asError := range []bool{false, true} {
			transport := newTransport(t, httpretry.Config{
				Strategy: on(t, &clock.Fake{}), MaxAttempts: c.attempts, RefusalAsError: asError,
				Operation: func(*http.Request) retry.Operation { return retry.Operation{} },
				Base:      scripted{status: c.status, body: "body"},
			})
			method := http.MethodGet
			if c.post {
				method = http.MethodPost
			}
			got := exchange(transport, newRequest(t.Context(), t, method, "http://service/", ""))
			if asError && c.gaveUp {
				require.EqualError(t, got.err, c.want)
				continue
			}
			require.NoError(t, got.err)
			require.Equal(t, "body", got.body)
			if c.want == "" {
				require.NoError(t, got.refusal)
			} else {
				require.EqualError(t, got.refusal, c.want)
			}
		}
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
