package httpretry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/internal/testonly/pipenet"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestTransportFollowsTheVectors runs the sequences over HTTP. The answers are those of a service, in one of
// the three forms of error codes after the other, and the failures are those of connections.
func TestTransportFollowsTheVectors(t *testing.T) {
	t.Parallel()
	forms := [...]string{"header", "json", "xml"}
	for title, file := range vectors.Load[vectors.Standard](t, "..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for i, c := range file.Sequences {
			form := forms[i%len(forms)]
			t.Run(fmt.Sprintf("%s/%s/%s", title, c.ID, form), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { newPlayer(t, c, form).run(t) })
			})
		}
	}
}

// player sends the requests of a vector, each of whose steps is an attempt.
type player struct {
	vector   vectors.Sequence
	form     string
	strategy retry.Strategy
	network  *pipenet.Network
	inner    *http.Transport
	client   *http.Client
	cancel   context.CancelFunc // ends the present request
	played   int                // how many steps have had their attempt
	since    time.Time          // when the last attempt ended
}

func newPlayer(t *testing.T, c vectors.Sequence, form string) *player {
	t.Helper()
	s, err := standard.New(standard.Config{
		Behavior:      retry.Behavior(c.Behavior),
		Service:       c.Given.Service,
		MaxAttempts:   c.Given.Attempts(),
		QuotaCapacity: c.Given.Capacity(),
		QuotaInitial:  c.Given.InitialQuota,
		MaxBackoff:    vectors.Seconds(c.Given.MaxBackoff),
		Random:        func() float64 { return c.Given.Jitter },
	})
	require.NoError(t, err)
	p := &player{vector: c, form: form, strategy: s}
	p.network = serve(t, http.HandlerFunc(p.serve))
	p.inner = p.network.Transport()
	p.inner.ResponseHeaderTimeout = time.Second
	p.inner.DisableKeepAlives = true // each attempt dials, so that each can be refused
	p.client = &http.Client{Transport: newTransport(t, httpretry.Config{
		Strategy: s,
		Base:     roundTripFunc(func(r *http.Request) (*http.Response, error) { return p.attempt(t, r) }),
		Operation: func(*http.Request) retry.Operation {
			return retry.Operation{LongPolling: c.Given.LongPolling}
		},
		Policy: func(response *http.Response, err error) error {
			if response != nil && response.Header.Get("X-Kind") == "clock_skew" {
				return retry.Mark(err, classify.ClockSkew)
			}
			return err
		},
	})}
	return p
}

// attempt tells the service what to answer.
func (p *player) attempt(t *testing.T, r *http.Request) (*http.Response, error) {
	t.Helper()
	if attempt, _ := retry.AttemptFrom(r.Context()); attempt.Number > 1 {
		require.Equal(t, "retry", p.vector.Steps[p.played-1].Want.Outcome, "outcome of step %d", p.played-1)
		p.requireAfterStep(t)
	}
	if p.played == len(p.vector.Steps) { // the last step wants a retry
		p.cancel()
		return nil, r.Context().Err()
	}
	response := p.vector.Steps[p.played].Response
	p.played++
	defer func() { p.since = time.Now() }()
	if response.Kind == "connect" {
		p.network.Refuse()
	}
	text, err := json.Marshal(response)
	require.NoError(t, err)
	r = r.Clone(r.Context())
	r.Header.Set("X-Answer", string(text))
	return p.inner.RoundTrip(r)
}

// requireAfterStep checks the sleep after the last step, which has ended, and the quota.
func (p *player) requireAfterStep(t *testing.T) {
	t.Helper()
	want := p.vector.Steps[p.played-1].Want
	var delay time.Duration
	if want.Delay != nil {
		delay = vectors.Seconds(*want.Delay)
	}
	require.Equal(t, delay, time.Since(p.since), "delay after step %d", p.played-1)
	require.Equal(t, want.QuotaAfter, p.strategy.Snapshot().Scopes[0].Quota, "quota after step %d", p.played-1)
}

// serve answers as the attempt asks.
func (p *player) serve(w http.ResponseWriter, r *http.Request) {
	var want vectors.Response
	if err := json.Unmarshal([]byte(r.Header.Get("X-Answer")), &want); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not see that the client has gone
	if want.Kind == "timeout" {
		<-r.Context().Done()
		return
	}
	for name, value := range want.Headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("X-Kind", want.Kind)
	body := "fine"
	switch {
	case want.ErrorCode == "":
	case p.form == "header":
		w.Header().Set("X-Amzn-Errortype", want.ErrorCode+":http://internal.amazon.com/coral/")
	case p.form == "json":
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		body = fmt.Sprintf(`{"__type":"com.amazonaws.test#%s","message":"no"}`, want.ErrorCode)
	default:
		w.Header().Set("Content-Type", "text/xml")
		body = fmt.Sprintf(`<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code></Error></ErrorResponse>`, want.ErrorCode)
	}
	w.WriteHeader(want.Status)
	_, _ = io.WriteString(w, body)
}

