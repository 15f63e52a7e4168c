package simulate

import (
	"cmp"
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

// Simulation holds the flags, most of them in the scenario that they describe.
type Simulation struct {
	sim.Scenario

	flags              *pflag.FlagSet
	vs, phases, limits []string
	changes            []string // what each phase changes
	last               string   // the flag that the last change comes from
	fails              string
	shares             []float64 // of failing requests, for the picture
	outage             time.Duration
	seed               uint64 // zero means ten of them
	out                string
}

// settled is when the figures begin to count, and when an outage begins.
const settled = 30 * time.Second

const (
	longestRun = 24 * time.Hour
	// longestCalls is how long the calls of --calls may take without a --duration.
	longestCalls = 4 * time.Hour
	fastest      = 1e6 // a second
	mostCalls    = 2e7
	mostCompare  = 7 // --vs; each of them has a color in the report
	usualSeeds   = 10
)

// Define adds the flags.
func (s *Simulation) Define(f *pflag.FlagSet) {
	s.flags = f
	s.Conditions = sim.Conditions{Rate: 50, Workers: 100, Latency: [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond}}
	conditions(f, &s.Conditions)
	f.StringArrayVar(&s.vs, "vs", nil, "`variant` to play beside the settings, such as v2.0, adaptive or max_attempts=10,v2.0; may be given up to 7 times")
	f.BoolVar(&s.Queue, "queue", false, "queue requests instead of throttling them; the service works on each, even if the caller has gone")
	s.Clients, s.Within = 1, 5*time.Second
	f.Var(count(&s.Clients), "clients", "`number` of clients, each with a retry quota and a send rate of its own")
	f.Var(count(&s.Calls), "calls", "`number` of calls after whose end the run ends, and all of which count; says when they are done (default those of the time)")
	f.StringArrayVar(&s.limits, "require", nil, "`limit` that each variant has to keep, such as failed<1%, p99<2s or throttled<=5%, with a name of the table or of the JSON: else the exit status is 1; may be repeated")
	f.Var(s.failing(), "fail", "`share` of requests that fail, such as 0.05 or 5%; A..B plays A and draws the picture of failures from A to B (default 0)")
	f.Var(timeSpan(&s.outage), "outage", "`time` for which all requests fail, from second 30 on (default none)")
	f.Var(times(&s.Lose), "lose", "`time` at which all connections are lost, with all requests in flight; may be repeated (default none)")
	f.StringArrayVar(&s.phases, "phase", nil, "`time:key=value;...` to change at a time, until a later phase: offered, workers, limit, burst, fail, throttle, latency or timeout, absolute or times the base such as 4x; may be repeated")
	f.Var(timeSpan(&s.Duration), "duration", "`time` to play, above 30s (default 90s plus the outage, or until a minute after the last phase)")
	f.Var(timeSpan(&s.Within), "within", "`time` in which a call has to succeed to be in time")
	f.Var(seed(&s.seed), "seed", "`number` that seeds the random numbers of a single run (default ten runs, with the seeds 1 to 10)")
	f.StringVarP(&s.out, "output", "o", "", "`file` for the report as one HTML page")
}

// conditions adds flags that set conditions, whose values are the defaults. A --phase sets them too.
func conditions(f *pflag.FlagSet, c *sim.Conditions) {
	f.Var(rate(&c.Rate), "limit", "`requests/s` that the service allows")
	f.Var(amount(&c.Burst), "burst", "`requests` in the bucket of the service (default one second of the limit, and at least 1)")
	f.Var(rate(&c.Offered), "offered", "`calls/s` that callers want to make (default five times the limit)")
	f.Var(count(&c.Workers), "workers", "`number` of workers of each client; with 0, calls begin at random instants and do not wait for earlier ones")
	f.Var(fromTo(&c.Latency), "latency", "`time` of an answer, or two times A..B")
	f.Var(timeSpan(&c.Timeout), "timeout", "`time` that a client waits for the answer to an attempt (default forever)")
}

// seeds returns the seeds to play.
func (s *Simulation) seeds() []uint64 {
	if s.seed > 0 {
		return []uint64{s.seed}
	}
	all := make([]uint64, usualSeeds)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	return all
}

// complete makes the scenario of the flags, or returns an error for those that cannot be played.
func (s *Simulation) complete() error {
	mostOfARun := int(mostCalls) / len(s.seeds())
	for _, f := range []struct {
		name string
		fits bool
		want string
	}{
		{"limit", s.Rate > 0 && s.Rate <= fastest, fmt.Sprintf("above 0 and at most %.0f, such as 50", fastest)},
		{"offered", s.Offered > 0 && s.Offered <= 5*fastest, fmt.Sprintf("above 0 and at most %.0f, such as 250", 5*fastest)},
		{"clients", s.Clients >= 1 && s.Clients <= sim.MaxOpen, fmt.Sprintf("from 1 to %d", sim.MaxOpen)},
		{"calls", s.Calls >= 1 && s.Calls <= mostOfARun, fmt.Sprintf("from 1 to %d, as all runs together have at most %.0f", mostOfARun, mostCalls)},
		{"outage", s.outage >= 0 && s.outage <= longestRun, fmt.Sprintf("from 0s to %v", longestRun)},
		{"within", s.Within > 0, "above 0s, such as 5s"},
		{"output", s.out != "-", "a file, such as report.html"},
	} {
		if s.flags.Changed(f.name) && !f.fits {
			return UsageError("--" + f.name + ": must be " + f.want)
		}
	}
	if !s.flags.Changed("burst") {
		s.Burst = max(s.Rate, 1) // a bucket with room for less than one request would never allow any
	}
	if !s.flags.Changed("offered") {
		s.Offered = 5 * s.Rate
	}
	if err := within(&s.Conditions); err != nil {
		return UsageError("--" + err.Error())
	}
	if err := s.addPhases(); err != nil {
		return err
	}
	if strings.Contains(s.fails, "..") && len(s.Phases) > 0 {
		return UsageError("--fail " + s.fails + ": the picture of failures is for a run without --phase and --outage")
	}
	if s.Calls == 0 {
		s.Measured.From = settled
	}
	if !s.flags.Changed("duration") {
		s.Duration = min(max(90*time.Second, s.LastChange()+time.Minute), longestRun)
		if s.Calls > 0 {
			s.Duration = longestCalls
		}
	}
	if s.Duration <= s.Measured.From || s.Duration > longestRun {
		return UsageError(fmt.Sprintf("--duration: must be above %v, where the figures begin to count, and at most %v, such as 2m", s.Measured.From, longestRun))
	}
	s.Measured.To = s.Duration
	return s.check()
}

// points is the number of shares in the picture of failures.
const points = 21

// failing is --fail: the share of the run, and those of the picture.
func (s *Simulation) failing() pflag.Value {
	return value[string]{&s.fails, "share", func(text string) (string, error) {
		from, to, both := strings.Cut(text, "..")
		first, last := 0.0, 1.0
		var err error
		if s.Fail, err = parseShare(from); err == nil && both {
			first = s.Fail
			last, err = parseShare(to)
		}
		if err != nil || first >= last {
			return "", errors.New("must be a share such as 0.1 or 10%, or two such as 0..0.5, with the smaller one first")
		}
		s.shares = nil
		if both || s.Fail > 0 {
			for i := range points {
				s.shares = append(s.shares, first+(last-first)*float64(i)/(points-1))
			}
		}
		return text, nil
	}, func(text string) string { return text }}
}

// within returns an error for conditions that cannot be played.
func within(c *sim.Conditions) error {
	for _, v := range []struct {
		name               string
		value, least, most float64
	}{
		{"limit", c.Rate, 0, fastest},
		{"burst", c.Burst, 1, fastest},
		{"offered", c.Offered, 0, 5 * fastest},
		{"workers", float64(c.Workers), 0, sim.MaxOpen},
		{"fail", c.Fail, 0, 1},
		{"throttle", c.Throttle, 0, 1},
	} {
		if !(v.value >= v.least && v.value <= v.most) {
			return fmt.Errorf("%s: must be from %s to %s, not %s", v.name, digits(v.least), digits(v.most), digits(v.value))
		}
	}
	if c.Latency[0] < 0 || c.Latency[0] > c.Latency[1] || c.Latency[1] > time.Hour {
		return errors.New("latency: must be from 0s to 1h, with the shorter time first")
	}
	if c.Timeout < 0 || c.Timeout > time.Hour {
		return errors.New("timeout: must be from 0s to 1h")
	}
	return nil
}

// digits formats a number with all its digits.
func digits(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// addPhases reads each --phase, and --outage, which is two of them.
func (s *Simulation) addPhases() error {
	type change struct {
		from        time.Duration
		place, text string
	}
	var changes []change
	if s.outage > 0 {
		place := fmt.Sprintf("--outage %v", s.outage)
		changes = []change{{settled, place, "fail=1"}, {settled + s.outage, place, "fail=" + digits(s.Fail)}}
	}
	for _, text := range s.phases {
		at, list, _ := strings.Cut(text, ":")
		from, err := time.ParseDuration(at)
		if err != nil || from < 0 || list == "" {
			return UsageError("--phase " + text + ": must be TIME:KEY=VALUE;KEY=VALUE, such as 30s:offered=4x;fail=0.5")
		}
		changes = append(changes, change{from, "--phase " + text, list})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	now := s.Conditions
	for _, c := range changes {
		for part := range strings.SplitSeq(c.text, ";") {
			if err := s.change(&now, part); err != nil {
				return UsageError(fmt.Sprintf("%s: %q: %v", c.place, part, err))
			}
		}
		if err := within(&now); err != nil {
			return UsageError(c.place + ": " + err.Error())
		}
		s.Phases = append(s.Phases, sim.Phase{From: c.from, Conditions: now})
		s.changes = append(s.changes, c.text)
		s.last = c.place
	}
	return nil
}

// change changes conditions as KEY=VALUE says. A multiple such as 4x is of the base.
func (s *Simulation) change(now *sim.Conditions, text string) error {
	key, value, _ := strings.Cut(text, "=")
	flagsOf := func(c *sim.Conditions) *pflag.Flag {
		var f pflag.FlagSet
		conditions(&f, c)
		f.Var(share(&c.Fail), "fail", "")
		f.Var(share(&c.Throttle), "throttle", "")
		return f.Lookup(key)
	}
	flag := flagsOf(now)
	if flag == nil {
		return errors.New("the key must be offered, workers, limit, burst, fail, throttle, latency or timeout")
	}
	if by, isMultiple := strings.CutSuffix(value, "x"); isMultiple {
		x, err := strconv.ParseFloat(by, 64)
		if err != nil || !(x >= 0 && x <= fastest) {
			return fmt.Errorf("must be a number from 0 to %.0f before the x", fastest)
		}
		value = multiple(flagsOf(new(s.Conditions)).Value, x)
	}
	return flag.Value.Set(value)
}

// multiple returns a multiple of a number or of times.
func multiple(value pflag.Value, by float64) string {
	parts := strings.Split(value.String(), "..")
	for i, part := range parts {
		if d, err := time.ParseDuration(part); err == nil && d != 0 {
			parts[i] = time.Duration(min(by*float64(d), float64(longestRun))).String()
		} else if x, err := strconv.ParseFloat(part, 64); err == nil && value.Type() == "int" {
			parts[i] = digits(math.Round(by * x))
		} else if err == nil {
			parts[i] = digits(by * x)
		}
	}
	return strings.Join(parts, "..")
}

// check returns an error for flags that are out of their bounds or conflict.
func (s *Simulation) check() error {
	wanted := 0.0
	if s.Calls == 0 {
		wanted = s.Wanted(sim.Window{To: s.Duration}) * float64(len(s.seeds()))
	}
	for _, wrong := range []struct {
		is   bool
		text string
	}{
		{s.LastChange() >= s.Duration, fmt.Sprintf("%s: the change at %v must come before the end of the run at %v", s.last, s.LastChange(), s.Duration)},
		{len(s.vs) > mostCompare, fmt.Sprintf("--vs: at most %d", mostCompare)},
		{
			slices.ContainsFunc(s.Lose, func(at time.Duration) bool { return at <= 0 || at >= s.Duration }),
			fmt.Sprintf("--lose: must be above 0s and before the end of the run at %v, such as %v", s.Duration, s.Duration/2),
		},
		{wanted > mostCalls, fmt.Sprintf("--offered, --outage, --phase and --duration: at most %.0f calls in all runs, not %.0f; --seed plays one run", mostCalls, wanted)},
	} {
		if wrong.is {
			return UsageError(wrong.text)
		}
	}
	for _, p := range append(s.Phases, sim.Phase{Conditions: s.Conditions}) {
		if p.Workers > 0 && s.Workers == 0 {
			return UsageError(fmt.Sprintf("--phase %v: workers need --workers above 0", p.From))
		}
		if n := s.Clients * max(p.Workers, 1); n > sim.MaxOpen {
			return UsageError(fmt.Sprintf("--clients and --workers: at most %d workers in all, not %d", sim.MaxOpen, n))
		}
	}
	return nil
}
