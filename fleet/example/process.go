package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/fleet/redisstore"
)

// workerArgument is the first argument of a process that is a worker. Its name, the URL of the
// service and the address of the store follow; the address is empty without a fleet.
const workerArgument = "worker"

// work is a worker in its own process. For each line of in it prints its standing. It ends when in
// ends, and so with the process that started it.
func work(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	if len(args) != 3 {
		return fmt.Errorf("a worker has 3 arguments and not %d", len(args))
	}
	name, url, address := args[0], args[1], args[2]
	var shared *fleet.Fleet
	if address != "" {
		redis.SetLogger(redisLog{})
		store, err := redisstore.New(redisstore.Config{Options: &redis.UniversalOptions{Addrs: []string{address}}})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		shared, err = fleet.New(fleet.Config{Store: store, Namespace: "example", Observer: fleet.SlogObserver(nil)})
		if err != nil {
			return err
		}
		defer shared.Close()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		for lines := bufio.NewReader(in); ; {
			if _, err := lines.ReadString('\n'); err != nil || json.NewEncoder(out).Encode(standingOf(shared)) != nil {
				return
			}
		}
	}()
	return serve(ctx, name, url, &http.Transport{MaxIdleConnsPerHost: callers}, shared)
}

// redisLog leads what go-redis logs to the log of the program, at debug level: it writes a line for each failed
// connection, and the observer of the fleet one a minute.
type redisLog struct{}

func (redisLog) Printf(ctx context.Context, format string, v ...any) {
	slog.DebugContext(ctx, "go-redis: "+fmt.Sprintf(format, v...))
}

// processes are workers in separate processes.
type processes struct {
	count int
	store string // address; empty without a fleet
}

func (p processes) start(ctx context.Context, url string, _ http.RoundTripper) (crew, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	started, cancel := context.WithCancel(ctx)
	c := &gang{cancel: cancel}
	for i := range p.count {
		command := exec.CommandContext(started, program, workerArgument, name(i), url, p.store)
		if err := c.add(command); err != nil {
			return nil, errors.Join(err, c.end(ctx))
		}
	}
	return c, nil
}

// gang are started processes. The end of their context kills each by its id.
type gang struct {
	cancel context.CancelFunc
	all    []process
}

type process struct {
	*exec.Cmd

	in   io.WriteCloser
	out  *json.Decoder
	errs *bytes.Buffer
}

func (c *gang) add(command *exec.Cmd) error {
	errs := &bytes.Buffer{}
	command.Stderr = errs
	in, err := command.StdinPipe()
	if err != nil {
		return err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	c.all = append(c.all, process{command, in, json.NewDecoder(out), errs})
	return nil
}

func (c *gang) ask() (total standing, err error) {
	for _, p := range c.all {
		if _, err := fmt.Fprintln(p.in); err != nil {
			return standing{}, fmt.Errorf("process %d has ended: %w", p.Process.Pid, err)
		}
		var s standing
		if err := p.out.Decode(&s); err != nil {
			return standing{}, fmt.Errorf("process %d has ended: %w", p.Process.Pid, err)
		}
		total.Calls += s.Calls
		total.Rate += s.Rate / float64(len(c.all))
	}
	return total, nil
}

// end closes the inputs, which makes the processes end, and waits for them. It kills any that are
// left after 5 s.
func (c *gang) end(ctx context.Context) error {
	for _, p := range c.all {
		_ = p.in.Close() // an error means that the process has ended
	}
	defer c.cancel()
	late := clock.System{}.AfterFunc(5*time.Second, c.cancel)
	defer late.Stop()
	var errs []error
	for _, p := range c.all {
		if err := p.Wait(); err != nil && ctx.Err() == nil {
			errs = append(errs, fmt.Errorf("process %d: %w: %s", p.Process.Pid, err, p.errs))
		}
	}
	return errors.Join(errs...)
}
