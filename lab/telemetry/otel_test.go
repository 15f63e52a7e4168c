//go:build long

package telemetry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestSimulatedOutageHasTheSameSeriesInOpenTelemetry(t *testing.T) {
	t.Parallel()
	r := recording(t)
	types := func(families []*dto.MetricFamily) map[string]dto.MetricType {
		all := map[string]dto.MetricType{}
		for _, f := range families {
			all[f.GetName()] = f.GetType()
		}
		return all
	}
	require.Equal(t, types(r.End), types(r.exporter))
	want, got := seriesOf(r.End...), seriesOf(r.exporter...)
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

func TestSimulatedOutageInAReaderOfOpenTelemetry(t *testing.T) {
	t.Parallel()
	r := recording(t)
	require.Len(t, r.reader.ScopeMetrics, 1)
	scope := r.reader.ScopeMetrics[0]
	slices.SortFunc(scope.Metrics, func(a, b metricdata.Metrics) int { return strings.Compare(a.Name, b.Name) })
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", scope.Scope.Name)
	for _, m := range scope.Metrics {
		fmt.Fprintf(&text, "\n%s, unit %s, %s\n", m.Name, m.Unit, strings.TrimPrefix(fmt.Sprintf("%T", m.Data), "metricdata."))
		lines := points(m.Data)
		require.NotEmpty(t, lines, m.Name)
		slices.Sort(lines)
		fmt.Fprintln(&text, strings.Join(lines, "\n"))
	}
	golden(t, "testdata/reader.txt", text.String())
}

// points returns a line for each data point: its attributes and its value. The buckets of histograms are in the scrape.
func points(data metricdata.Aggregation) (lines []string) {
	add := func(attributes attribute.Set, format string, values ...any) {
		lines = append(lines, "  "+attributes.Encoded(attribute.DefaultEncoder())+": "+fmt.Sprintf(format, values...))
	}
	switch data := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "count %d, sum %g", p.Count, p.Sum)
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "count %d, sum %d", p.Count, p.Sum)
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%d", p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%g", p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%d", p.Value)
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, "%g", p.Value)
		}
	}
	return lines
}
