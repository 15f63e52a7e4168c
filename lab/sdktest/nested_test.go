package sdktest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestOnceIsOneAttemptWithoutAWait(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		for _, mode := range []awsretry.ResolveOption{
			awsretry.WithMode(awsretry.ModeStandard), awsretry.WithMode(awsretry.ModeAdaptive),
		} {
			s := newScript(throttle)
			cfg := setup(t, s, hermetic(mode, awsretry.WithMaxAttempts(5)))
			began := time.Now()
			err := describeWith(retry.Once(t.Context()), cfg)
			require.Zero(t, time.Since(began))
			require.Equal(t, 1, s.requests())
			requireThrottle(t, err)
			require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
			require.Equal(t, 500, quotaOf(t, cfg))
		}
	})
}

// nestings returns an observer and the products of attempts that it hears of.
func nestings() (retry.Observer, *[]int) {
	var products []int
	return retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		if e.Kind == retry.LoopNested {
			products = append(products, e.MaxAttempts)
		}
	}), &products
}

func TestObserverHearsOfAClientInALoop(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		observer, products := nestings()
		s := newScript(throttle)
		cfg := setup(t, s, hermetic(awsretry.WithMaxAttempts(4), awsretry.WithObserver(observer)))
		outer, err := standard.New(standard.Config{MaxAttempts: 2})
		require.NoError(t, err)
		err = retry.DoErr(t.Context(), outer, retry.Operation{}, func(ctx context.Context) error { return describeWith(ctx, cfg) })
		require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
		require.Equal(t, 8, s.requests())
		require.Equal(t, []int{8, 8}, *products)
	})
}

// TestObserverHearsOfALoopInAClient has an HTTP client that retries below that of the SDK.
func TestObserverHearsOfALoopInAClient(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		t.Helper()
		observer, products := nestings()
		inner, err := standard.New(standard.Config{MaxAttempts: 2, Observer: observer})
		require.NoError(t, err)
		s := newScript(fail(500, ""))
		transport, err := httpretry.New(httpretry.Config{
			Strategy: inner, Base: roundTripFunc(s.Do), Idempotent: func(*http.Request) bool { return true },
		})
		require.NoError(t, err)
		cfg := installed(t, &http.Client{Transport: transport}, hermetic(awsretry.WithMaxAttempts(3)))
		require.Error(t, describe(t, cfg))
		require.Equal(t, 6, s.requests())
		require.Equal(t, []int{6, 6, 6}, *products)

		require.Error(t, describeWith(retry.Once(t.Context()), cfg))
		require.Equal(t, 7, s.requests())
		require.Len(t, *products, 3)
	})
}

// roundTripFunc is a function that is an http.RoundTripper.
type roundTripFunc func(r *http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
