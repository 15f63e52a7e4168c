package promretry_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/retry"
)

func TestNativeHistogramsAreThereBesideTheClassicOnes(t *testing.T) {
	t.Parallel()
	for _, native := range []bool{false, true} {
		metrics := promretry.New(promretry.Config{NativeHistograms: native})
		metrics.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded, Elapsed: 3 * time.Second, Attempt: 2})
		found, err := registryOf(t, metrics).Gather()
		require.NoError(t, err)
		histograms := 0
		for _, family := range found {
			for _, m := range family.GetMetric() {
				if h := m.GetHistogram(); h != nil {
					histograms++
					require.NotEmpty(t, h.GetBucket(), family.GetName())
					require.Equal(t, native, h.Schema != nil, family.GetName())
					require.Equal(t, native, len(h.GetPositiveSpan())+len(h.GetNegativeSpan()) > 0 || h.GetZeroCount() > 0, family.GetName())
				}
			}
		}
		require.Equal(t, 3, histograms, "of calls, retries and delays")
	}
}

func TestStrategiesAddUpAndEachCountsOnce(t *testing.T) {
	t.Parallel()
	one, two := show(t, scope("a", 10), scope("b", 20)), show(t, scope("a", 30))
	one.snapshot.Overflowed, one.snapshot.Evicted = 1, 2
	two.snapshot.Overflowed, two.snapshot.Evicted = 10, 20
	metrics := promretry.New(promretry.Config{})
	require.NoError(t, metrics.Watch(one))
	require.NoError(t, metrics.Watch(one, two, two))
	require.NoError(t, metrics.Watch())
	require.Equal(t, []string{
		"scopes 3", "scopes_evicted_total 22", "scopes_overflowed_total 11",
	}, series(t, metrics, "scopes"))
}

// byValue is a strategy that == cannot compare.
type byValue struct {
	retry.Strategy
	scopes []string
}

func TestWatchRefusesStrategiesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	metrics := promretry.New(promretry.Config{})
	incomparable := byValue{show(t, scope("a", 0)), nil}
	require.NoError(t, metrics.Watch(incomparable, incomparable))
	for name, strategy := range map[string]retry.Strategy{
		"nil": nil, "a nil pointer": (*byValue)(nil), "around nil": byValue{},
	} {
		require.ErrorIs(t, metrics.Watch(show(t, scope("a", 0)), strategy), retry.ErrNoStrategy, name)
	}
	require.Equal(t, []string{"scopes 2"}, series(t, metrics, "scopes "), "none was added")
}

func TestMetricsOfTwoPartsOfAProgramFitIntoOneRegistry(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	for _, part := range []string{"uploads", "mails"} {
		metrics := promretry.New(promretry.Config{})
		require.NoError(t, metrics.Watch(show(t, scope("a", 0))))
		prometheus.WrapRegistererWith(prometheus.Labels{"part": part}, registry).MustRegister(metrics)
		metrics.Observe(t.Context(), retry.Event{Kind: retry.OperationEnded})
	}
	require.Contains(t, scrape(t, registry), `awsretry_scopes{part="mails"} 1`)
}
