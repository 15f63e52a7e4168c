package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/awsretry/awsretry/internal/command/page"
	"github.com/awsretry/awsretry/internal/command/sim"
)

func simulateCommand() command {
	return command{
		name:     "simulate",
		synopsis: "what settings do to the calls of a program, in figures and pictures",
		example:  "awsretry simulate --vs adaptive --limit 50 --workers 100 -o report.html",
		notes:    simulateNotes,
		define: func(f *flags) func(context.Context, *call) error {
			s := newSimulation(f)
			return func(ctx context.Context, c *call) error { return c.simulate(ctx, s) }
		},
	}
}

const simulateNotes = `It plays, in virtual time, clients that call one table of a service with a limit.
The settings of the profile are the first variant. Each --vs adds another one:
standard, adaptive, v2.0, v2.1, max_attempts=N, max_backoff=D, min_delay=D,
max_elapsed=D, timeout=D for a deadline of each call, or several of these with
commas between them.

Shares, rates and latencies count calls that end after second 30, when an outage
begins. The latency of a call, even a failed one, includes its waits. The same
seed gives the same output.

With --trace the responses of a trace of "awsretry replay" replace the service
and the load. The trace's mode, behavior, attempts, backoff and service beat the
profile. All calls count. An attempt beyond the trace gets the last response
again.
`

// simulate plays the variants and prints what they came to.
func (c *call) simulate(ctx context.Context, s *simulation) error {
	if err := s.check(c); err != nil {
		return err
	}
	var trace *recording
	if s.trace != "" {
		var err error
		if trace, err = readRecording(s.trace, c); err != nil {
			return err
		}
	}
	variants, err := c.variants(s, trace)
	if err != nil {
		return err
	}
	if err := s.checkOut(); err != nil {
		return err
	}
	bar := progress{to: c.progress}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	played, err := c.play(ctx, s, variants, trace, &bar)
	stop()
	bar.clear()
	if err != nil {
		return err
	}
	if s.out != "" {
		if err := played.write(s.out); err != nil {
			return err
		}
	}
	switch {
	case c.json:
		return c.print(played.json())
	case s.csv:
		return played.csv(c.out)
	case s.out == "":
		return played.table(c.out)
	default:
		return nil
	}
}

// checkOut returns an error if the file of the report cannot be written, before a long run.
func (s *simulation) checkOut() error {
	if s.out == "" {
		return nil
	}
	file, err := os.OpenFile(s.out, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return file.Close()
}

// play plays all variants. The curve is only for the report.
func (c *call) play(ctx context.Context, s *simulation, variants []*variant, trace *recording, bar *progress) (*played, error) {
	for i, v := range variants {
		done := func(share float64) { bar.show((float64(i)+share)/float64(len(variants)), v.Name) }
		if err := v.play(ctx, s, trace, done); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		if s.out == "" {
			continue
		}
		var err error
		if v.curve, err = sim.Sweep(ctx, v.Variant, s.seed, s.fail.shares(), func(share float64) { done((1 + share) / 2) }); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return &played{simulation: s, args: c.args, version: c.build.Version, trace: trace, variants: variants}, nil
}

// play plays a variant.
func (v *variant) play(ctx context.Context, s *simulation, trace *recording, done func(share float64)) (err error) {
	done(0)
	if v.plan, err = v.Plan(); err != nil {
		return err
	}
	if trace != nil {
		v.result, err = sim.PlayTrace(trace.Trace, v.Variant)
		return err
	}
	if s.out != "" {
		all := done
		done = func(share float64) { all(share / 2) }
	}
	v.result, err = sim.Play(ctx, s.scenario(), v.Variant, s.seed, done)
	if errors.Is(err, sim.ErrOpen) {
		return fmt.Errorf("%w: lower --offered or --duration, or give --workers", err)
	}
	return err
}

// played is a simulation that has been played.
type played struct {
	*simulation
	args     []string
	version  string // of the command
	trace    *recording
	variants []*variant
}

// write writes the report.
func (p *played) write(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return cmp.Or(page.Write(file, p.report()), file.Close())
}
