package httpretry_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestNewClientSendsFailedRequestsAgain(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	strategy, err := standard.New(standard.Config{Base: time.Nanosecond, Clock: clock.System{}})
	require.NoError(t, err)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	require.NoError(t, err)
	response, err := httpretry.NewClient(strategy).Do(request)

	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, 3, requests)
}

func TestNewClientWithoutAStrategyRefusesRequests(t *testing.T) {
	t.Parallel()
	for name, strategy := range map[string]retry.Strategy{"nil": nil, "around nil": around{}} {
		body := &bodyReader{Reader: strings.NewReader("body")}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://127.0.0.1:1/", body)
		require.NoError(t, err)
		response, err := httpretry.NewClient(strategy).Do(request) //nolint:bodyclose // there is none
		require.Nil(t, response, name)
		require.ErrorContains(t, err, "httpretry: Strategy: ", name)
		require.EqualValues(t, 1, body.closed.Load(), name)
	}
}
