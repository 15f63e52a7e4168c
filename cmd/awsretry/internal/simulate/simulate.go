// Package simulate plays the calls of a program with retry settings, and says what comes of them: as text, JSON, and a report.
package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/config"
)

// Program is the command around a simulation.
type Program struct {
	Args    []string // of the program
	Version string
	// Query resolves the settings, and Warn says what was not read.
	Query config.Query
	Warn  func(found []lint.Diagnostic)
	// Out gets the answer, which fits a terminal of Width columns, or with JSON all figures in a line. Errs gets what does not
	// keep a limit, and Progress, a terminal or nothing, how far a
	// long simulation is.
	Out, Errs, Progress io.Writer
	Width               int
	JSON                bool
}

// UsageError says which flags do not go together.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// ErrLimit says that a figure does not keep a limit of --require. Errs has them.
var ErrLimit = errors.New("a figure does not keep its limit")

// Notes are for the help.
const Notes = `It plays, in virtual time, clients that call one table of a service with a
limit. The settings of the profile are the first variant. Each --vs adds another
one: standard, adaptive, cut-per-throttle, which is adaptive mode with the AWS
SDKs' controller, debt-limit, v2.0, v2.1, max_attempts=N, max_backoff=D,
min_delay=D, max_elapsed=D, quota_capacity=N, send_limit=RATE:BURST, deadline=D
for each call, timeout=D for each attempt, or several of these with commas between
them.

Shares, rates and latencies count calls that end after second 30, when an outage
begins. A figure is the median of ten runs with the seeds 1 to 10. If the runs
differ by more than a tenth, the lowest and the highest follow. The same flags
give the same output.
`

// Run plays the variants and prints the results. An interrupt ends it with [context.Canceled], and leaves nothing.
func (s *Simulation) Run(ctx context.Context, p *Program) error {
	if err := s.complete(); err != nil {
		return err
	}
	limits, err := requirements(s.limits)
	if err != nil {
		return err
	}
	variants, err := s.variants(p)
	if err != nil {
		return err
	}
	if err := s.checkOut(); err != nil {
		return err
	}
	debug.SetGCPercent(200) // A simulation makes many short-lived calls.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	shown := newProgress(p.Progress, clock.System{}, len(variants)*len(s.seeds()))
	s.Step = shown.step
	err = s.play(ctx, shown, variants)
	stop()
	shown.clear()
	if err != nil {
		return err
	}
	res := &result{Simulation: s, args: p.Args, version: p.Version, variants: variants}
	if s.out != "" {
		if err := res.save(s.out); err != nil {
			return err
		}
	}
	switch {
	case p.JSON:
		encoder := json.NewEncoder(p.Out)
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(res.json())
	case s.out == "":
		_, err = io.WriteString(p.Out, res.text(p.Width))
	}
	return cmp.Or(err, judge(p.Errs, variants, limits))
}

// checkOut returns an error before a long run if the file of the report cannot be written. It leaves what is there.
func (s *Simulation) checkOut() error {
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
func (s *Simulation) play(ctx context.Context, shown *progress, variants []*variant) error {
	if s.Calls > 0 && !s.flags.Changed("duration") {
		shown.all *= 2
		if err := s.untilDone(ctx, variants); err != nil {
			return err
		}
	}
	for _, v := range variants {
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
func (s *Simulation) untilDone(ctx context.Context, variants []*variant) error {
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
		return UsageError(fmt.Sprintf("--calls %d: all calls are done at %v, and nothing changes before %v", s.Calls, s.Duration, s.Phases[0].From))
	}
	return nil
}

// play plays a variant with each seed.
func (v *variant) play(ctx context.Context, s *Simulation) error {
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
