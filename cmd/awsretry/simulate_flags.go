package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/internal/command/sim"
)

// simulation holds the flags of simulate.
type simulation struct {
	question
	vs               []string
	rate, burst      float64
	workers, clients int
	tables           int
	offered          float64 // zero is five times the rate
	latency          [2]time.Duration
	fail             failShares
	outage, duration time.Duration // a duration of zero is what is left to the default
	seed             uint64
	out, trace       string
	csv              bool
}

// settled is the second from which on the figures count, and at which an outage begins.
const settled = 30 * time.Second

const (
	longestRun  = 24 * time.Hour
	slowest     = 1e-3 // a second
	fastest     = 1e6
	mostCalls   = 2e7
	mostCompare = 7 // --vs; each of them takes room in the report
)

func newSimulation(f *flags) *simulation {
	s := &simulation{
		rate: 50, burst: 50, workers: 100, clients: 1, tables: 1,
		latency: [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond}, fail: failShares{to: 1}, seed: 1,
	}
	s.define(f)
	f.Func("vs", "`variant` to play beside the settings, such as v2.0, adaptive or max_attempts=10,v2.0; may be given up to 7 times", s.addVariant)
	f.Func("limit", "`rate[/burst]` that the service allows, in requests a second, and the size of its bucket, which is one second of the rate and at least 1 unless given (default 50)", s.setLimit)
	s.count(f, "workers", "workers of each client; 0 lets calls begin at random instants, whatever became of those before", &s.workers, 0)
	s.count(f, "clients", "clients, each with a retry quota and a send rate of its own", &s.clients, 1)
	s.count(f, "tables", "tables, each with its own workers and the same load; the limit and the failures are those of the first, the others are healthy, and the figures are of the first", &s.tables, 1)
	f.Func("offered", "`calls` a second on each table if none has to wait (default five times the limit)", func(text string) error {
		offered, err := rate(text)
		if err == nil {
			s.offered = offered
		}
		return err
	})
	f.Func("latency", "`time` of an answer, or two times A..B (default 5ms..20ms)", s.setLatency)
	f.Func("fail", "`share` of requests that fail, from 0 to 1, or two shares A..B: then the picture of failures is from A to B, and all else has A (default 0)", s.setFail)
	f.Func("outage", "`time` for which all requests fail, from second 30 on (default none)", s.setTime(&s.outage, 0))
	f.Func("duration", "`time` to play, above 30s (default 90s, plus the outage)", s.setTime(&s.duration, settled+1))
	f.Func("seed", "`number` that seeds the random numbers (default 1)", func(text string) error {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("must be a whole number from 0 to %d", uint64(math.MaxUint64))
		}
		s.seed = seed
		return nil
	})
	f.Func("o", "`file` for the report as one HTML page", s.setFile(&s.out, "-"))
	f.Func("trace", "`file` with a recorded trace to play instead of the service and the load; - is standard input", s.setFile(&s.trace))
	f.BoolVar(&s.csv, "csv", false, "print CSV, a line for each variant")
	return s
}

// count defines a flag for a number of calls that may be open at once.
func (s *simulation) count(f *flags, name, usage string, into *int, least int) {
	f.Func(name, fmt.Sprintf("`number` of %s (default %d)", usage, *into), func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > sim.MaxOpen {
			return fmt.Errorf("must be a whole number from %d to %d", least, sim.MaxOpen)
		}
		*into = n
		return nil
	})
}

