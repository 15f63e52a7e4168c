package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

// visit serves on the listener and sends the itinerary to it.
func visit(
	ctx context.Context, out io.Writer, settings *awsretry.Settings,
	listener net.Listener, client *http.Client, opts ...awsretry.BuildOption,
) error {
	calls := itinerary()
	server := &http.Server{
		Handler:           &service{calls: calls, attempts: make(map[string]int)},
		ReadHeaderTimeout: readHeaderTimeout,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	log := &log{out: out}
	strategy, err := awsretry.New(settings, append(opts, awsretry.WithObserver(log))...)
	if err == nil {
		log.begin(strategy)
		for place, c := range calls {
			url := fmt.Sprintf("http://%s/%d", listener.Addr(), place)
			_, err := retry.Do(ctx, strategy, retry.Operation{Name: c.name},
				func(ctx context.Context) (int, error) { return send(ctx, client, url) })
			log.operation(err)
		}
		log.summary()
	}
	client.CloseIdleConnections()
	err = errors.Join(err, server.Close())
	if stopped := <-served; !errors.Is(stopped, http.ErrServerClosed) {
		err = errors.Join(err, stopped)
	}
	return err
}
