package httpretry_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestConfigOutOfRange(t *testing.T) {
	t.Parallel()
	_, err := httpretry.New(httpretry.Config{MaxAttempts: -1, AttemptTimeout: retry.FixedTimeout{First: -2}})
	require.EqualError(t, err, "httpretry: Strategy: must be set\n"+
		"httpretry: MaxAttempts -1: must not be negative\n"+
		"httpretry: AttemptTimeout: retry: FixedTimeout.First -2ns: must be more than zero")
}

func TestEditsOfAContext(t *testing.T) {
	t.Parallel()
	attemptsWith := func(ctx context.Context) int {
		clk := &clock.Fake{}
		attempts := 0
		transport := newTransport(t, httpretry.Config{Strategy: on(t, clk), Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
			attempts++
			return scripted{status: 503}.RoundTrip(r)
		})})
		clk.Run(func() { exchange(transport, newRequest(ctx, t, http.MethodGet, "http://service/", "")) })
		return attempts
	}
	once := httpretry.With(t.Context(), func(c *httpretry.Config) { c.MaxAttempts = 1 })
	require.Equal(t, 1, attemptsWith(once))
	require.Equal(t, 5, attemptsWith(httpretry.With(once, func(c *httpretry.Config) { c.MaxAttempts *= 5 })), "the outer edit comes first")
	require.Equal(t, 3, attemptsWith(t.Context()))
	require.Equal(t, 3, attemptsWith(httpretry.With(t.Context(), nil)))
}

// With retry.Once the loop around the client makes all attempts.
func TestOnceIsOneAttemptForEachRequest(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"standard", "adaptive"} {
		clk := &clock.Fake{}
		var products []int
		s := modes(t, standard.Config{Clock: clk, Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind == retry.LoopNested {
				products = append(products, e.MaxAttempts)
			}
		})})[mode]
		attempts := 0
		transport := newTransport(t, httpretry.Config{
			Strategy: s, MaxAttempts: 5,
			Base: roundTripFunc(func(r *http.Request) (*http.Response, error) {
				attempts++
				return scripted{status: 503}.RoundTrip(r)
			}),
		})
		do := func(change func(context.Context) context.Context) (refusal error) {
			attempts, products = 0, nil
			clk.Run(func() {
				_ = retry.DoErr(t.Context(), s, retry.Operation{MaxAttempts: 2}, func(ctx context.Context) error {
					refusal = exchange(transport, newRequest(change(ctx), t, http.MethodGet, "http://service/", "")).refusal
					return refusal
				})
			})
			return refusal
		}
		require.ErrorContains(t, do(retry.Once), "(1 attempt of 1")
		require.Equal(t, 2, attempts)
		require.Empty(t, products)
		require.ErrorContains(t, do(func(ctx context.Context) context.Context { return ctx }), "(5 attempts of 5")
		require.Equal(t, 10, attempts)
		require.Equal(t, []int{10, 10}, products)
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	succeed := func(*http.Response, error) error { return nil }
	errBad := errors.New("bad")
	for _, c := range []struct {
		name     string
		policy   func(*http.Response, error) error
		base     scripted
		attempts int
		refusal  error
		err      string
	}{
		{
			name: "an answer to ask for again", base: scripted{status: 202, body: "pending"}, attempts: 3, refusal: retry.ErrAttemptsExhausted,
			policy: func(r *http.Response, err error) error {
				text, bad := io.ReadAll(r.Body)
				require.NoError(t, errors.Join(err, bad, r.Body.Close()))
				require.Equal(t, "pending", string(text))
				r.Body = io.NopCloser(strings.NewReader("pending"))
				return retry.Mark(errors.New("pending"), classify.Transient)
			},
		},
		{name: "a failure that is fine", base: scripted{status: 503, body: "fine"}, attempts: 1, policy: succeed},
		{
			name: "a failure that is final", base: scripted{status: 503, body: "final"}, attempts: 1,
			policy: func(r *http.Response, err error) error {
				require.Equal(t, 503, r.StatusCode)
				requireStatus(t, err, 503)
				return retry.Permanent(err)
			}, refusal: &httpretry.ResponseError{},
		},
		{
			name: "an answer that is a failure", base: scripted{status: 200, body: "bad"}, attempts: 1, refusal: errBad,
			policy: func(*http.Response, error) error { return retry.Permanent(errBad) },
		},
		{
			name: "nothing that is fine", base: scripted{err: errReset}, attempts: 1, policy: succeed,
			err: "httpretry: Policy made a success of an attempt without a response: " + errReset.Error(),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			attempts := 0
			transport := newTransport(t, httpretry.Config{
				Strategy: on(t, clk), Policy: c.policy,
				Base: roundTripFunc(func(r *http.Request) (*http.Response, error) { attempts++; return c.base.RoundTrip(r) }),
			})
			clk.Run(func() {
				got := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", ""))
				require.Equal(t, c.attempts, attempts)
				if c.err != "" {
					require.EqualError(t, got.err, c.err)
					return
				}
				require.NoError(t, got.err)
				require.Equal(t, c.base.body, got.body)
				if _, ok := c.refusal.(*httpretry.ResponseError); ok { //nolint:errorlint // of the table
					requireStatus(t, got.refusal, c.base.status)
				} else {
					require.ErrorIs(t, got.refusal, c.refusal)
				}
			})
		})
	}
}

func requireStatus(t *testing.T, err error, status int) {
	t.Helper()
	said, ok := err.(*httpretry.ResponseError) //nolint:errorlint // nothing is around it
	require.True(t, ok, err)
	require.Equal(t, status, said.Status)
}