// setFile takes the name of a file that is not empty, nor one of some others.
func (s *simulation) setFile(into *string, but ...string) func(string) error {
	return func(name string) error {
		if name == "" || slices.Contains(but, name) {
			return errors.New("must be the name of a file")
		}
		*into = name
		return nil
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

// rate reads calls or requests a second.
func rate(text string) (float64, error) {
	x, err := number(text)
	if err != nil || x < slowest || x > fastest {
		return 0, fmt.Errorf("must be a number from %v to %.0f", slowest, fastest)
	}
	return x, nil
}

func (s *simulation) setLimit(text string) error {
	first, second, both := strings.Cut(text, "/")
	limit, err := rate(first)
	if err != nil {
		return fmt.Errorf("the rate %w", err)
	}
	burst := max(limit, 1) // a bucket with room for less than one request would never allow any
	if both {
		if burst, err = number(second); err != nil || burst < 1 || burst > fastest {
			return fmt.Errorf("the burst must be a number from 1 to %.0f", fastest)
		}
	}
	s.rate, s.burst = limit, burst
	return nil
}

// span cuts A..B. A alone is both.
func span(text string) (from, to string, both bool) {
	from, to, both = strings.Cut(text, "..")
	if !both {
		to = from
	}
	return from, to, both
}

func (s *simulation) setLatency(text string) error {
	from, to, _ := span(text)
	shortest, err := time.ParseDuration(from)
	longest, also := time.ParseDuration(to)
	switch {
	case err != nil || also != nil || shortest < 0 || shortest > time.Hour || longest < 0 || longest > time.Hour:
		return errors.New("must be a time such as 10ms, or two such as 5ms..20ms, from 0s to 1h")
	case shortest > longest:
		return errors.New("the first of the two times must not be above the second one")
	}
	s.latency = [...]time.Duration{shortest, longest}
	return nil
}

// failShares are shares of requests that fail.
type failShares struct {
	share    float64 // of the run
	from, to float64 // of the picture
	sweep    bool    // these were given
}

// points is how many shares the picture has.
const points = 21

// shares are those of the picture.
func (f failShares) shares() []float64 {
	all := make([]float64, points)
	for i := range all {
		all[i] = f.from + (f.to-f.from)*float64(i)/(points-1)
	}
	return all
}

func (s *simulation) setFail(text string) error {
	from, to, both := span(text)
	a, err := number(from)
	b, also := number(to)
	switch {
	case err != nil || also != nil || a < 0 || a > 1 || b < 0 || b > 1:
		return errors.New("must be a share from 0 to 1, or two such as 0..0.5")
	case !both:
		s.fail = failShares{share: a, to: 1}
	case a >= b:
		return errors.New("the first of the two shares must be below the second one")
	default:
		s.fail = failShares{share: a, from: a, to: b, sweep: true}
	}
	return nil
}

func (s *simulation) setTime(into *time.Duration, least time.Duration) func(string) error {
	return func(text string) error {
		d, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return errors.New("must be a time such as 60s")
		case d < 0 || d > longestRun:
			return fmt.Errorf("must be from 0s to %v", longestRun)
		case d < least:
			return fmt.Errorf("must be longer than %v: the figures count from there", settled)
		}
		*into = d
		return nil
	}
}

// check returns an error for flags that do not go together.
func (s *simulation) check(c *call) error {
	if s.csv && c.json {
		return usageError("--csv and --json exclude each other")
	}
	if n := s.clients * s.tables * max(s.workers, 1); n > sim.MaxOpen {
		return usageError(fmt.Sprintf("--clients, --tables and --workers: at most %d workers in all, not %d", sim.MaxOpen, n))
	}
	played := s.scenario()
	if n := played.Offered * float64(s.tables) * played.Duration.Seconds(); n > mostCalls {
		return usageError(fmt.Sprintf("--offered, --tables and --duration: at most %.0f calls in all, not %.0f", mostCalls, n))
	}
	var err error
	c.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "fail":
			if s.trace != "" && !s.fail.sweep && err == nil {
				err = usageError("--fail SHARE and --trace exclude each other: --fail A..B says what the first picture is of")
			}
		case "limit", "workers", "clients", "tables", "offered", "latency", "outage", "duration":
			if s.trace != "" && err == nil {
				err = usageError("--" + f.Name + " and --trace exclude each other: a trace has no service and no load")
			}
		}
	})
	return err
}

// scenario is what is played.
func (s *simulation) scenario() sim.Scenario {
	length := s.duration
	if length == 0 {
		length = 90*time.Second + s.outage
	}
	played := sim.Scenario{
		Rate: s.rate, Burst: s.burst, Latency: s.latency, Fail: s.fail.share,
		Clients: s.clients, Workers: s.workers, Offered: s.offered, Healthy: s.tables - 1,
		Duration: length, Measured: sim.Window{From: settled, To: length},
	}
	if played.Offered == 0 {
		played.Offered = 5 * s.rate
	}
	if s.outage > 0 {
		played.Changes = []sim.Change{{At: settled, Rate: s.rate, Failing: true}, {At: settled + s.outage, Rate: s.rate}}
	}
	return played
}
