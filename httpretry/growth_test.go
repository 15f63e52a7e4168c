package httpretry_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/retry"
)

func TestAttemptTimeoutGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var took []time.Duration
		base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
			began := time.Now()
			<-r.Context().Done()
			took = append(took, time.Since(began))
			return nil, r.Context().Err()
		})
		transport := newTransport(t, httpretry.Config{
			Strategy: on(t, nil), Base: base, AttemptTimeout: retry.FixedTimeout{First: 2 * time.Second, Factor: 2},
		})
		err := exchange(transport, newRequest(t.Context(), t, http.MethodGet, "http://service/", "")).err
		late, ok := errors.AsType[*retry.AttemptTimeoutError](err)
		require.True(t, ok)
		require.Equal(t, 8*time.Second, late.After)
		require.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}, took)
	})
}

// TestTimeOfAnUploadBeginsAnewWithEachPart has a server that reads three parts slowly, and then answers or not.
func TestTimeOfAnUploadBeginsAnewWithEachPart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer time.Duration
		late   bool
	}{"it gets on": {900 * time.Millisecond, false}, "the answer is late": {1100 * time.Millisecond, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
					part := make([]byte, 1)
					for _, err := r.Body.Read(part); err == nil; _, err = r.Body.Read(part) {
						if err := (clock.System{}).Sleep(r.Context(), 900*time.Millisecond); err != nil {
							return nil, err
						}
					}
					if err := (clock.System{}).Sleep(r.Context(), c.answer); err != nil {
						return nil, err
					}
					return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
				})
				transport := newTransport(t, httpretry.Config{
					Strategy: on(t, nil), Base: base, MaxAttempts: 1, AttemptTimeout: retry.FixedTimeout{First: time.Second},
				})
				began := time.Now()
				response, err := transport.RoundTrip(newRequest(t.Context(), t, http.MethodPut, "http://service/", "abc"))
				_, late := errors.AsType[*retry.AttemptTimeoutError](err)
				require.Equal(t, c.late, late, "%v", err)
				require.Equal(t, 2700*time.Millisecond+min(c.answer, time.Second), time.Since(began))
				if !c.late {
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
				}
			})
		})
	}
}

// TestLearnedTimeoutLeavesRequestsThatAreNotSentAgain: a POST could only fail.
func TestLearnedTimeoutLeavesRequestsThatAreNotSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		timeout, err := retry.NewLearnedTimeout(retry.Slower{Quantile: 0.9, Factor: 3, Floor: 1, Ceiling: time.Minute})
		require.NoError(t, err)
		takes, requests := 10*time.Millisecond, 0
		base := roundTripFunc(func(r *http.Request) (*http.Response, error) {
			requests++
			d := takes
			takes = 10 * time.Millisecond
			if err := (clock.System{}).Sleep(r.Context(), d); err != nil {
				return nil, err
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		})
		transport := newTransport(t, httpretry.Config{Strategy: on(t, nil), Base: base, AttemptTimeout: timeout})
		send := func(method string, d time.Duration) (n int) {
			takes, requests = d, 0
			response, err := transport.RoundTrip(newRequest(t.Context(), t, method, "http://service/", "abc"))
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			return requests
		}
		for range 100 {
			send(http.MethodPut, 10*time.Millisecond)
			send(http.MethodPost, 10*time.Millisecond)
		}
		require.Equal(t, 2, send(http.MethodPut, 9*time.Second))
		require.Equal(t, 1, send(http.MethodPost, 9*time.Second))
	})
}
