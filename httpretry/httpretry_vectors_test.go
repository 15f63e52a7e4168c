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

// TestTransportFollowsTheVectors runs the vectors over HTTP. The answers are those of a
// service, in the three forms of error codes, and the failures are those of connections.
func TestTransportFollowsTheVectors(t *testing.T) {
	t.Parallel()
	for title, file := range vectors.Load[vectors.Standard](t, "..", os.Getenv("AWSRETRY_CONFORMANCE"), "standard.json") {
		for _, c := range append(file.Sequences, file.Concurrent...) {
			for i, form := range []string{"header", "json", "xml"} {
				t.Run(fmt.Sprintf("%s/%s/%s", title, c.ID, form), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { newConductor(t, c, i).run(t) })
				})
			}
		}
	}
}

// conductor lets the attempts of a vector go on one after the other, as its steps say.
type conductor struct {
	vector    vectors.Sequence
	form      int
	strategy  retry.Strategy
	network   *pipenet.Network
	inner     *http.Transport
	client    *http.Client
	performed map[string]*performance // by request
}

type performanceKey struct{}

// performance is a request with its attempts.
type performance struct {
	arrived  chan time.Time
	turn     chan vectors.Response
	answered chan time.Time
	result   chan result
	due      *time.Duration // the delay before its next attempt
	since    time.Time
	cancel   context.CancelFunc
}

type result struct {
	reply
	at time.Time
}

const responseHeaderTimeout = time.Second

func newConductor(t *testing.T, c vectors.Sequence, form int) *conductor {
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
	d := &conductor{vector: c, form: form, strategy: s, performed: map[string]*performance{}}
	d.network = serve(t, http.HandlerFunc(d.serve))
	d.inner = d.network.Transport()
	d.inner.ResponseHeaderTimeout = responseHeaderTimeout
	d.inner.DisableKeepAlives = true // each attempt dials, so that each can be refused
	d.client = &http.Client{Transport: newTransport(t, httpretry.Config{
		Strategy: s,
		Base:     roundTripFunc(d.attempt),
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
	return d
}

// attempt waits for its turn and tells the service what to answer.
func (d *conductor) attempt(r *http.Request) (*http.Response, error) {
	p, ok := r.Context().Value(performanceKey{}).(*performance)
	if !ok {
		return nil, errors.New("an attempt without the request's context")
	}
	select {
	case p.arrived <- time.Now():
	case <-r.Context().Done(): // the vector has come to its end
		return nil, r.Context().Err()
	}
	response := <-p.turn
	defer func() { p.answered <- time.Now() }()
	if response.Kind == "connect" {
		d.network.Refuse()
	}
	text, err := json.Marshal(response)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("X-Answer", string(text))
	return d.inner.RoundTrip(r)
}

// serve answers as the attempt asks.
func (d *conductor) serve(w http.ResponseWriter, r *http.Request) {
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
	case d.form == 0:
		w.Header().Set("X-Amzn-Errortype", want.ErrorCode+":http://internal.amazon.com/coral/")
	case d.form == 1:
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		body = fmt.Sprintf(`{"__type":"com.amazonaws.test#%s","message":"no"}`, want.ErrorCode)
	default:
		w.Header().Set("Content-Type", "text/xml")
		body = fmt.Sprintf(`<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code></Error></ErrorResponse>`, want.ErrorCode)
	}
	w.WriteHeader(want.Status)
	_, _ = io.WriteString(w, body)
}

func (d *conductor) run(t *testing.T) {
	t.Helper()
	for i, step := range d.vector.Steps {
		p := d.performed[step.Request]
		if p == nil {
			p = d.start(t, step.Request)
		}
		arrived := <-p.arrived
		if p.due != nil {
			require.Equal(t, *p.due, arrived.Sub(p.since), "delay before step %d", i)
		}
		p.turn <- step.Response
		p.since = <-p.answered
		synctest.Wait()
		require.Equal(t, step.Want.QuotaAfter, d.strategy.Snapshot().Scopes[0].Quota, "quota after step %d", i)
		p.due = new(time.Duration(0))
		if step.Want.Delay != nil {
			*p.due = vectors.Seconds(*step.Want.Delay)
		}
		if step.Want.Outcome != "retry" {
			d.requireEnd(t, i, p)
			delete(d.performed, step.Request)
		}
	}
	for _, p := range d.performed {
		p.cancel()
		require.ErrorIs(t, (<-p.result).err, context.Canceled)
	}
	if d.vector.FinalQuota != nil {
		require.Equal(t, *d.vector.FinalQuota, d.strategy.Snapshot().Scopes[0].Quota)
	}
}

func (d *conductor) start(t *testing.T, name string) *performance {
	t.Helper()
	p := &performance{
		arrived: make(chan time.Time), turn: make(chan vectors.Response),
		answered: make(chan time.Time), result: make(chan result, 1),
	}
	d.performed[name] = p
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), performanceKey{}, p))
	p.cancel = cancel
	request := newRequest(ctx, t, http.MethodPut, "http://service/", "request")
	go func() {
		got := exchange(roundTripFunc(d.client.Do), request)
		p.result <- result{got, time.Now()}
	}()
	return p
}

// requireEnd checks what the client got.
func (d *conductor) requireEnd(t *testing.T, i int, p *performance) {
	t.Helper()
	step := d.vector.Steps[i]
	got := <-p.result
	defer p.cancel()
	require.Equal(t, *p.due, got.at.Sub(p.since), "sleep before the end of step %d", i)
	if step.Response.Status == 0 {
		require.Equal(t, step.Want.Outcome, outcomeOf(got.err), "step %d", i)
		return
	}
	require.NoError(t, got.err, "step %d", i)
	require.Equal(t, step.Response.Status, got.status)
	require.NoError(t, got.bodyErr)
	require.NotEmpty(t, got.body)
	require.Equal(t, step.Want.Outcome, outcomeOf(got.refusal), "step %d", i)
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
