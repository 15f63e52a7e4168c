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
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

func TestConfigOutOfRange(t *testing.T) {
	t.Parallel()
	_, err := httpretry.New(httpretry.Config{MaxAttempts: -1, AttemptTimeout: within(-2)})
	require.EqualError(t, err, "httpretry: Strategy: must be set\n"+
		"httpretry: MaxAttempts -1: must not be negative\n"+
		"httpretry: AttemptTimeout: retry: FixedTimeout.First -2ns: must be more than zero")
}

func TestEditsOfAContext(t *testing.T) {
	t.Parallel()
	attemptsWith := func(ctx context.Context) int {
		return try(t, httpretry.Config{Base: scripted{status: 503}}, newRequest(t, http.MethodGet, "").WithContext(ctx)).attempts
	}
	once := httpretry.With(t.Context(), func(c *httpretry.Config) { c.MaxAttempts = 1 })
	require.Equal(t, 1, attemptsWith(once))
	require.Equal(t, 5, attemptsWith(httpretry.With(once, func(c *httpretry.Config) { c.MaxAttempts *= 5 })), "the outer edit comes first")
	require.Equal(t, 3, attemptsWith(t.Context()))
	require.Equal(t, 3, attemptsWith(httpretry.With(t.Context(), nil)))
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	succeed := func(*http.Response, error) error { return nil }
	errBad, errPending := errors.New("bad"), errors.New("pending")
	for _, c := range []struct {
		name     string
		policy   func(*http.Response, error) error
		base     scripted
		attempts int
		refusal  error // that is found in the one that comes back
		err      string
	}{
		{
			name: "an answer to ask for again", base: scripted{status: 202, body: "pending"}, attempts: 3, refusal: retry.ErrAttemptsExhausted,
			policy: func(r *http.Response, err error) error {
				text, bad := io.ReadAll(r.Body)
				require.NoError(t, errors.Join(err, bad, r.Body.Close()))
				r.Body = io.NopCloser(strings.NewReader(string(text)))
				return retry.Mark(errPending, classify.Transient)
			},
		},
		{name: "a failure that is fine", base: scripted{status: 503, body: "fine"}, attempts: 1, policy: succeed},
		{
			name: "a failure that is final", base: scripted{status: 503, body: "final"}, attempts: 1, refusal: errBad,
			policy: func(r *http.Response, err error) error {
				require.Equal(t, r.StatusCode, err.(*httpretry.ResponseError).Status) //nolint:errorlint,forcetypeassert // nothing is around it
				return retry.Permanent(errors.Join(err, errBad))
			},
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
			got := try(t, httpretry.Config{Policy: c.policy, Base: c.base}, newRequest(t, http.MethodGet, ""))
			require.Equal(t, c.attempts, got.attempts)
			if c.err != "" {
				require.EqualError(t, got.err, c.err)
				return
			}
			require.NoError(t, got.err)
			require.Equal(t, c.base.body, got.body)
			require.ErrorIs(t, got.refusal, c.refusal)
		})
	}
}
