package httpretry_test

import (
	"maps"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

// sentHeaders returns the headers of the attempts of a request that always fails.
func sentHeaders(t *testing.T, clk *clock.Fake, config httpretry.Config, r *http.Request) (sent []http.Header) {
	t.Helper()
	if config.Strategy == nil {
		config.Strategy = on(t, clk)
	}
	base := config.Base
	config.Base = roundTripFunc(func(r *http.Request) (*http.Response, error) {
		if base != nil {
			_, _ = base.RoundTrip(r)
		}
		sent = append(sent, r.Header)
		return scripted{status: 503}.RoundTrip(r)
	})
	transport := newTransport(t, config)
	clk.Run(func() { exchange(transport, r) })
	return sent
}

func TestHeadersOfTheRequestAreKept(t *testing.T) {
	t.Parallel()
	request := newRequest(t.Context(), t, http.MethodGet, "http://service/", "")
	request.Header.Set("Authorization", "Bearer x")
	request.AddCookie(&http.Cookie{Name: "session", Value: "1"})
	before := maps.Clone(request.Header)
	sent := sentHeaders(t, &clock.Fake{}, httpretry.Config{
		Base: roundTripFunc(func(r *http.Request) (*http.Response, error) { // a signer that changes the request
			r.Header.Add("X-Signature", "now")
			return nil, nil //nolint:nilnil // the caller does not look
		}),
	}, request)
	require.Equal(t, before, request.Header)
	require.Len(t, sent, 3)
	for _, header := range sent {
		require.Equal(t, []string{"now"}, header["X-Signature"])
		delete(header, "X-Signature")
		require.Equal(t, before, header)
	}
}

func TestSDKHeaders(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 8, 23, 14, 5, 6, 7, time.FixedZone("CEST", 2*60*60))
	for _, c := range []struct {
		name    string
		config  httpretry.Config
		left    time.Duration
		wrapped bool
		once    bool
		want    []string
	}{
		{name: "limit of the strategy", want: []string{"attempt=1; max=3", "attempt=2; max=3", "attempt=3; max=3"}},
		{
			name: "limit of the request", config: httpretry.Config{MaxAttempts: 2},
			want: []string{"attempt=1; max=2", "attempt=2; max=2"},
		},
		{name: "limit of the context", once: true, want: []string{"attempt=1; max=1"}},
		{name: "limit of a strategy in a wrapper", wrapped: true, want: []string{"attempt=1; max=3", "attempt=2; max=3", "attempt=3; max=3"}},
		{
			name: "limit of the request over a wrapper", wrapped: true, config: httpretry.Config{MaxAttempts: 1},
			want: []string{"attempt=1; max=1"},
		},
		{name: "deadline of the request", left: time.Minute, want: []string{
			"attempt=1; max=3; ttl=20260823T120606Z", "attempt=2; max=3; ttl=20260823T120606Z", "attempt=3; max=3; ttl=20260823T120606Z",
		}},
		{name: "deadline of the attempt", left: time.Minute, config: httpretry.Config{AttemptTimeout: retry.FixedTimeout{First: 10 * time.Second}}, want: []string{
			"attempt=1; max=3; ttl=20260823T120516Z", "attempt=2; max=3; ttl=20260823T120517Z", "attempt=3; max=3; ttl=20260823T120519Z",
		}},
		{name: "deadline of the request within the attempt", left: 5 * time.Second, config: httpretry.Config{
			AttemptTimeout: retry.FixedTimeout{First: 10 * time.Second}, MaxAttempts: 1,
		}, want: []string{"attempt=1; max=1; ttl=20260823T120511Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewFake(start)
			c.config.SDKHeaders = true
			if c.wrapped {
				c.config.Strategy = struct{ retry.Strategy }{on(t, clk)}
			}
			ctx := t.Context()
			if c.left > 0 {
				limited, cancel := clk.WithTimeout(ctx, c.left)
				defer cancel()
				ctx = limited
			}
			if c.once {
				ctx = retry.Once(ctx)
			}
			request := newRequest(ctx, t, http.MethodGet, "http://service/", "")
			request.Header = nil
			ids := map[string]bool{}
			var got []string
			for _, header := range sentHeaders(t, clk, c.config, request) {
				got = append(got, header.Get("Amz-Sdk-Request"))
				ids[header.Get("Amz-Sdk-Invocation-Id")] = true
			}
			require.Equal(t, c.want, got)
			require.Len(t, ids, 1)
			require.Nil(t, request.Header)
		})
	}
}

func TestInvocationIDs(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 100 {
		request := newRequest(t.Context(), t, http.MethodGet, "http://service/", "")
		sent := sentHeaders(t, clk, httpretry.Config{SDKHeaders: true, MaxAttempts: 1}, request)
		require.Regexp(t, form, sent[0].Get("Amz-Sdk-Invocation-Id"))
		seen[sent[0].Get("Amz-Sdk-Invocation-Id")] = true
	}
	require.Len(t, seen, 100)
	request := newRequest(t.Context(), t, http.MethodGet, "http://service/", "")
	request.Header.Set("Amz-Sdk-Invocation-Id", "mine")
	sent := sentHeaders(t, clk, httpretry.Config{SDKHeaders: true}, request)
	require.Len(t, sent, 3)
	for _, header := range sent {
		require.Equal(t, "mine", header.Get("Amz-Sdk-Invocation-Id"))
	}
}