func (p *player) run(t *testing.T) {
	t.Helper()
	for p.played < len(p.vector.Steps) {
		ctx, cancel := context.WithCancel(t.Context())
		p.cancel = cancel
		p.requireEnd(t, exchange(roundTripFunc(p.client.Do), newRequest(ctx, t, http.MethodPut, "http://service/", "request")))
		cancel()
	}
	if p.vector.FinalQuota != nil {
		require.Equal(t, *p.vector.FinalQuota, p.strategy.Snapshot().Scopes[0].Quota)
	}
}

// requireEnd checks what the client got.
func (p *player) requireEnd(t *testing.T, got reply) {
	t.Helper()
	step := p.vector.Steps[p.played-1]
	if step.Want.Outcome == "retry" { // and the vector ends before it
		require.ErrorIs(t, got.err, context.Canceled)
		return
	}
	p.requireAfterStep(t)
	if step.Response.Status == 0 {
		require.Equal(t, step.Want.Outcome, outcomeOf(got.err), "step %d", p.played-1)
		return
	}
	require.NoError(t, got.err, "step %d", p.played-1)
	require.Equal(t, step.Response.Status, got.status)
	require.NoError(t, got.bodyErr)
	require.NotEmpty(t, got.body)
	require.Equal(t, step.Want.Outcome, outcomeOf(got.refusal), "step %d", p.played-1)
}

// outcomeOf names the outcome as the vectors do.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "success"
	case errors.Is(err, retry.ErrAttemptsExhausted):
		return "max_attempts_exceeded"
	case errors.Is(err, retry.ErrQuotaExhausted):
		return "quota_exceeded"
	}
	if _, bare := err.(*httpretry.ResponseError); bare { //nolint:errorlint // a failure that is not retryable is not wrapped
		return "not_retryable"
	}
	return err.Error()
}

// TestTransportFollowsTheVectorsOfHintsInFull has a service that answers every request alike.
func TestTransportFollowsTheVectorsOfHintsInFull(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for _, c := range file.FullHints {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var events []retry.Event
					s, err := standard.New(standard.Config{
						Behavior:   retry.Behavior(c.Behavior),
						MaxHint:    vectors.Seconds(c.Given.MaxHint),
						MaxElapsed: vectors.Seconds(c.Given.MaxElapsed),
						Random:     func() float64 { return c.Given.Jitter },
						Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
							if e.Kind == retry.RetryScheduled || e.Kind == retry.RetryRefused {
								events = append(events, e)
							}
						}),
					})
					require.NoError(t, err)
					ctx := t.Context()
					if c.Given.Deadline > 0 {
						limited, cancel := context.WithTimeout(ctx, vectors.Seconds(c.Given.Deadline))
						defer cancel()
						ctx = limited
					}
					var header []string
					for name, value := range c.Given.Headers {
						header = append(header, name, value)
					}
					start := time.Now()
					got := exchange(newTransport(t, httpretry.Config{
						Strategy: s, MaxAttempts: 2, Base: scripted{status: c.Given.Status, body: "body", header: header},
					}), newRequest(ctx, t, http.MethodGet, "http://service/", ""))
					require.NoError(t, got.err)
					require.Equal(t, c.Given.Status, got.status)
					require.Equal(t, "body", got.body)
					require.Equal(t, vectors.Seconds(c.Want.Delay), time.Since(start))
					require.NotEmpty(t, events)
					if c.Want.Outcome == "retry" {
						require.Equal(t, retry.RetryScheduled, events[0].Kind)
						require.Equal(t, vectors.Seconds(c.Want.Delay), events[0].Delay)
						return
					}
					require.Len(t, events, 1)
					require.Equal(t, c.Want.Outcome, events[0].Outcome())
					refusal, ok := errors.AsType[*retry.Error](got.refusal)
					require.Equal(t, c.Want.Outcome != "not_retryable", ok)
					if ok {
						require.Positive(t, refusal.Hint)
						require.ErrorContains(t, refusal, refusal.Hint.String()+" asked for by the server")
					}
				})
			})
		}
	}
}
