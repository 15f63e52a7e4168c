package httpretry_test

import (
	"context"
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

const (
	invocation = "Amz-Sdk-Invocation-Id"
	signature  = "X-Signature"
)

// sentHeaders returns the headers of the attempts of a request that always fails, with a signer that changes the request.
func sentHeaders(t *testing.T, config httpretry.Config, r *http.Request) (sent []http.Header) {
	t.Helper()
	config.Base = roundTripFunc(func(r *http.Request) (*http.Response, error) {
		r.Header.Add(signature, "now")
		sent = append(sent, r.Header)
		return scripted{status: 503}.RoundTrip(r)
	})
	try(t, config, r)
	return sent
}

func TestHeadersOfTheRequestAreKept(t *testing.T) {
	t.Parallel()
	request := newRequest(t, http.MethodGet, "")
	request.Header.Set("Authorization", "Bearer x")
	request.AddCookie(&http.Cookie{Name: "session", Value: "1"})
	before := maps.Clone(request.Header)
	for _, stamped := range []bool{false, true} {
		sent := sentHeaders(t, httpretry.Config{SDKHeaders: stamped}, request)
		require.Equal(t, before, request.Header)
		require.Len(t, sent, 3)
		for _, header := range sent {
			require.Equal(t, []string{"now"}, header[signature])
			require.Len(t, header, len(before)+map[bool]int{false: 1, true: 3}[stamped])
			for name, values := range before {
				require.Equal(t, values, header[name])
			}
		}
	}
}

func TestSDKHeaders(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 8, 23, 14, 5, 6, 7, time.FixedZone("CEST", 2*60*60))
	three := []string{"attempt=1; max=3", "attempt=2; max=3", "attempt=3; max=3"}
	ten := retry.FixedTimeout{First: 10 * time.Second}
	for _, c := range []struct {
		name    string
		config  httpretry.Config
		left    time.Duration
		wrapped bool
		once    bool
		want    []string
	}{
		{name: "limit of the strategy", want: three},
		{name: "limit of the request", config: httpretry.Config{MaxAttempts: 2}, want: []string{"attempt=1; max=2", "attempt=2; max=2"}},
		{name: "limit of the context", once: true, want: []string{"attempt=1; max=1"}},
		{name: "limit of a strategy in a wrapper", wrapped: true, want: three},
		{
			name: "limit of the request over a wrapper", wrapped: true, config: httpretry.Config{MaxAttempts: 1},
			want: []string{"attempt=1; max=1"},
		},
		{name: "deadline of the request", left: time.Minute, want: []string{
			"attempt=1; max=3; ttl=20260823T120606Z", "attempt=2; max=3; ttl=20260823T120606Z", "attempt=3; max=3; ttl=20260823T120606Z",
		}},
		{name: "deadline of the attempt", left: time.Minute, config: httpretry.Config{AttemptTimeout: ten}, want: []string{
			"attempt=1; max=3; ttl=20260823T120516Z", "attempt=2; max=3; ttl=20260823T120517Z", "attempt=3; max=3; ttl=20260823T120519Z",
		}},
		{
			name: "deadline of the request within the attempt", left: 5 * time.Second,
			config: httpretry.Config{AttemptTimeout: ten, MaxAttempts: 1}, want: []string{"attempt=1; max=1; ttl=20260823T120511Z"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewFake(start)
			c.config.SDKHeaders, c.config.Strategy = true, on(t, clk)
			if c.wrapped {
				c.config.Strategy = around{c.config.Strategy}
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
			request := newRequest(t, http.MethodGet, "").WithContext(ctx)
			request.Header = nil
			ids := map[string]bool{}
			var got []string
			for _, header := range sentHeaders(t, c.config, request) {
				got = append(got, header.Get("Amz-Sdk-Request"))
				ids[header.Get(invocation)] = true
			}
			require.Equal(t, c.want, got)
			require.Len(t, ids, 1)
			require.Nil(t, request.Header)
		})
	}
}

func TestInvocationIDs(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	request, seen := newRequest(t, http.MethodGet, "").WithContext(context.Background()), map[string]bool{}
	for range 100 {
		id := sentHeaders(t, httpretry.Config{SDKHeaders: true, MaxAttempts: 1}, request)[0].Get(invocation)
		require.Regexp(t, form, id)
		seen[id] = true
	}
	require.Len(t, seen, 100)
	request.Header.Set(invocation, "mine")
	for _, header := range sentHeaders(t, httpretry.Config{SDKHeaders: true}, request) {
		require.Equal(t, []string{"mine"}, header[invocation])
	}
}
