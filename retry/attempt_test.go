package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestFunctionKnowsWhichAttemptItIs(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	s := modes(t, clk, nil)["standard"]
	var seen []retry.Attempt
	clk.Run(func() {
		_, _ = retry.Do(t.Context(), s, retry.Operation{}, func(ctx context.Context) (int, error) {
			outer, ok := retry.AttemptFrom(ctx)
			require.True(t, ok)
			_, _ = retry.Do(ctx, s, retry.Operation{}, func(ctx context.Context) (int, error) {
				inner, _ := retry.AttemptFrom(ctx)
				seen = append(seen, inner)
				return 0, nil
			})
			seen = append(seen, outer)
			if outer.Number == 1 {
				return 0, errServer
			}
			return 0, nil
		})
	})
	first, second := retry.Attempt{Number: 1, Loops: 1, MaxAttempts: 3}, retry.Attempt{Number: 2, Loops: 1, MaxAttempts: 3}
	inner := retry.Attempt{Number: 1, Loops: 2, MaxAttempts: 9}
	require.Equal(t, []retry.Attempt{inner, first, inner, second}, seen)
	_, ok := retry.AttemptFrom(t.Context())
	require.False(t, ok)
}

func TestContextOfAnAttemptIsTheCallers(t *testing.T) {
	t.Parallel()
	type key struct{}
	s := modes(t, clock.System{}, nil)["standard"]
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(t.Context(), key{}, "value"), deadline)
	defer cancel()
	_, err := retry.Do(ctx, s, retry.Operation{}, func(ctx context.Context) (int, error) {
		got, ok := ctx.Deadline()
		require.True(t, ok)
		require.Equal(t, deadline, got)
		require.Equal(t, "value", ctx.Value(key{}))
		cancel()
		<-ctx.Done()
		require.Equal(t, context.Canceled, ctx.Err())
		return 0, nil
	}, retry.WithAttemptTimeout(retry.FixedTimeout{First: 2 * time.Hour}))
	require.NoError(t, err)
}

func TestAttemptTimeoutIsRetriedAndTheCallersIsNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := modes(t, clock.System{}, func(c *standard.Config) { c.TimeoutCost = 20 })["standard"]
		attempts := 0
		hang := func(ctx context.Context) (int, error) {
			attempts++
			deadline, ok := ctx.Deadline()
			require.True(t, ok)
			require.LessOrEqual(t, time.Until(deadline), 5*time.Second)
			<-ctx.Done()
			require.Equal(t, context.DeadlineExceeded, ctx.Err())
			return 0, errors.Join(ctx.Err(), errClient)
		}
		start := time.Now()
		_, err := retry.Do(t.Context(), s, retry.Operation{}, hang, retry.WithAttemptTimeout(retry.FixedTimeout{First: 5 * time.Second}))
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the deadline is that of the attempt, not of the caller")
		timeout, ok := errors.AsType[*retry.AttemptTimeoutError](err)
		require.True(t, ok)
		require.True(t, timeout.Timeout())
		require.Equal(t, 5*time.Second, timeout.After)
		_, ok = errors.AsType[interface {
			error
			HTTPStatusCode() int
		}](err)
		require.True(t, ok, "what the attempt returned")
		require.Equal(t, 3, attempts)
		require.Equal(t, 3*5*time.Second+3*time.Second, time.Since(start))
		require.Equal(t, 460, s.(snapshotter).Snapshot().Scopes[0].Quota, "at the price of timeouts")

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		attempts = 0
		_, err = retry.Do(ctx, s, retry.Operation{}, hang, retry.WithAttemptTimeout(retry.FixedTimeout{First: 5 * time.Second}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 1, attempts)
	})
}

type snapshotter interface{ Snapshot() retry.Snapshot }

func TestAttemptTimeoutOfARealRequest(t *testing.T) {
	t.Parallel()
	clk := &clock.Fake{}
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		clk.Advance(time.Second) // the attempt's time is up
		<-release
	}))
	defer server.Close()
	defer close(release)
	s := modes(t, clk, nil)["standard"]
	var err error
	clk.Run(func() {
		_, err = retry.Do(t.Context(), s, retry.Operation{}, func(ctx context.Context) (int, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
			require.NoError(t, err)
			response, err := server.Client().Do(request)
			if err != nil {
				return 0, err
			}
			defer response.Body.Close()
			_, err = io.Copy(io.Discard, response.Body)
			return response.StatusCode, err
		}, retry.WithAttemptTimeout(retry.FixedTimeout{First: time.Second}))
	})
	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	_, ok := errors.AsType[*retry.AttemptTimeoutError](err)
	require.True(t, ok)
	require.NotErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
}

func TestOverridesOfOneCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		op     retry.Operation
		opt    retry.Option
		answer error
		want   int
	}{
		{"more attempts", retry.Operation{MaxAttempts: 5}, nil, errServer, 5},
		{"zero attempts means as the strategy says", retry.Operation{}, nil, errServer, 3},
		{"no retry", retry.Operation{MaxAttempts: 1}, nil, errServer, 1},
		{"another classifier", retry.Operation{Classifier: always{}}, nil, errClient, 3},
		{"no policy", retry.Operation{}, retry.WithPolicy[int](nil), errServer, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clk := &clock.Fake{}
			attempts := 0
			clk.Run(func() {
				_, _ = retry.Do(t.Context(), modes(t, clk, nil)["adaptive"], c.op, func(context.Context) (int, error) {
					attempts++
					return 0, c.answer
				}, c.opt)
			})
			require.Equal(t, c.want, attempts)
		})
	}
}

type always struct{}

func (always) Name() string                               { return "always" }
func (always) Classify(classify.Outcome) classify.Verdict { return classify.RetryAs(classify.Client) }

func TestScopeOfOneCall(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	_, err := retry.Do(t.Context(), s, retry.Operation{Scope: "mine"}, func(context.Context) (int, error) { return 0, nil })
	require.NoError(t, err)
	require.Equal(t, "mine", s.(snapshotter).Snapshot().Scopes[1].Scope)
}

func TestNegativeAttemptsAreAnError(t *testing.T) {
	t.Parallel()
	s := modes(t, &clock.Fake{}, nil)["standard"]
	_, err := retry.Do(t.Context(), s, retry.Operation{MaxAttempts: -1}, func(context.Context) (int, error) { return 0, nil })
	require.EqualError(t, err, "retry: MaxAttempts -1: must not be negative")
}

// wrapping is an error that wraps what is put in later.
type wrapping struct{ inner []error }

func (*wrapping) Error() string     { return "wrapping" }
func (w *wrapping) Unwrap() []error { return w.inner }

func TestWhatAnAttemptWithoutTimeReturnedIsFound(t *testing.T) {
	t.Parallel()
	slow := &net.DNSError{Name: "service"}
	inner := &retry.AttemptTimeoutError{After: time.Second, Err: slow}
	self, list, closed := &wrapping{}, &wrapping{}, &wrapping{}
	self.inner = []error{self}
	list.inner = []error{slow, list, nil, list}
	closed.inner = []error{&retry.Error{Reason: retry.ErrMaxElapsed, Last: &retry.AttemptTimeoutError{Err: closed}}}
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nothing", nil, false},
		{"the error", slow, true},
		{"a wrapped one", fmt.Errorf("look up: %w", slow), true},
		{"in an inner operation", fmt.Errorf("get: %w", &retry.Error{Reason: retry.ErrMaxElapsed, Last: inner}), true},
		{"after an inner operation", errors.Join(&retry.AttemptTimeoutError{Err: io.EOF}, slow), true},
		{"by the method of an error", readable{slow}, true},
		{"another error", io.EOF, false},
		{"an error that wraps itself", self, false},
		{"before an error that wraps itself", list, true},
		{"an error that wraps itself through a refusal", closed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ok := errors.AsType[*net.DNSError](&retry.AttemptTimeoutError{Err: c.err})
			require.Equal(t, c.want, ok)
			if ok {
				require.Same(t, slow, got)
			}
			outer, ok := errors.AsType[*retry.AttemptTimeoutError](&retry.Error{Last: &retry.AttemptTimeoutError{After: time.Hour, Err: c.err}})
			require.True(t, ok)
			require.Equal(t, time.Hour, outer.After)
		})
	}
}

// readable is an error that can be read as another one.
type readable struct{ as *net.DNSError }

func (readable) Error() string { return "readable" }
func (r readable) As(target any) bool {
	e, ok := target.(**net.DNSError)
	if ok {
		*e = r.as
	}
	return ok
}
