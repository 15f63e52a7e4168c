package httpretry_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

// around is a strategy by another author.
type around struct{ retry.Strategy }

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
