package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

func (c *call) simulateCommand() *cobra.Command {
	s := &simulation{}
	cmd := c.command("simulate", "what settings do to the calls of a program, in figures and pictures", simulateNotes,
		"awsretry simulate --vs adaptive --limit 50 --workers 100 -o report.html", true, func(ctx context.Context) error { return c.simulate(ctx, s) })
	s.question.define(c, cmd)
	s.define(cmd.Flags())
	return cmd
}

const simulateNotes = `It plays, in virtual time, clients that call one table of a service with a
limit. The settings of the profile are the first variant. Each --vs adds another
one: standard, adaptive, cut-per-throttle, which is adaptive mode with the AWS
SDKs' controller, v2.0, v2.1, max_attempts=N, max_backoff=D, min_delay=D,
max_elapsed=D, quota_capacity=N, send_limit=RATE:BURST, deadline=D for each call,
timeout=D for each attempt, or several of these with commas between them.

Shares, rates and latencies count calls that end after second 30, when an outage
begins. A figure is the median of ten runs with the seeds 1 to 10. If the runs
differ by more than a tenth, the lowest and the highest follow. The same flags
give the same output.
`

// simulate plays the variants and prints the results.
func (c *call) simulate(ctx context.Context, s *simulation) error {
	if err := s.complete(); err != nil {
		return err
	}
	limits, err := requirements(s.limits)
	if err != nil {
		return err
	}
	variants, err := c.variants(s)
	if err != nil {
		return err
	}
	if err := s.checkOut(); err != nil {
		return err
	}
	debug.SetGCPercent(200) // A simulation makes many short-lived calls.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	err = c.play(ctx, s, variants)
	stop()
	fmt.Fprint(c.progress, strings.Repeat(" ", 20), "\r")
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted, so there are no figures")
	}
	if err != nil {
		return err
	}
	res := &result{simulation: s, args: c.args, version: c.build.Version, variants: variants}
	if s.out != "" {
		if err := res.save(s.out); err != nil {
			return err
		}
	}
	switch {
	case c.json:
		err = c.print(res.json())
	case s.out == "":
		_, err = io.WriteString(c.out, res.text(c.width))
	}
	return cmp.Or(err, c.judge(variants, limits))
}

// checkOut returns an error before a long run if the file of the report cannot be written. It leaves what is there.
func (s *simulation) checkOut() error {
	if s.out == "" {
		return nil
	}
	if info, err := os.Stat(s.out); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return nil // Its reader would take the end of the check for the end of the report.
	}
	_, missing := os.Lstat(s.out)
	file, err := os.OpenFile(s.out, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	err = file.Close()
	if missing != nil {
		err = errors.Join(err, os.Remove(s.out))
	}
	return err
}

// play plays all variants. The curve is only for a report about failures.
func (c *call) play(ctx context.Context, s *simulation, variants []*variant) error {
	if s.Calls > 0 && !s.flags.Changed("duration") {
		if err := s.untilDone(ctx, variants); err != nil {
			return err
		}
	}
	for i, v := range variants {
		fmt.Fprintf(c.progress, "variant %d of %d\r", i+1, len(variants))
		err := v.play(ctx, s)
		if err == nil && s.out != "" && len(s.Phases) == 0 && len(s.shares) > 0 {
			v.curve, err = sim.Sweep(ctx, v.Variant, s.seeds()[0], s.shares)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// untilDone sets the time to that in which the calls end with every variant, so that all have the same time and the
// same parts of it.
func (s *simulation) untilDone(ctx context.Context, variants []*variant) error {
	longest := 0.0
	for _, v := range variants {
		if err := v.play(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		for _, r := range v.runs {
			if math.IsNaN(r.Done) {
				return nil // they do not end in the longest time
			}
			longest = max(longest, r.Done)
		}
	}
	s.Duration = time.Duration(math.Ceil(longest)) * time.Second
	s.Measured.To = s.Duration
	if len(s.Phases) > 0 && s.Phases[0].From >= s.Duration {
		return usageError(fmt.Sprintf("--calls %d: all calls are done at %v, and nothing changes before %v", s.Calls, s.Duration, s.Phases[0].From))
	}
	return nil
}

// play plays a variant with each seed.
func (v *variant) play(ctx context.Context, s *simulation) error {
	seeds := s.seeds()
	v.runs = make([]*sim.Result, len(seeds))
	errs := make([]error, len(seeds))
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var runs sync.WaitGroup
	for i, seed := range seeds {
		places <- struct{}{}
		runs.Go(func() {
			defer func() { <-places }()
			v.runs[i], errs[i] = sim.Play(ctx, s.Scenario, v.Variant, seed)
		})
	}
	runs.Wait()
	err := cmp.Or(errs...)
	if errors.Is(err, sim.ErrOpen) {
		return fmt.Errorf("%w: lower --offered or --duration, or give --workers", err)
	}
	return err
}
