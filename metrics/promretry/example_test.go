package promretry_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/retry"
)

// A program gives the metrics to its strategy as observer, lets them watch the strategy, and
// registers them. Prometheus reads them at /metrics.
func ExampleNew() {
	ctx := context.Background()
	metrics := promretry.New(promretry.Config{})
	strategy, err := awsretry.Load(ctx, awsretry.WithObserver(metrics))
	if err != nil {
		log.Fatal(err)
	}
	if err := metrics.Watch(strategy); err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	op := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Resource: "orders", Name: "GetItem"}
	if err := retry.DoErr(ctx, strategy, op, func(context.Context) error { return nil }); err != nil {
		log.Fatal(err)
	}

	response := httptest.NewRecorder()
	mux.ServeHTTP(response, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(response.Body.String()) {
		if strings.HasPrefix(line, "awsretry_attempts_total") || strings.HasPrefix(line, "awsretry_quota_available") {
			fmt.Print(line)
		}
	}
	// Output:
	// awsretry_attempts_total{awsretry_kind="ok",cloud_region="eu-central-1",error_type="",rpc_method="GetItem",rpc_service="dynamodb"} 1
	// awsretry_quota_available{awsretry_scope="(all)",cloud_region="",rpc_service=""} 500
	// awsretry_quota_available{awsretry_scope="dynamodb/eu-central-1/orders",cloud_region="eu-central-1",rpc_service="dynamodb"} 500
}

// Five tables have gauges of their own, without the name of the tenant that stands in front. All
// scopes of other services are in "other".
func ExampleConfig() {
	metrics := promretry.New(promretry.Config{
		Scopes: 5,
		ScopeName: func(k retry.ScopeKey) string {
			if k.Service != "dynamodb" {
				return ""
			}
			_, table, _ := strings.Cut(k.Resource, "-")
			return table
		},
	})
	strategy, err := awsretry.Load(context.Background(), awsretry.WithObserver(metrics))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(metrics.Watch(strategy))
	// Output: <nil>
}
