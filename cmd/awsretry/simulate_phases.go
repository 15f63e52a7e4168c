package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// phase is a --phase: changes at an instant, which hold until another phase changes them.
type phase struct {
	from    time.Duration
	changes []phaseChange
}

// phaseChange sets a value, or a multiple of the base value.
type phaseChange struct {
	key, text string
	multiple  bool // of the base
	times     float64
}

const mostPhases = 20

// phaseForm is the form of a phase in errors.
const phaseForm = "TIME:KEY=VALUE;KEY=VALUE, such as 30s:offered=4x;fail=0.5"

func (s *simulation) addPhase(text string) error {
	if len(s.phases) == mostPhases {
		return fmt.Errorf("at most %d", mostPhases)
	}
	at, list, ok := strings.Cut(text, ":")
	from, err := time.ParseDuration(at)
	switch {
	case !ok:
		return errors.New("must be " + phaseForm)
	case err != nil || from < 0 || from > longestRun:
		return fmt.Errorf("%q: must be a time from 0s to %v", at, longestRun)
	case slices.ContainsFunc(s.phases, func(p phase) bool { return p.from == from }):
		return fmt.Errorf("there is another phase at %v", from)
	}
	p := phase{from: from}
	for part := range strings.SplitSeq(list, ";") {
		key, value, _ := strings.Cut(part, "=")
		if slices.ContainsFunc(p.changes, func(c phaseChange) bool { return c.key == key }) {
			return fmt.Errorf("%q: there is another %s", part, key)
		}
		c := phaseChange{key: key, text: value}
		if times, multiple := strings.CutSuffix(value, "x"); multiple {
			if c.times, err = number(times); err != nil || c.times < 0 || c.times > fastest {
				return fmt.Errorf("%q: must be a number from 0 to %.0f before the x", part, fastest)
			}
			c.multiple = true
		}
		if err := c.apply(&sim.Conditions{}, &sim.Conditions{}); err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		p.changes = append(p.changes, c)
	}
	s.phases = append(s.phases, p)
	slices.SortFunc(s.phases, func(a, b phase) int { return cmp.Compare(a.from, b.from) })
	return nil
}

// apply changes conditions. Multiples are of the base.
func (c phaseChange) apply(now, base *sim.Conditions) error {
	switch c.key {
	case "offered":
		return c.rate(&now.Offered, base.Offered, 0, fastest)
	case "limit":
		return c.rate(&now.Rate, base.Rate, 0, fastest)
	case "burst":
		return c.rate(&now.Burst, base.Burst, 1, fastest)
	case "fail":
		return c.rate(&now.Fail, base.Fail, 0, 1)
	case "throttle":
		return c.rate(&now.Throttle, base.Throttle, 0, 1)
	case "workers":
		n := float64(now.Workers)
		err := c.rate(&n, float64(base.Workers), 0, sim.MaxOpen)
		now.Workers = int(n)
		if err == nil && !c.multiple && n != float64(int(n)) {
			return errors.New("must be a whole number")
		}
		return err
	case "latency":
		if c.multiple {
			for i, d := range base.Latency {
				now.Latency[i] = time.Duration(min(c.times*float64(d), float64(time.Hour)))
			}
			return nil
		}
		latency, err := latencies(c.text)
		now.Latency = latency
		return err
	case "timeout":
		if c.multiple {
			now.Timeout = time.Duration(min(c.times*float64(base.Timeout), float64(time.Hour)))
			return nil
		}
		d, err := time.ParseDuration(c.text)
		if err != nil || d < 0 || d > time.Hour {
			return errors.New("must be a time from 0s to 1h, where 0s is none")
		}
		now.Timeout = d
		return nil
	default:
		return errors.New("the key must be offered, workers, limit, burst, fail, throttle, latency or timeout")
	}
}

// rate changes a number, which must be between low and high.
func (c phaseChange) rate(to *float64, base, low, high float64) error {
	x := c.times * base
	if !c.multiple {
		var err error
		if x, err = number(c.text); err != nil || x < low || x > high {
			return fmt.Errorf("must be a number from %v to %s, or a multiple of the base such as 4x", low, strconv.FormatFloat(high, 'f', -1, 64))
		}
	}
	*to = min(max(x, low), max(high, base))
	return nil
}

// phasesOf returns the phases of a scenario with these base conditions, including the outage.
func (s *simulation) phasesOf(base sim.Conditions) (all []sim.Phase) {
	given := slices.Clone(s.phases)
	if s.outage > 0 {
		fail := func(at time.Duration, share float64) {
			change := phaseChange{key: "fail", text: asGiven(share)}
			if i := slices.IndexFunc(given, func(p phase) bool { return p.from == at }); i >= 0 {
				given[i].changes = append([]phaseChange{change}, given[i].changes...)
				return
			}
			given = append(given, phase{at, []phaseChange{change}})
		}
		fail(settled, 1)
		fail(settled+s.outage, base.Fail)
		slices.SortFunc(given, func(a, b phase) int { return cmp.Compare(a.from, b.from) })
	}
	now := base
	for _, p := range given {
		for _, c := range p.changes {
			_ = c.apply(&now, &base) // It was accepted as a flag.
		}
		all = append(all, sim.Phase{From: p.from, Conditions: now})
	}
	return all
}

// String returns the phase in the form of the flag.
func (p phase) String() string {
	parts := make([]string, len(p.changes))
	for i, c := range p.changes {
		parts[i] = c.key + "=" + c.text
	}
	return p.from.String() + ":" + strings.Join(parts, ";")
}

// spans returns the parts of the run that differ from the start, each with a label of the
// difference.
func spans(s *sim.Scenario) (all []page.Phase) {
	for i, p := range s.Phases {
		if p.Conditions == s.Conditions {
			continue
		}
		to := s.Duration
		if i+1 < len(s.Phases) {
			to = s.Phases[i+1].From
		}
		if p.From < s.Duration {
			all = append(all, page.Phase{Window: sim.Window{From: p.From, To: min(to, s.Duration)}, Label: label(&p.Conditions, &s.Conditions)})
		}
	}
	return all
}

// label names the difference from the base in a word.
func label(now, base *sim.Conditions) string {
	switch {
	case now.Fail >= 1:
		return "outage"
	case now.Rate == 0 && base.Rate > 0:
		return "pause"
	case now.Offered > base.Offered || now.Workers > base.Workers:
		return "more load"
	case now.Rate < base.Rate:
		return "lower limit"
	case now.Fail > base.Fail || now.Throttle > base.Throttle:
		return "failures"
	case now.Latency[1] > base.Latency[1]:
		return "slower"
	default:
		return "changed"
	}
}
