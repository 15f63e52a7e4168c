package httpretry_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// TestRequestWithoutAnAttemptTakesNothing, and its body is closed once.
func TestRequestWithoutAnAttemptTakesNothing(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	notMade := "httpretry: a *httpretry.Transport that was not made by httpretry.New: use what that returns"
	edit := func(change func(c *httpretry.Config)) context.Context { return httpretry.With(t.Context(), change) }
	operation := func(op func() retry.Operation) context.Context {
		return edit(func(c *httpretry.Config) { c.Operation = func(*http.Request) retry.Operation { return op() } })
	}
	timeout := func(timeout func() retry.AttemptTimeout) context.Context {
		return edit(func(c *httpretry.Config) {
			c.AttemptTimeout = retry.TimeoutFunc(func(retry.Operation) retry.AttemptTimeout { return timeout() })
		})
	}
	strategy := on(t, nil)
	made := newTransport(t, httpretry.Config{Strategy: strategy, Base: always("")})
	for _, c := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // of the request
		rt   http.RoundTripper
		want string // part of the error, or of the panic
	}{
		{"a zero transport", t.Context(), &httpretry.Transport{}, notMade},
		{"no transport", t.Context(), (*httpretry.Transport)(nil), notMade},
		{"a client without a strategy", t.Context(), httpretry.NewClient(nil).Transport, "httpretry: Strategy: must be set"},
		{"a client with half a strategy", t.Context(), httpretry.NewClient(around{}).Transport, "around nil"},
		{"a caller that is gone", ended, made, "canceled"},
		{"a bad edit", edit(func(c *httpretry.Config) { c.MaxAttempts = -1 }), made, "httpretry: MaxAttempts -1: must not be negative"},
		{"no strategy", edit(func(c *httpretry.Config) { c.Strategy = nil }), made, "httpretry: Strategy: must be set"},
		{"a nil strategy of a user", edit(func(c *httpretry.Config) { c.Strategy = (*around)(nil) }), made, "a nil *httpretry_test.around"},
		{"half a strategy", edit(func(c *httpretry.Config) { c.Strategy = around{} }), made, "around nil"},
		{"an operation that has ended", operation(func() retry.Operation { return retry.Operation{NotAfter: time.Unix(1, 0)} }), made, "maximum elapsed time reached"},
		{"an operation out of range", operation(func() retry.Operation { return retry.Operation{MaxAttempts: -1} }), made, "MaxAttempts -1"},
		{
			"a timeout out of range", timeout(func() retry.AttemptTimeout { return within(-1) }), made,
			`httpretry: AttemptTimeout: retry: TimeoutFunc for "PUT" in scope "//service": FixedTimeout.First -1ns: must be more than zero`,
		},
		{"panic of an edit", edit(func(*httpretry.Config) { panic("on purpose") }), made, "on purpose"},
		{"panic of an operation", operation(func() retry.Operation { panic("on purpose") }), made, "on purpose"},
		{"panic of a timeout", timeout(func() retry.AttemptTimeout { panic("on purpose") }), made, "on purpose"},
	} {
		for _, replayable := range []bool{false, true} {
			body := newBody("body")
			request := newRequest(t, http.MethodPut, "body").WithContext(c.ctx)
			request.Body = body
			if !replayable {
				request.GetBody = nil
			}
			if send := func() { require.ErrorContains(t, exchange(c.rt, request).err, c.want, c.name) }; c.want == "on purpose" {
				require.PanicsWithValue(t, c.want, send)
			} else {
				send()
			}
			require.Equal(t, int32(1), body.closed.Load(), c.name)
		}
	}
	for _, scope := range strategy.Snapshot().Scopes {
		require.Equal(t, 500, scope.Quota)
	}
}

func TestIdleConnectionsAreClosedBelow(t *testing.T) {
	t.Parallel()
	base := &closing{}
	for _, transport := range []*httpretry.Transport{
		newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: base}),
		newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: scripted{}}), // which has no such method
		{},
		nil,
	} {
		(&http.Client{Transport: transport}).CloseIdleConnections()
	}
	require.Equal(t, 1, base.closed)
}

type closing struct {
	scripted
	closed int
}

func (c *closing) CloseIdleConnections() { c.closed++ }

// Several goroutines may send one request at the same time.
func TestTransportConcurrentSafe(t *testing.T) {
	t.Parallel()
	for name, s := range modes(t, standard.Config{Random: func() float64 { return 0 }}) {
		bubble(t, name, func(t *testing.T) {
			t.Helper()
			var attempts, answered, fine atomic.Int64
			client := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
				if attempts.Add(1)%3 != 0 {
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
				answered.Add(1)
			}, httpretry.Config{Strategy: s, SDKHeaders: true, AttemptTimeout: within(time.Second)})
			shared := newRequest(t, http.MethodGet, "")
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					for range 25 {
						if exchange(client.Transport, shared).status == http.StatusOK {
							fine.Add(1)
						}
					}
				})
			}
			group.Wait()
			require.Equal(t, answered.Load(), fine.Load())
			require.Positive(t, fine.Load())
		})
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	for name, config := range map[string]httpretry.Config{
		"defaults":        {},
		"attempt timeout": {AttemptTimeout: within(time.Minute)},
		"SDK headers":     {SDKHeaders: true},
	} {
		b.Run("case="+name, func(b *testing.B) {
			request := newRequest(b, http.MethodGet, "")
			request.Header.Set("Authorization", "Bearer x")
			request.Header.Set("Accept", "application/json")
			response := &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}
			config.Strategy = on(b, nil)
			config.Base = roundTripFunc(func(*http.Request) (*http.Response, error) { return response, nil })
			transport := newTransport(b, config)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := transport.RoundTrip(request); err != nil { //nolint:bodyclose // it has none
					b.Fatal(err)
				}
			}
		})
	}
}
