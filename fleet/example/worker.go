package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/httpretry"
	"github.com/awsretry/awsretry/modes/adaptive"
)

// callers is how many requests a worker makes at a time.
const callers = 2

// name returns the name of a worker.
func name(i int) string { return "worker-" + strconv.Itoa(i) }

// serve uses the library as a program does: it makes a strategy and a client with it, and sends
// requests until ctx ends. A nil shared means that there is no fleet.
func serve(ctx context.Context, name, url string, way http.RoundTripper, shared *fleet.Fleet) error {
	config := adaptive.Config{}
	if shared != nil {
		config = shared.Config(config)
	}
	strategy, err := adaptive.New(config)
	if err != nil {
		return err
	}
	transport, err := httpretry.New(httpretry.Config{Strategy: strategy, Base: way})
	if err != nil {
		return err
	}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	var errs [callers]error
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = call(ctx, client, name, url) })
	}
	all.Wait()
	return errors.Join(errs[:]...)
}

// call makes requests one after another.
func call(ctx context.Context, client *http.Client, name, url string) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		request.Header.Set(workerHeader, name)
		response, err := client.Do(request)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the request failed because the worker ends
		}
		if err != nil {
			return err
		}
	}
}

// standing is what workers know about the fleet.
type standing struct {
	Calls uint64  // of the store, so far
	Rate  float64 // send rate of the fleet; zero if there is none
}

// standingOf returns the standing of all members of a process.
func standingOf(shared *fleet.Fleet) (s standing) {
	if shared == nil {
		return standing{}
	}
	members := shared.Snapshot()
	for _, m := range members {
		s.Calls += m.Calls
		s.Rate += float64(m.FleetRate) / float64(len(members))
	}
	return s
}

// starter starts workers that send requests to the service at url.
type starter interface {
	start(ctx context.Context, url string, way http.RoundTripper) (crew, error)
}

// crew are started workers.
type crew interface {
	// ask returns the calls of all workers and the mean of the rates that they know.
	ask() (standing, error)
	// end ends all workers and waits for them. Failures after the end of the ctx of start are no
	// errors.
	end(ctx context.Context) error
}

// members are workers in this process.
type members struct {
	count  int
	shared bool
}

func (m members) start(ctx context.Context, url string, way http.RoundTripper) (crew, error) {
	var shared *fleet.Fleet
	if m.shared {
		var err error
		shared, err = fleet.New(fleet.Config{Store: &fleet.Memory{}, Namespace: "example"})
		if err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &threads{shared: shared, cancel: cancel, errs: make([]error, m.count)}
	for i := range m.count {
		c.all.Go(func() { c.errs[i] = serve(ctx, name(i), url, way, shared) })
	}
	return c, nil
}

// threads are started workers in this process.
type threads struct {
	shared *fleet.Fleet
	cancel context.CancelFunc
	all    sync.WaitGroup
	errs   []error
}

func (c *threads) ask() (standing, error) { return standingOf(c.shared), nil }

func (c *threads) end(context.Context) error {
	c.cancel()
	c.all.Wait()
	if c.shared != nil {
		c.shared.Close()
	}
	return errors.Join(c.errs...)
}
