package retry_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

func TestOperationIsInFlightFromHoldToItsEnd(t *testing.T) {
	t.Parallel()
	key := retry.ScopeKey{Scope: "orders"}
	ends := map[string]func(ts *retry.Tokens[int], token retry.Token) *retry.Record[int]{
		"success": func(ts *retry.Tokens[int], token retry.Token) *retry.Record[int] {
			r, _ := ts.TakeToEnd(token)
			return r
		},
		"success after a wait": func(ts *retry.Tokens[int], token retry.Token) *retry.Record[int] {
			_ = token.Wait(t.Context())
			r, _ := ts.TakeToEnd(token)
			return r
		},
		"failure": func(ts *retry.Tokens[int], token retry.Token) *retry.Record[int] {
			r, _, _ := ts.TakeLast(token)
			return r
		},
		"failure that was not judged at first": func(ts *retry.Tokens[int], token retry.Token) *retry.Record[int] {
			r, _, _ := ts.TakeLast(token)
			ts.Restore(token, r)
			r, _, _ = ts.TakeLast(token)
			return r
		},
		"a token that is taken and closed": func(ts *retry.Tokens[int], token retry.Token) *retry.Record[int] {
			r, _ := ts.Take(token)
			return r
		},
		"failure of the second attempt": func(ts *retry.Tokens[int], token retry.Token) *retry.Record[int] {
			_, _ = ts.Take(token)
			r, _, _ := ts.TakeLast(ts.Next(token, 0))
			return r
		},
		"failure after a refusal": func(ts *retry.Tokens[int], token retry.Token) *retry.Record[int] {
			_, _ = ts.Take(token)
			r, _, _ := ts.TakeLast(ts.Refuse(token, 0))
			return r
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ts := &retry.Tokens[int]{}
			token, r := ts.Open(t.Context(), &retry.Operation{})
			require.Empty(t, ts.InFlight())
			r.Hold(&key)
			require.Equal(t, map[retry.ScopeKey]int{key: 1}, ts.InFlight())
			r = end(ts, token)
			require.Equal(t, map[retry.ScopeKey]int{key: 1}, ts.InFlight(), "its books are still to be closed")
			ts.Close(r)
			require.Empty(t, ts.InFlight())
		})
	}
}

func TestOperationWhoseTokenIsRestoredIsInFlight(t *testing.T) {
	t.Parallel()
	key := retry.ScopeKey{Scope: "orders"}
	for _, waits := range []bool{false, true} {
		ts := &retry.Tokens[int]{}
		token, r := ts.Open(t.Context(), &retry.Operation{})
		r.Hold(&key)
		if waits {
			require.NoError(t, token.Wait(t.Context()))
		}
		_, err := ts.Take(token)
		require.NoError(t, err)
		ts.Restore(token, r)
		require.Equal(t, map[retry.ScopeKey]int{key: 1}, ts.InFlight())
		runtime.KeepAlive(token)
	}
}

// An operation of the strategy as a whole counts from its first Wait until its end,
// in which nothing is left to be protected.
func TestOperationOfTheWholeIsInFlightFromItsFirstWait(t *testing.T) {
	t.Parallel()
	ts, whole := &retry.Tokens[int]{}, map[retry.ScopeKey]int{{}: 1}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, wait := range []func(token retry.Token) error{
		func(token retry.Token) error { return token.Wait(t.Context()) },
		func(token retry.Token) error { return token.Wait(ctx) }, // which fails
	} {
		token, r := ts.Open(t.Context(), &retry.Operation{})
		r.Hold(nil)
		require.Empty(t, ts.InFlight())
		_ = wait(token)
		require.Equal(t, whole, ts.InFlight())
		_, err := ts.Take(token)
		require.NoError(t, err)
		require.Equal(t, whole, ts.InFlight())
		token = ts.Next(token, 0)
		require.Equal(t, whole, ts.InFlight(), "between two attempts")
		r, err = ts.TakeToEnd(token)
		require.NoError(t, err)
		ts.Close(r)
		require.Empty(t, ts.InFlight())
	}
}

func TestOperationsInFlightAreCountedByScope(t *testing.T) {
	t.Parallel()
	ts := &retry.Tokens[int]{}
	a, b := retry.ScopeKey{Scope: "a"}, retry.ScopeKey{Scope: "b"}
	var tokens []retry.Token
	for _, key := range []*retry.ScopeKey{&a, &b, &a, nil} {
		token, r := ts.Open(t.Context(), &retry.Operation{})
		r.Hold(key)
		tokens = append(tokens, token)
	}
	require.Equal(t, map[retry.ScopeKey]int{a: 2, b: 1}, ts.InFlight())
	for _, token := range tokens {
		require.NoError(t, token.Wait(t.Context()))
	}
	require.Equal(t, map[retry.ScopeKey]int{a: 2, b: 1, {}: 1}, ts.InFlight(), "the whole counts from the first wait on")
}

func TestStateOfAnOperationMayHoldAnotherScopeNext(t *testing.T) {
	t.Parallel()
	ts := &retry.Tokens[int]{}
	a, b := retry.ScopeKey{Scope: "a"}, retry.ScopeKey{Scope: "b"}
	for _, key := range []*retry.ScopeKey{&a, &b, nil, &a, &a, nil, nil, &b} {
		token, r := ts.Open(t.Context(), &retry.Operation{})
		r.Hold(key)
		require.NoError(t, token.Wait(t.Context()))
		want := retry.ScopeKey{}
		if key != nil {
			want = *key
		}
		require.Equal(t, map[retry.ScopeKey]int{want: 1}, ts.InFlight())
		taken, err := ts.TakeToEnd(token)
		require.NoError(t, err)
		ts.Close(taken)
	}
}

func TestDroppedTokensAreInFlightUntilTheyAreCollected(t *testing.T) {
	t.Parallel()
	const n = 1000 // so that the list of all is cleaned up in between
	ts := &retry.Tokens[int]{}
	key := retry.ScopeKey{Scope: "a"}
	kept, r := ts.Open(t.Context(), &retry.Operation{})
	r.Hold(&key)
	for range n {
		_, r := ts.Open(t.Context(), &retry.Operation{})
		r.Hold(&key)
	}
	for range 3 {
		runtime.GC()
	}
	for range n {
		_, r := ts.Open(t.Context(), &retry.Operation{})
		r.Hold(&key)
	}
	for range 3 {
		runtime.GC()
	}
	require.Equal(t, map[retry.ScopeKey]int{key: 1}, ts.InFlight())
	require.Less(t, ts.Known(), n+n/2, "those that are gone are forgotten")
	require.NoError(t, kept.Wait(t.Context()))
}
