// Live serves the metrics of a made-up program, see package load, to look at the dashboard and the alerts with. Run it in
// the directory telemetry:
//
//	go run ./live
//
// and let a Prometheus scrape http://127.0.0.1:9464/metrics. It ends when interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/awsretry/awsretry/lab/telemetry/load"
	"github.com/awsretry/awsretry/metrics/promretry"
)

func main() {
	address := flag.String("listen", "127.0.0.1:9464", "the `address` of the metrics")
	flag.Parse()
	if err := run(*address); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

func run(address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	metrics, registry := promretry.New(promretry.Config{}), prometheus.NewRegistry()
	registry.MustRegister(metrics)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() {
		failed <- server.ListenAndServe()
		stop()
	}()
	fmt.Printf("metrics: http://%s/metrics\n", address)
	err := load.Run(ctx, metrics, metrics.Watch)
	_ = server.Close()
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
