package httpretry_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestTransportThatNewDidNotMakeIsRefused(t *testing.T) {
	t.Parallel()
	for name, transport := range map[string]*httpretry.Transport{"zero": {}, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := &bodyReader{Reader: strings.NewReader("text")}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://example.com", body)
			require.NoError(t, err)
			response, err := transport.RoundTrip(request) //nolint:bodyclose // there is none
			require.Nil(t, response)
			require.EqualError(t, err, "httpretry: a *httpretry.Transport that was not made by httpretry.New: use what that returns")
			require.EqualValues(t, 1, body.closed.Load())
			require.NotPanics(t, transport.CloseIdleConnections)
		})
	}
}

func TestStrategyThatNoConstructorMadeIsRefusedWhereItIsGiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		strategy retry.Strategy
		want     string
	}{
		"nil":              {nil, "httpretry: Strategy: must be set"},
		"nil, of the user": {(*around)(nil), "a nil *httpretry_test.around"},
		"around nil":       {around{}, "a httpretry_test.around around nil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := httpretry.New(httpretry.Config{Strategy: c.strategy})
			require.ErrorContains(t, err, c.want)

			transport := newTransport(t, httpretry.Config{Strategy: modes(t, standard.Config{})["standard"]})
			ctx := httpretry.With(t.Context(), func(config *httpretry.Config) { config.Strategy = c.strategy })
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://example.com", http.NoBody)
			require.NoError(t, err)
			_, err = transport.RoundTrip(request) //nolint:bodyclose // there is none
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestIdleConnectionsAreClosedBelow(t *testing.T) {
	t.Parallel()
	base := &closing{}
	client := &http.Client{Transport: newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: base})}
	client.CloseIdleConnections()
	require.True(t, base.closed)
	client.Transport = newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: scripted{}})
	client.CloseIdleConnections() // the base has no such method
}

type closing struct {
	scripted
	closed bool
}

func (c *closing) CloseIdleConnections() { c.closed = true }

// Several goroutines may send one request at the same time.
func TestTransportConcurrentSafe(t *testing.T) {
	t.Parallel()
	for name, s := range modes(t, standard.Config{Random: func() float64 { return 0 }}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var attempts, answered atomic.Int64
				client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if attempts.Add(1)%3 != 0 {
						w.WriteHeader(http.StatusInternalServerError)
						return
					}
					answered.Add(1)
				}), httpretry.Config{Strategy: s, SDKHeaders: true, AttemptTimeout: retry.FixedTimeout{First: attemptTimeout}})
				shared := newRequest(t.Context(), t, http.MethodGet, "http://service/", "")
				var fine atomic.Int64
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
		})
	}
}

// instant is a base that answers at once and always the same.
type instant struct{ response *http.Response }

func (i instant) RoundTrip(*http.Request) (*http.Response, error) { return i.response, nil }

func BenchmarkRoundTrip(b *testing.B) {
	for _, c := range []struct {
		name   string
		config httpretry.Config
	}{
		{"defaults", httpretry.Config{}},
		{"attempt timeout", httpretry.Config{AttemptTimeout: retry.FixedTimeout{First: time.Minute}}},
		{"SDK headers", httpretry.Config{SDKHeaders: true}},
	} {
		b.Run("case="+c.name, func(b *testing.B) {
			request := newRequest(b.Context(), b, http.MethodGet, "http://service/path", "")
			request.Header.Set("Authorization", "Bearer x")
			request.Header.Set("Accept", "application/json")
			c.config.Strategy = on(b, nil)
			c.config.Base = instant{&http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}}
			transport, err := httpretry.New(c.config)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				response, err := transport.RoundTrip(request)
				if err != nil {
					b.Fatal(err)
				}
				_ = response.Body.Close()
			}
		})
	}
}

func TestWithoutQuotaEachRequestGetsAllAttempts(t *testing.T) {
	t.Parallel()
	for name, strategy := range modes(t, standard.Config{NoQuota: true, Clock: &clock.Fake{}}) {
		sent := 0
		transport := newTransport(t, httpretry.Config{Strategy: strategy, Base: roundTripFunc(func(*http.Request) (*http.Response, error) {
			sent++
			return nil, syscall.ECONNRESET
		})})
		strategy.Clock().(*clock.Fake).Run(func() {
			for range 40 {
				require.ErrorIs(t, exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://host/", "")).err, retry.ErrAttemptsExhausted)
			}
		})
		require.Equal(t, 120, sent, name)
	}
}
