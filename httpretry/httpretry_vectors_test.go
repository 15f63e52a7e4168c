package httpretry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/internal/testonly/vectors"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestTransportFollowsTheVectors runs the sequences over HTTP. The answers are those of a service, in one of
// the three forms of error codes after the other, and the failures are those of connections.
func TestTransportFollowsTheVectors(t *testing.T) {
	t.Parallel()
	forms := [...]string{"header", "json", "xml"}
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for i, c := range file.Sequences {
			form := forms[i%len(forms)]
			t.Run(fmt.Sprintf("%s/%s/%s", title, c.ID, form), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { sendThrough(t, c, form) })
			})
		}
	}
}

// sendThrough sends the requests of a sequence, each of whose steps is an attempt.
func sendThrough(t *testing.T, c vectors.Sequence, form string) {
	t.Helper()
	s, err := standard.New(play.Config(c.Behavior, c.Given))
	require.NoError(t, err)
	network := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answerAsAsked(w, r, form) }))
	inner := network.Transport()
	inner.ResponseHeaderTimeout = time.Second
	inner.DisableKeepAlives = true // each attempt dials, so that each can be refused
	send := func(r *http.Request, want vectors.Response) (*http.Response, error) {
		if want.Kind == "connect" {
			network.Refuse()
		}
		text, err := json.Marshal(want)
		require.NoError(t, err)
		r = r.Clone(r.Context())
		r.Header.Set("X-Answer", string(text))
		return inner.RoundTrip(r)
	}
	play.Sequence(t, c, func() int { return s.Snapshot().Scopes[0].Quota }, func(attempt func(func(vectors.Response))) string {
		var last vectors.Response
		client := &http.Client{Transport: newTransport(t, httpretry.Config{
			Strategy: s,
			Base: roundTripFunc(func(r *http.Request) (response *http.Response, err error) {
				attempt(func(want vectors.Response) {
					last = want
					response, err = send(r, want) //nolint:bodyclose // the client closes it
				})
				return response, err
			}),
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
		got := exchange(roundTripFunc(client.Do), newRequest(t, http.MethodPut, "request"))
		if last.Status == 0 {
			return play.Outcome(got.err)
		}
		require.NoError(t, got.err)
		require.Equal(t, last.Status, got.status)
		require.NoError(t, got.bodyErr)
		require.NotEmpty(t, got.body)
		outcome := play.Outcome(got.refusal)
		if outcome == "not_retryable" {
			_, ok := got.refusal.(*httpretry.ResponseError) //nolint:errorlint // not in another error
			require.True(t, ok)
		}
		return outcome
	})
}

// answerAsAsked answers what the request asks for.
func answerAsAsked(w http.ResponseWriter, r *http.Request, form string) {
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
	case form == "header":
		w.Header().Set("X-Amzn-Errortype", want.ErrorCode+":http://internal.amazon.com/coral/")
	case form == "json":
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		body = fmt.Sprintf(`{"__type":"com.amazonaws.test#%s","message":"no"}`, want.ErrorCode)
	default:
		w.Header().Set("Content-Type", "text/xml")
		body = fmt.Sprintf(`<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code></Error></ErrorResponse>`, want.ErrorCode)
	}
	w.WriteHeader(want.Status)
	_, _ = io.WriteString(w, body)
}

// TestTransportFollowsTheVectorsOfHintsInFull has a service that answers every request alike.
func TestTransportFollowsTheVectorsOfHintsInFull(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "standard.json") {
		for _, c := range file.FullHints {
			t.Run(title+"/"+c.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var seen events
					s, err := standard.New(standard.Config{
						Behavior:   retry.Behavior(c.Behavior),
						MaxHint:    vectors.Seconds(c.Given.MaxHint),
						MaxElapsed: vectors.Seconds(c.Given.MaxElapsed),
						Random:     func() float64 { return c.Given.Jitter },
						Observer:   &seen,
					})
					require.NoError(t, err)
					request := newRequest(t, http.MethodGet, "")
					if c.Given.Deadline > 0 {
						limited, cancel := context.WithTimeout(t.Context(), vectors.Seconds(c.Given.Deadline))
						defer cancel()
						request = request.WithContext(limited)
					}
					var header []string
					for name, value := range c.Given.Headers {
						header = append(header, name, value)
					}
					got := try(t, httpretry.Config{
						Strategy: s, MaxAttempts: 2, Base: scripted{status: c.Given.Status, body: "body", header: header},
					}, request)
					require.Equal(t, c.Given.Status, got.status)
					require.Equal(t, "body", got.body)
					require.Equal(t, vectors.Seconds(c.Want.Delay), got.took)
					events := seen.of(retry.RetryScheduled, retry.RetryRefused)
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
