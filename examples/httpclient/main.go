// Command httpclient sends requests with an http.Client that retries. The service is inside
// the process; it fails, throttles and recovers.
//
// Mode and attempts come from the environment and the shared files of AWS tools:
//
//	AWS_MAX_ATTEMPTS=5 go run ./examples/httpclient
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/awsretry/awsretry"
)

func main() {
	os.Exit(run(context.Background(), os.Stdout, os.Stderr, loopback))
}

// run is the program without its process. It returns the exit status.
func run(ctx context.Context, out, errs io.Writer, connect network, opts ...awsretry.Option) int {
	if err := tour(ctx, out, connect, opts...); err != nil {
		fmt.Fprintf(errs, "httpclient: %v\n", err)
		return 1
	}
	return 0
}

// tour starts the service, makes a client for it and sends requests.
func tour(ctx context.Context, out io.Writer, connect network, opts ...awsretry.Option) error {
	listener, base, err := connect(ctx)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newService(), ReadHeaderTimeout: readHeaderTimeout}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	client, err := newClient(ctx, out, base, opts...)
	if err == nil {
		err = use(ctx, out, client, "http://"+listener.Addr().String())
		client.CloseIdleConnections()
	}
	err = errors.Join(err, server.Close())
	if stopped := <-served; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(err, stopped)
	}
	return err
}

// network gives the service something to listen on and the client a way to it.
type network func(ctx context.Context) (net.Listener, http.RoundTripper, error)

func loopback(ctx context.Context) (net.Listener, http.RoundTripper, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	return listener, &http.Transport{}, err
}
