package otelretry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/metrics/otelretry"
	"github.com/awsretry/awsretry/retry"
)

// A program makes one Telemetry. The strategy tells it what happens, and it asks the strategy for the
// gauges of scopes.
func ExampleNew() {
	ctx := context.Background()
	reader := sdk.NewManualReader() // a program has a periodic reader, with an exporter
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))

	telemetry, err := otelretry.New(otelretry.Config{MeterProvider: provider})
	if err != nil {
		log.Fatal(err)
	}
	strategy, err := awsretry.Load(ctx, awsretry.WithObserver(telemetry), awsretry.WithMode(awsretry.ModeStandard))
	if err != nil {
		log.Fatal(err)
	}
	if err := telemetry.Watch(strategy); err != nil {
		log.Fatal(err)
	}

	attempts := 0
	err = retry.DoErr(ctx, strategy, retry.Operation{Service: "dynamodb", Name: "GetItem"}, func(context.Context) error {
		if attempts++; attempts == 1 {
			return retry.Mark(errors.New("busy"), classify.Transient)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}

	var collected metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &collected); err != nil {
		log.Fatal(err)
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if counter, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "awsretry.attempts" {
			for _, point := range counter.DataPoints {
				kind, _ := point.Attributes.Value("awsretry.kind")
				fmt.Println(kind.AsString(), point.Value)
			}
		}
	}
	// Unordered output:
	// transient 1
	// ok 1
}

// With otelhttp inside httpretry, each attempt has a span of its own, and the spans of the second and
// later attempts have the attribute http.request.resend_count.
func ExampleResendCount() {
	ctx := context.Background()
	strategy, err := awsretry.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	transport, err := httpretry.New(httpretry.Config{
		Strategy: strategy,
		Base:     otelhttp.NewTransport(otelretry.ResendCount(http.DefaultTransport)),
	})
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
}
