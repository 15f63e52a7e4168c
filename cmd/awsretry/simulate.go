package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

func (c *call) simulateCommand() *cobra.Command {
	s := newSimulation()
	cmd := c.command("simulate", "what settings do to the calls of a program, in figures and pictures", simulateNotes,
		"awsretry simulate --vs adaptive --limit 50 --workers 100 -o report.html", true, func(ctx context.Context) error { return c.simulate(ctx, s) })
	s.question.define(c, cmd)
	s.define(cmd.Flags())
	return cmd
}

const simulateNotes = `It plays, in virtual time, clients that call one table of a service with a
limit. The settings of the profile are the first variant. Each --vs adds another
one: standard, adaptive, hold, which is adaptive mode with that controller, v2.0,
v2.1, max_attempts=N, max_backoff=D, min_delay=D, max_elapsed=D,
quota_capacity=N, send_limit=RATE:BURST, deadline=D for each call, timeout=D for
each attempt, or several of these with commas between them.

Shares, rates and latencies count calls that end after second 30, when an outage
begins. A figure is the median of ten runs with the seeds 1 to 10. If the runs
differ by more than a tenth, the lowest and the highest follow. The same flags
give the same output.
`

// simulate plays the variants and prints the results.
func (c *call) simulate(ctx context.Context, s *simulation) error {
	if err := s.check(); err != nil {
		return err
	}
	for _, r := range s.required {
		if _, err := r.figure(s.within); err != nil {
			return err
		}
	}
	variants, err := c.variants(s)
	if err != nil {
		return err
	}
	if err := s.checkOut(); err != nil {
		return err
	}
	debug.SetGCPercent(200) // A simulation makes many short-lived calls.
	bar := progress{to: c.progress}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	res, err := c.play(ctx, s, variants, &bar)
	stop()
	bar.clear()
	if err != nil {
		return err
	}
	if s.out != "" {
		if err := res.save(s.out); err != nil {
			return err
		}
	}
	switch {
	case c.json:
		err = c.print(res.json())
	case s.out == "":
		err = res.write(c.out, c.width)
	}
	if err != nil {
		return err
	}
	return res.judge(c)
}

// checkOut returns an error before a long run if the file of the report cannot be written. It leaves what is there.
func (s *simulation) checkOut() error {
	if s.out == "" {
		return nil
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
func (c *call) play(ctx context.Context, s *simulation, variants []*variant, bar *progress) (*result, error) {
	if s.calls > 0 && s.duration == 0 {
		if err := s.untilDone(ctx, variants); err != nil {
			return nil, err
		}
	}
	for i, v := range variants {
		done := func(share float64) { bar.show((float64(i)+share)/float64(len(variants)), v.Name) }
		if err := v.play(ctx, s, done); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		if s.out != "" && s.asks() == page.OfFailures {
			var err error
			if v.curve, err = sim.Sweep(ctx, v.Variant, s.seeds()[0], s.fail.shares(), nil); err != nil {
				return nil, fmt.Errorf("%s: %w", v.Name, err)
			}
		}
		for _, before := range variants[:i] {
			if v.same == "" && before.same == "" && v.likens(before) {
				v.same = before.Name
			}
		}
	}
	return &result{simulation: s, args: c.args, version: c.build.Version, service: c.service, variants: variants}, nil
}

// untilDone sets the time to that in which the calls end with every variant, so that all have the same time and the
// same parts of it.
func (s *simulation) untilDone(ctx context.Context, variants []*variant) error {
	longest := 0.0
	for _, v := range variants {
		if err := v.play(ctx, s, func(float64) {}); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		for _, r := range v.runs {
			if math.IsNaN(r.Done) {
				return nil // they do not end in the longest time
			}
			longest = max(longest, r.Done)
		}
	}
	s.duration = time.Duration(math.Ceil(longest)) * time.Second
	return nil
}

// play plays a variant with each seed.
func (v *variant) play(ctx context.Context, s *simulation, done func(share float64)) (err error) {
	done(0)
	if v.plan, err = v.Plan(); err != nil {
		return err
	}
	seeds := s.seeds()
	v.runs = make([]*sim.Result, len(seeds))
	errs := make([]error, len(seeds))
	var passed progressOf
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var runs sync.WaitGroup
	for i, seed := range seeds {
		places <- struct{}{}
		runs.Go(func() {
			defer func() { <-places }()
			v.runs[i], errs[i] = sim.Play(ctx, s.scenario(), v.Variant, seed, func(share float64) { passed.of(i, share, len(seeds), done) })
		})
	}
	runs.Wait()
	err = cmp.Or(errs...)
	if errors.Is(err, sim.ErrOpen) {
		return fmt.Errorf("%w: lower --offered or --duration, or give --workers", err)
	}
	return err
}

// progressOf adds up the shares of several runs.
type progressOf struct {
	mu     sync.Mutex // guards shares; held while showing them
	shares map[int]float64
}

func (p *progressOf) of(run int, share float64, runs int, done func(share float64)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shares == nil {
		p.shares = map[int]float64{}
	}
	p.shares[run] = share
	sum := 0.0
	for i := range runs {
		sum += p.shares[i]
	}
	done(sum / float64(runs))
}

// likens reports whether two variants come to the same in all that is shown: each run, the drain points, and the
// picture of failures.
func (v *variant) likens(other *variant) bool {
	return fmt.Sprint(drainPoints(v.plan)) == fmt.Sprint(drainPoints(other.plan)) && slices.Equal(v.curve, other.curve) &&
		slices.EqualFunc(v.runs, other.runs, (*sim.Result).Equal)
}

// asks returns the question of the simulation.
func (s *simulation) asks() page.Question {
	switch {
	case s.outage > 0 || len(s.phases) > 0:
		return page.InChange
	case s.fail.share > 0 || s.fail.sweep:
		return page.OfFailures
	default:
		return page.AtLimit
	}
}

// result is a finished simulation.
type result struct {
	*simulation
	args     []string
	version  string // of the command
	service  string // the service of the defaults; or empty
	variants []*variant
}

// save writes the report to a file.
func (res *result) save(name string) error {
	var report bytes.Buffer
	if err := page.Write(&report, res.report()); err != nil {
		return err
	}
	return os.WriteFile(name, report.Bytes(), 0o666)
}
