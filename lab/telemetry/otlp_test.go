//go:build !race

package telemetry_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// collector is a server that takes OTLP over HTTP.
type collector struct {
	mu      sync.Mutex // guards what follows
	metrics []*collectormetrics.ExportMetricsServiceRequest
	traces  []*collectortrace.ExportTraceServiceRequest
	errs    []error
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && r.URL.Path == "/v1/metrics" {
		c.metrics = append(c.metrics, &collectormetrics.ExportMetricsServiceRequest{})
		err = proto.Unmarshal(body, c.metrics[len(c.metrics)-1])
	} else if err == nil {
		c.traces = append(c.traces, &collectortrace.ExportTraceServiceRequest{})
		err = proto.Unmarshal(body, c.traces[len(c.traces)-1])
	}
	if err != nil {
		c.errs = append(c.errs, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// limited is a throttle that says which limit it is about.
type limited struct{ code }

func (limited) ThrottledBy() []classify.Reason {
	return []classify.Reason{{Reach: classify.ReachPart, Word: "TableReadKeyRangeThroughputExceeded"}}
}

// exported returns what a collector gets of one call with all that can happen, and of a strategy with all that there is.
func exported(t *testing.T) *collector {
	t.Helper()
	got := &collector{}
	server := httptest.NewServer(got)
	t.Cleanup(server.Close)
	toMetrics, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(server.URL+"/v1/metrics"))
	require.NoError(t, err)
	toTraces, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(server.URL+"/v1/traces"))
	require.NoError(t, err)
	meterProvider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(toMetrics)))
	tracerProvider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(toTraces))

	telemetry, err := otelretry.New(otelretry.Config{MeterProvider: meterProvider})
	require.NoError(t, err)
	strategy, err := standard.New(standard.Config{})
	require.NoError(t, err)
	key := retry.ScopeKey{Service: "dynamodb", Region: "eu-central-1", Resource: "orders"}
	require.NoError(t, telemetry.Watch(shown{strategy, &retry.Snapshot{
		Mode: "adaptive", Behavior: retry.V21,
		Scopes: []retry.ScopeSnapshot{{
			Key: key, Scope: key.String(), SendRateSource: "fleet", Limited: true, FillRate: 1, FleetRate: 2, StoreCalls: 3,
		}},
	}}))
	op := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Name: "GetItem", Resource: "orders"}
	ctx, span := tracerProvider.Tracer("a program").Start(t.Context(), "a call")
	for _, e := range []retry.Event{
		{Kind: retry.SendWaitEnded, Delay: time.Second},
		{Kind: retry.AttemptEnded, Err: limited{"ThrottlingException"}, Verdict: strategy.Judge(op, limited{"ThrottlingException"})},
		{Kind: retry.RetryScheduled, Err: limited{"ThrottlingException"}, Delay: time.Second},
		{Kind: retry.AttemptEnded, Entries: 25, EntriesThrottled: 3},
		{Kind: retry.RetryRefused, Err: limited{"ThrottlingException"}, Reason: retry.ErrQuotaExhausted},
		{Kind: retry.OperationEnded, Attempt: 2, Err: limited{"ThrottlingException"}, Reason: retry.ErrQuotaExhausted, BackoffWait: time.Second},
	} {
		e.Operation, e.Attempt = op, max(e.Attempt, 1)
		telemetry.Observe(ctx, e)
	}
	span.End()
	require.NoError(t, meterProvider.Shutdown(context.WithoutCancel(t.Context())))
	require.NoError(t, tracerProvider.Shutdown(context.WithoutCancel(t.Context())))
	require.Empty(t, got.errs)
	return got
}

// keys returns the names of attributes, sorted.
func keys(attributes []*common.KeyValue) (names []string) {
	for _, a := range attributes {
		names = append(names, a.GetKey())
	}
	slices.Sort(names)
	return names
}

// onThePage returns a metric as the table of the page describes it: its name, its kind and unit, and its labels.
func onThePage(m *metricspb.Metric) [3]string {
	name, unit := strings.ReplaceAll(m.GetName(), ".", "_"), m.GetUnit()
	thing, rate := strings.CutSuffix(unit, "/s")
	switch {
	case unit == "s":
		name += "_seconds"
	case rate:
		name += "_per_second"
	}
	if thing = strings.Trim(thing, "{}"); strings.HasSuffix(thing, "y") {
		thing = strings.TrimSuffix(thing, "y") + "ie"
	}
	if unit != "s" {
		unit = thing + "s"
	}
	if rate {
		unit += "/s"
	}
	kind, labels := "", []string{}
	add := func(attributes []*common.KeyValue) {
		for _, key := range keys(attributes) {
			if key = strings.ReplaceAll(key, ".", "_"); !slices.Contains(labels, key) {
				labels = append(labels, key)
			}
		}
	}
	switch data := m.GetData().(type) {
	case *metricspb.Metric_Histogram:
		kind = "histogram"
		for _, p := range data.Histogram.GetDataPoints() {
			add(p.GetAttributes())
		}
	case *metricspb.Metric_Gauge:
		kind = "gauge"
		for _, p := range data.Gauge.GetDataPoints() {
			add(p.GetAttributes())
		}
	case *metricspb.Metric_Sum:
		kind, name = "counter", name+"_total"
		for _, p := range data.Sum.GetDataPoints() {
			add(p.GetAttributes())
		}
	}
	slices.Sort(labels)
	return [3]string{name, kind + ", " + unit, strings.Join(labels, " ")}
}

func TestMetricsSentWithOTLPAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	var want, got [][3]string
	for _, row := range table(t, "metric") {
		want = append(want, [3]string{strings.Trim(row[0], "` "), row[1], strings.Join(labelsOf(row[2]), " ")})
	}
	sent := exported(t).metrics
	require.Len(t, sent, 1)
	require.Len(t, sent[0].GetResourceMetrics(), 1)
	require.Len(t, sent[0].GetResourceMetrics()[0].GetScopeMetrics(), 1)
	scope := sent[0].GetResourceMetrics()[0].GetScopeMetrics()[0]
	require.Equal(t, "github.com/awsretry/awsretry/metrics/otelretry", scope.GetScope().GetName())
	require.NotEmpty(t, scope.GetScope().GetVersion())
	require.Regexp(t, `^https://opentelemetry\.io/schemas/1\.\d+\.0$`, scope.GetSchemaUrl())
	for _, m := range scope.GetMetrics() {
		got = append(got, onThePage(m))
	}
	byName := func(a, b [3]string) int { return strings.Compare(a[0], b[0]) }
	slices.SortFunc(want, byName)
	slices.SortFunc(got, byName)
	require.Equal(t, want, got)
}

func TestSpanEventsSentWithOTLPAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	want, got := map[string]string{}, map[string]string{}
	for _, row := range table(t, "span event") {
		names := strings.Split(strings.ReplaceAll(row[1], "`", ""), ", ")
		want[strings.Trim(row[0], "` ")] = strings.Join(names, " ")
	}
	sent := exported(t).traces
	require.Len(t, sent, 1)
	for _, e := range sent[0].GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetEvents() {
		got[e.GetName()] = strings.Join(keys(e.GetAttributes()), " ")
		for _, a := range e.GetAttributes() {
			if a.GetKey() == "awsretry.delay" {
				require.InDelta(t, 1, a.GetValue().GetDoubleValue(), 0, "in seconds")
			}
		}
	}
	require.Equal(t, want, got)
}
