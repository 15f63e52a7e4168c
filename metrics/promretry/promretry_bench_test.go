package promretry_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func succeed(context.Context) error { return nil }

// BenchmarkDo shows what an operation pays whose first attempt succeeds. What promretry costs is the difference to an
// observer that does nothing.
func BenchmarkDo(b *testing.B) {
	for _, bb := range []struct {
		name     string
		observer retry.Observer
	}{
		{"none", nil},
		{"nothing", retry.ObserverFunc(func(context.Context, retry.Event) {})},
		{"promretry", promretry.New(promretry.Config{})},
		{"promretry-native", promretry.New(promretry.Config{NativeHistograms: true})},
	} {
		b.Run("observer="+bb.name, func(b *testing.B) {
			strategy, err := standard.New(standard.Config{Observer: bb.observer})
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if err := retry.DoErr(b.Context(), strategy, getItem, succeed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCollect is a scrape over HTTP without the network, with 10,000 scopes.
func BenchmarkCollect(b *testing.B) {
	metrics := promretry.New(promretry.Config{})
	strategy, err := adaptive.New(adaptive.Config{Standard: standard.Config{Observer: metrics, MaxScopes: 10_000}})
	require.NoError(b, err)
	for i := range 9_999 {
		op := getItem
		op.Resource = "table-" + strconv.Itoa(i)
		require.NoError(b, retry.DoErr(b.Context(), strategy, op, succeed))
	}
	require.Len(b, strategy.Snapshot().Scopes, 10_000)
	require.NoError(b, metrics.Watch(strategy))
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	b.ReportAllocs()
	for b.Loop() {
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/metrics", nil))
		if response.Code != http.StatusOK {
			b.Fatal(response.Body)
		}
	}
}
