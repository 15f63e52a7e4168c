package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// simulation holds the flags of simulate.
type simulation struct {
	question
	vs               []string
	rate, burst      float64 // a burst of zero means one second of the rate
	workers, clients int
	calls            int // zero means those of the whole time
	required         []requirement
	offered          float64 // zero means five times the rate
	latency          [2]time.Duration
	queue            bool
	timeout, within  time.Duration
	fail             failShares
	outage, duration time.Duration // a duration of zero means the default
	phases           []phase
	seed             uint64 // zero means ten of them
	out              string
}

// settled is when the figures begin to count, and when an outage begins.
const settled = 30 * time.Second

const (
	longestRun = 24 * time.Hour
	// longestCalls is how long the calls of --calls may take without a --duration.
	longestCalls = 4 * time.Hour
	slowest      = 1e-3 // a second
	fastest      = 1e6
	mostCalls    = 2e7
	mostCompare  = 7 // --vs; each of them takes room in the report
	usualSeeds   = 10
)

func newSimulation() *simulation {
	return &simulation{
		rate: 50, workers: 100, clients: 1, within: 5 * time.Second,
		latency: [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond}, fail: failShares{to: 1},
	}
}

func (s *simulation) define(f *pflag.FlagSet) {
	f.Func("vs", "`variant` to play beside the settings, such as v2.0, adaptive or max_attempts=10,v2.0; may be given up to 7 times", s.addVariant)
	f.Func("limit", "`rate` of requests a second that the service allows (default 50)", set(&s.rate, between(slowest, fastest)))
	f.Func("burst", "`size` of the bucket of the service, in requests (default one second of the limit, and at least 1)", set(&s.burst, between(1, fastest)))
	f.BoolVar(&s.queue, "queue", false, "queue requests instead of throttling them; the service works on each, even if the caller has gone")
	f.Func("workers", "`number` of workers of each client; with 0, calls begin at random instants and do not wait for earlier ones (default 100)", set(&s.workers, whole(0, sim.MaxOpen)))
	f.Func("clients", "`number` of clients, each with a retry quota and a send rate of its own (default 1)", set(&s.clients, whole(1, sim.MaxOpen)))
	f.Func("calls", "`number` of calls after whose end the run ends, and all of which count; says when they are done (default those of the time)", set(&s.calls, whole(1, mostCalls)))
	f.Func("require", "`limit` that each variant has to keep, such as failed<1%, p99<2s or throttled<=5%, with a name of the table or of the JSON: else the exit status is 1; may be repeated", s.addRequirement)
	f.Func("offered", "`calls` a second that callers want to make (default five times the limit)", set(&s.offered, between(slowest, fastest)))
	f.Func("latency", "`time` of an answer, or two times A..B (default 5ms..20ms)", set(&s.latency, latencies))
	f.Func("timeout", "`time` that a client waits for the answer to an attempt (default forever)", set(&s.timeout, timeFrom(0)))
	f.Func("fail", "`share` of requests that fail, from 0 to 1; A..B plays A and draws the picture of failures from A to B (default 0)", set(&s.fail, parseShares))
	f.Func("outage", "`time` for which all requests fail, from second 30 on (default none)", set(&s.outage, timeFrom(0)))
	f.Func("phase", "`time:key=value;...` to change at a time, until a later phase: offered, workers, limit, burst, fail, throttle, latency or timeout, absolute or times the base such as 4x; may be given up to 20 times", s.addPhase)
	f.Func("duration", "`time` to play, above 30s (default 90s plus the outage, or until a minute after the last phase)", set(&s.duration, timeFrom(settled+1)))
	f.Func("within", "`time` in which a call has to succeed to be in time (default 5s)", set(&s.within, timeFrom(1)))
	f.Func("seed", "`number` that seeds the random numbers of a single run (default ten runs, with the seeds 1 to 10)", set(&s.seed, func(text string) (uint64, error) {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil || seed == 0 {
			return 0, fmt.Errorf("must be a whole number from 1 to %d", uint64(math.MaxUint64))
		}
		return seed, nil
	}))
	f.VarP(outFile{&s.out}, "output", "o", "`file` for the report as one HTML page")
}

// outFile is the value of --output.
type outFile struct{ name *string }

// Set takes the name of a file.
func (o outFile) Set(name string) error {
	if name == "" || name == "-" {
		return errors.New("must be the name of a file")
	}
	*o.name = name
	return nil
}

// String returns the default: none.
func (o outFile) String() string { return "" }

// Type is for the help.
func (o outFile) Type() string { return "file" }

// set returns a flag function that keeps what parse returns.
func set[T any](into *T, parse func(text string) (T, error)) func(string) error {
	return func(text string) error {
		value, err := parse(text)
		if err == nil {
			*into = value
		}
		return err
	}
}

// seeds returns the seeds to play.
func (s *simulation) seeds() []uint64 {
	if s.seed > 0 {
		return []uint64{s.seed}
	}
	all := make([]uint64, usualSeeds)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	return all
}

// whole returns a parser of whole numbers.
func whole(least, most int) func(string) (int, error) {
	return func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		return n, nil
	}
}

// between returns a parser of numbers.
func between(least, most float64) func(string) (float64, error) {
	return func(text string) (float64, error) {
		x, err := number(text)
		if err != nil || x < least || x > most {
			return 0, fmt.Errorf("must be a number from %v to %.0f", least, most)
		}
		return x, nil
	}
}

