// Command tour resolves the retry settings of the user that runs it, builds the
// strategy that they ask for, and sends requests with it to a service inside the
// process that fails, throttles and recovers.
//
// It reads the environment and the shared files as any AWS tool does:
//
//	AWS_PROFILE=x AWS_RETRY_MODE=adaptive go run ./examples/tour
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/awsretry/awsretry"
)

func main() {
	os.Exit(run(context.Background(), os.Stdout, os.Stderr, loopback, nil))
}

// run is the whole program; it returns the exit status. A nil random means the random numbers
// of the strategy.
func run(
	ctx context.Context, out, errs io.Writer, connect network, random func() float64, opts ...awsretry.ResolveOption,
) int {
	if err := tour(ctx, out, connect, random, opts...); err != nil {
		fmt.Fprintf(errs, "tour: %v\n", err)
		return 1
	}
	return 0
}

func tour(ctx context.Context, out io.Writer, connect network, random func() float64, opts ...awsretry.ResolveOption) error {
	settings, err := awsretry.Resolve(ctx, opts...)
	if err != nil {
		return err
	}
	printSettings(out, settings)
	listener, client, err := connect(ctx)
	if err != nil {
		return err
	}
	return visit(ctx, out, settings, listener, client, awsretry.WithRandom(random))
}

// network gives the service something to listen on and the client a way to it.
type network func(ctx context.Context) (net.Listener, *http.Client, error)

func loopback(ctx context.Context) (net.Listener, *http.Client, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	return listener, &http.Client{Transport: &http.Transport{}}, err
}
