package otelretry_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/retry"
)

var errMeter = errors.New("no such instrument")

// failing makes no counters, or no callback.
type failing struct {
	noop.MeterProvider
	callback bool
}

func (f failing) Meter(string, ...metric.MeterOption) metric.Meter {
	return failingMeter{callback: f.callback}
}

type failingMeter struct {
	noop.Meter
	callback bool
}

func (f failingMeter) Int64Counter(name string, options ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	if f.callback {
		return f.Meter.Int64Counter(name, options...)
	}
	return nil, errMeter
}

func (f failingMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return noop.Registration{}, errMeter
}

func TestNewReturnsTheErrorOfTheProvider(t *testing.T) {
	t.Parallel()
	for want, provider := range map[string]metric.MeterProvider{
		"otelretry: making the instruments: no such instrument\nno such instrument\nno such instrument\nno such instrument": failing{},
		"otelretry: registering the gauges: no such instrument":                                                             failing{callback: true},
	} {
		telemetry, err := otelretry.New(otelretry.Config{MeterProvider: provider})
		require.Nil(t, telemetry)
		require.ErrorIs(t, err, errMeter)
		require.EqualError(t, err, want)
	}
}

// everything records an event of each kind, and watches a strategy with all that a snapshot can have.
func everything(t *testing.T, telemetry *otelretry.Telemetry) {
	t.Helper()
	s := show(t, "orders")
	scope := &s.snapshot.Scopes[0]
	scope.SendRateSource, scope.Limited, scope.FleetRate, scope.StoreCalls = "fleet", true, 40, 1
	require.NoError(t, telemetry.Watch(s))
	for kind := range retry.OperationEnded + 1 {
		telemetry.Observe(t.Context(), retry.Event{
			Kind: kind, Operation: getItem, Attempt: 2, Err: serviceError("SlowDown"),
			Verdict: classify.RetryAs(classify.Throttling), EntriesThrottled: 1,
		})
	}
}

// What a reader of the SDK gets is what an exporter sends over OTLP.
func TestInstrumentsAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	promised := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^//\t(awsretry\.\S+) +(\w+, \S+)`).FindAllStringSubmatch(string(text), -1) {
		promised[row[1]] = row[2]
	}
	reader, config := newReader()
	everything(t, newTelemetry(t, config))
	exported := map[string]string{}
	for name, m := range collect(t, reader) {
		kind, _ := describe(t, m.Data)
		kind, bounds, _ := strings.Cut(kind, " ")
		require.Contains(t, []string{
			"", "[1 2 3 4 5 10]", "[0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 20 30 60 120]",
		}, bounds, name)
		exported[name] = kind + ", " + m.Unit
		require.Regexp(t, `^[A-Z].*\.$`, m.Description, name)
	}
	require.Equal(t, promised, exported)
}