func (s *simulation) addVariant(text string) error {
	switch {
	case slices.Contains(s.vs, text):
		return errors.New("was given before")
	case len(s.vs) == mostCompare:
		return fmt.Errorf("at most %d", mostCompare)
	}
	if _, err := parseChange(text); err != nil {
		return err
	}
	s.vs = append(s.vs, text)
	return nil
}

// number reads a number that is neither infinite nor NaN.
func number(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, errors.New("must be a number")
	}
	return x, nil
}

// span splits A..B. A alone means both ends.
func span(text string) (from, to string, both bool) {
	from, to, both = strings.Cut(text, "..")
	if !both {
		to = from
	}
	return from, to, both
}

// latencies reads the range of the answer time.
func latencies(text string) (both [2]time.Duration, err error) {
	from, to, _ := span(text)
	shortest, err := time.ParseDuration(from)
	longest, also := time.ParseDuration(to)
	switch {
	case err != nil || also != nil || shortest < 0 || shortest > time.Hour || longest < 0 || longest > time.Hour:
		return both, errors.New("must be a time such as 10ms, or two such as 5ms..20ms, from 0s to 1h")
	case shortest > longest:
		return both, errors.New("the first of the two times must not be above the second one")
	}
	return [...]time.Duration{shortest, longest}, nil
}

// failShares are the shares of failing requests.
type failShares struct {
	share    float64 // of the run
	from, to float64 // of the picture
	sweep    bool    // these were given
}

// points is the number of shares in the picture.
const points = 21

// shares returns the shares of the picture.
func (f failShares) shares() []float64 {
	all := make([]float64, points)
	for i := range all {
		all[i] = f.from + (f.to-f.from)*float64(i)/(points-1)
	}
	return all
}

func parseShares(text string) (failShares, error) {
	from, to, both := span(text)
	a, err := number(from)
	b, also := number(to)
	switch {
	case err != nil || also != nil || a < 0 || a > 1 || b < 0 || b > 1:
		return failShares{}, errors.New("must be a share from 0 to 1, or two such as 0..0.5")
	case !both:
		return failShares{share: a, to: 1}, nil
	case a >= b:
		return failShares{}, errors.New("the first of the two shares must be below the second one")
	default:
		return failShares{share: a, from: a, to: b, sweep: true}, nil
	}
}

// timeFrom returns a parser of times.
func timeFrom(least time.Duration) func(string) (time.Duration, error) {
	return func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return 0, errors.New("must be a time such as 60s")
		case d < 0 || d > longestRun:
			return 0, fmt.Errorf("must be from 0s to %v", longestRun)
		case d < least && least > 1:
			return 0, fmt.Errorf("must be longer than %v: the figures count from there", settled)
		case d < least:
			return 0, errors.New("must be above 0s")
		}
		return d, nil
	}
}

// check returns an error for flags that conflict.
func (s *simulation) check() error {
	if n := s.clients * max(s.workers, 1); n > sim.MaxOpen {
		return usageError(fmt.Sprintf("--clients and --workers: at most %d workers in all, not %d", sim.MaxOpen, n))
	}
	scenario := s.scenario()
	whole := sim.Window{To: scenario.Duration}
	wanted := scenario.Wanted(whole)
	if s.calls > 0 {
		wanted = float64(s.calls)
	}
	if n := wanted * float64(len(s.seeds())); n > mostCalls {
		return usageError(fmt.Sprintf("--offered, --phase and --duration: at most %.0f calls in all runs, not %.0f; --seed plays one run", mostCalls, n))
	}
	for _, p := range scenario.Phases {
		switch {
		case p.From >= scenario.Duration:
			return usageError(fmt.Sprintf("--phase %v: begins at the end of the run, which is at %v, or after it", p.From, scenario.Duration))
		case p.Workers > 0 && s.workers == 0:
			return usageError(fmt.Sprintf("--phase %v: workers need --workers above 0", p.From))
		case s.clients*p.Workers > sim.MaxOpen:
			return usageError(fmt.Sprintf("--phase %v: at most %d workers in all", p.From, sim.MaxOpen))
		}
	}
	return nil
}

// scenario returns the scenario to play.
func (s *simulation) scenario() sim.Scenario {
	base := sim.Conditions{
		Rate: s.rate, Burst: s.burst, Latency: s.latency, Fail: s.fail.share, Offered: s.offered, Workers: s.workers, Timeout: s.timeout,
	}
	if base.Burst == 0 {
		base.Burst = max(s.rate, 1) // a bucket with room for less than one request would never allow any
	}
	if base.Offered == 0 {
		base.Offered = 5 * s.rate
	}
	phases := s.phasesOf(base)
	length := s.duration
	measured := settled
	if s.calls > 0 {
		measured = 0
	}
	if length == 0 {
		length = 90*time.Second + s.outage
		if s.calls > 0 {
			length = longestCalls
		}
		if n := len(s.phases); n > 0 {
			length = max(length, s.phases[n-1].from+time.Minute)
		}
	}
	return sim.Scenario{
		Conditions: base, Phases: phases, Queue: s.queue, Calls: s.calls, Clients: s.clients,
		Duration: length, Measured: sim.Window{From: measured, To: length}, Within: s.within,
	}
}
