//go:build long

package telemetry_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/awsretry/awsretry/lab/telemetry/internal/prom"
	"github.com/awsretry/awsretry/lab/telemetry/internal/record"
	"github.com/awsretry/awsretry/lab/telemetry/outage"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/retry"
)

var update = flag.Bool("update", false, "write the golden files and the series of alerts_test.yml")

// evidence is one outage, seen by promretry and by otelretry.
type evidence struct {
	*record.Recording

	// What the reader of OpenTelemetry and its exporter to Prometheus show when promretry shows End.
	reader   metricdata.ResourceMetrics
	exporter []*dto.MetricFamily
}

// played is the outage as all tests see it.
var played = sync.OnceValues(func() (*evidence, error) {
	all := &evidence{Recording: record.New(time.Minute)}
	registry, reader := prometheus.NewRegistry(), metric.NewManualReader()
	exported, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, err
	}
	telemetry, err := otelretry.New(otelretry.Config{
		MeterProvider: metric.NewMeterProvider(metric.WithReader(reader), metric.WithReader(exported)),
	})
	if err != nil {
		return nil, err
	}
	c := all.Config()
	first, watch, sample := c.Observer, c.Watch, c.Sample
	c.Observer = retry.ObserverFunc(func(ctx context.Context, e retry.Event) {
		first.Observe(ctx, e)
		telemetry.Observe(ctx, e)
	})
	c.Watch = func(strategies ...retry.Strategy) error {
		return errors.Join(watch(strategies...), telemetry.Watch(strategies...))
	}
	c.Sample = func(at time.Duration) {
		sample(at)
		// At each sample, because which scopes have gauges depends on the scrapes before.
		shown, gathered := registry.Gather()
		if err = errors.Join(err, gathered); at == outage.End {
			all.exporter = shown
			err = errors.Join(err, reader.Collect(context.Background(), &all.reader))
		}
	}
	return all, errors.Join(outage.Run(c), all.Err(), err, telemetry.Close())
})

func recording(t *testing.T) *evidence {
	t.Helper()
	r, err := played()
	require.NoError(t, err)
	return r
}

// tools skips a test where there is no Prometheus, but not in continuous integration.
func tools(t *testing.T) prom.Tools {
	t.Helper()
	found, err := prom.Find()
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return found
}

// golden compares a text with a file.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors may round a product only after they have added to it, which makes another outage")
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	got, wanted := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(got), len(wanted)) { // the first difference, because the texts are long
		require.Equal(t, wanted[i], got[i], "%s:%d, see git diff after go test -update", file, i+1)
	}
	require.Len(t, got, len(wanted), file)
}

// replay is a Prometheus that has scraped a recording.
func replay(t *testing.T, tools prom.Tools, r *evidence) *prom.Server {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, tools.Import(t.Context(), dir, r.WriteOpenMetrics))
	server, err := tools.Start(t.Context(), dir, "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}
