// Live is a small program with awsretry whose metrics a Prometheus can scrape, to look at the dashboard with. Twenty
// workers ask a service inside the process, which allows 60 requests a second for five minutes, then 6 for two
// minutes, and so on. Run it in the directory telemetry:
//
//	go run ./live
//
// and let a Prometheus scrape http://127.0.0.1:9464/metrics. It ends when interrupted, and after the time of -for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/metrics/promretry"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func main() {
	address := flag.String("listen", "127.0.0.1:9464", "the `address` of the metrics")
	length := flag.Duration("for", 10*time.Minute, "how long the program runs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := clock.WithTimeout(ctx, clock.System{}, *length)
	defer cancel()
	if err := run(ctx, *address); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address string) error {
	metrics := promretry.New(promretry.Config{})
	strategy, err := adaptive.New(adaptive.Config{Standard: standard.Config{Observer: metrics}})
	if err != nil {
		return err
	}
	if err := metrics.Watch(strategy); err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("metrics: http://%s/metrics\n", listener.Addr())

	var all sync.WaitGroup
	table := &table{start: clock.System{}.Now(), tokens: 60}
	for range 20 {
		all.Go(func() { work(ctx, strategy, table) })
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	all.Wait()
	return nil
}

func work(ctx context.Context, strategy retry.Strategy, table *table) {
	op := retry.Operation{Service: "dynamodb", Region: "eu-central-1", Name: "PutItem", Resource: "orders"}
	for ctx.Err() == nil {
		_ = retry.DoErr(ctx, strategy, op, table.put) // the program goes on after a call that failed
		_ = clock.System{}.Sleep(ctx, 500*time.Millisecond)
	}
}

type table struct { // the service
	start time.Time

	mu     sync.Mutex // guards what follows
	tokens float64
	filled time.Duration
}

func (t *table) put(ctx context.Context) error {
	if err := (clock.System{}).Sleep(ctx, 20*time.Millisecond); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now, limit := clock.System{}.Now().Sub(t.start), 60.0
	if now%(7*time.Minute) >= 5*time.Minute {
		limit = 6
	}
	t.tokens = min(t.tokens+(now-t.filled).Seconds()*limit, limit)
	t.filled = now
	if t.tokens < 1 {
		return throttle{}
	}
	t.tokens--
	return nil
}

// throttle is the error of a request that the service does not allow.
type throttle struct{}

func (throttle) Error() string     { return "the table allows fewer requests" }
func (throttle) ErrorCode() string { return "ProvisionedThroughputExceededException" }
