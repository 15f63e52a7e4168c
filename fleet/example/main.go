// Command example plays the same load twice against a service with a limit: first each worker finds
// its own share of the limit, then all workers are a fleet.
//
// The workers are processes with redis-server as their store. Without redis-server they are members
// in one process, over [fleet.Memory]:
//
//	go run ./example -workers 40 -rate 100
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/awsretry/awsretry/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program; it returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	if len(args) > 1 && args[1] == workerArgument {
		return report(errs, work(ctx, args[2:], in, out))
	}
	p := play{connect: loopback, warmUp: 10 * time.Second}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.IntVar(&p.workers, "workers", 40, "how many workers there are")
	flags.Float64Var(&p.rate, "rate", 100, "how many requests the service allows each second")
	flags.DurationVar(&p.measure, "for", 15*time.Second, "how long to measure, each time after 10 s to warm up")
	flags.StringVar(&p.redisServer, "redis-server", "", "path of redis-server (default: the one on PATH)")
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2 // Parse has printed it
	}
	if err := p.check(flags.Args()); err != nil {
		fmt.Fprintf(errs, "example: %v\n", err)
		return 2
	}
	if p.redisServer == "" {
		p.redisServer, _ = exec.LookPath("redis-server") // empty if there is none
	}
	return report(errs, p.twice(ctx, out))
}

// report prints an error, and returns the exit status.
func report(errs io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(errs, "example: %v\n", err)
	return 1
}

// play is a load and a service. It is the same with a fleet and without one.
type play struct {
	workers         int
	rate            float64 // requests per second that the service allows
	warmUp, measure time.Duration
	redisServer     string // path; empty: members in this process over fleet.Memory
	connect         network
}

// check returns an error for a flag whose value makes no sense, or is more than one computer can
// do.
func (p play) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("there are flags only, and no argument %q", rest[0])
	case p.workers < 1 || p.workers > 1000:
		return fmt.Errorf("-workers must be from 1 to 1000, and is %d", p.workers)
	case !(p.rate > 0 && p.rate <= 1e5):
		return fmt.Errorf("-rate must be above 0 and at most 100000, and is %v", p.rate)
	case p.measure <= 0:
		return fmt.Errorf("-for must be above 0s, and is %v", p.measure)
	}
	return nil
}

// network gives the service a listener, and clients a transport to it. A worker in its own process
// uses loopback.
type network func(ctx context.Context) (net.Listener, http.RoundTripper, error)

func loopback(ctx context.Context) (net.Listener, http.RoundTripper, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	return listener, &http.Transport{MaxIdleConnsPerHost: callers}, err
}

// result is what was measured. Rates are per second.
type result struct {
	throttled               float64 // share of the requests
	goodput                 float64
	leastServed, mostServed float64 // goodput of single workers
	fleetRate, storeCalls   float64
}

// twice plays without a fleet and with one, and prints the results.
func (p play) twice(ctx context.Context, out io.Writer) error {
	address := ""
	if p.redisServer == "" {
		fmt.Fprintf(out, "%d members in one process over fleet.Memory, as there is no redis-server.\n", p.workers)
	} else {
		server, err := startRedis(ctx, p.redisServer)
		if err != nil {
			return err
		}
		defer server.end()
		address = server.address
		fmt.Fprintf(out, "%d worker processes with a redis-server.\n", p.workers)
	}
	fmt.Fprintf(out, "The service allows %v requests/s. Measured for %v, after %v.\n\n", p.rate, p.measure, p.warmUp)
	var results [2]result
	for i, with := range []bool{false, true} {
		var err error
		if results[i], err = p.once(ctx, p.starter(address, with)); err != nil {
			return err
		}
	}
	printTable(out, results[0], results[1])
	return nil
}

// starter returns what starts the workers.
func (p play) starter(address string, with bool) starter {
	if p.redisServer == "" {
		return members{count: p.workers, shared: with}
	}
	if !with {
		address = ""
	}
	return processes{count: p.workers, store: address}
}

// once plays the load and measures.
func (p play) once(ctx context.Context, s starter) (r result, err error) {
	listener, way, err := p.connect(ctx)
	if err != nil {
		return result{}, err
	}
	service := newService(p.rate)
	server := &http.Server{Handler: service, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		err = errors.Join(err, server.Close())
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
	}()

	workers, err := s.start(ctx, "http://"+listener.Addr().String(), way)
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, workers.end(ctx)) }()
	if err := (clock.System{}).Sleep(ctx, p.warmUp); err != nil {
		return result{}, err
	}
	before, err := workers.ask()
	if err != nil {
		return result{}, err
	}
	service.restart()
	began := clock.System{}.Now()
	if err := (clock.System{}).Sleep(ctx, p.measure); err != nil {
		return result{}, err
	}
	seconds := clock.System{}.Now().Sub(began).Seconds()
	throttled, counts := service.restart()
	after, err := workers.ask()
	if err != nil {
		return result{}, err
	}
	r = p.counted(throttled, counts, seconds)
	r.storeCalls, r.fleetRate = float64(after.Calls-before.Calls)/seconds, after.Rate
	return r, nil
}

// counted returns the part of a result that the service has counted.
func (p play) counted(throttled int, served map[string]int, seconds float64) (r result) {
	total := 0
	for i := range p.workers {
		count := served[name(i)]
		total += count
		rate := float64(count) / seconds
		if i == 0 || rate < r.leastServed {
			r.leastServed = rate
		}
		r.mostServed = max(r.mostServed, rate)
	}
	r.goodput = float64(total) / seconds
	r.throttled = float64(throttled) / float64(max(total+throttled, 1))
	return r
}

// printTable prints the results side by side.
func printTable(out io.Writer, alone, fleet result) {
	row := func(name, alone, fleet string) { fmt.Fprintf(out, "%-22s  %9s  %9s\n", name, alone, fleet) }
	rate := func(perSecond float64) string { return fmt.Sprintf("%.1f/s", perSecond) }
	share := func(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }
	row("", "no fleet", "a fleet")
	row("throttled", share(alone.throttled), share(fleet.throttled))
	row("goodput", rate(alone.goodput), rate(fleet.goodput))
	row("least served worker", rate(alone.leastServed), rate(fleet.leastServed))
	row("most served worker", rate(alone.mostServed), rate(fleet.mostServed))
	row("send rate of the fleet", "-", rate(fleet.fleetRate))
	row("calls of the store", "-", rate(fleet.storeCalls))
}
