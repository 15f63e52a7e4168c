package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/words"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// variant is a way to retry and its results.
type variant struct {
	sim.Variant
	place    string // --vs and the name
	given    []config.Candidate
	strategy adaptive.Config // apart from the settings
	settings []setting
	runs     []*sim.Result // one for each seed
	curve    []sim.Point
}

// variants returns the settings and each --vs.
func (s *Simulation) variants(p *Program) ([]*variant, error) {
	all := make([]*variant, 0, 1+len(s.vs))
	for i, name := range append([]string{"settings"}, s.vs...) {
		v := &variant{Variant: sim.Variant{Name: name}}
		if i > 0 {
			v.place = "--vs " + name
			if slices.Contains(s.vs[:i-1], name) {
				return nil, UsageError(v.place + ": was given before")
			}
			if err := v.parse(); err != nil {
				return nil, UsageError(v.place + ": " + err.Error())
			}
		}
		found, err := v.resolve(p.Query)
		if i > 0 && ofPlace(err, v.place) {
			return nil, UsageError(lint.Text(err))
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			p.Warn(found)
		}
		if p.Query.Service != "" {
			v.settings = append(v.settings, setting{Name: "service", Value: p.Query.Service, Origin: "--service"})
		}
		all = append(all, v)
	}
	return all, nil
}

// parse reads a --vs.
func (v *variant) parse() error {
	seen := map[string]string{}
	for part := range strings.SplitSeq(v.Name, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch part {
		case string(retry.V20), string(retry.V21):
			key, value = "behavior", part
		case string(awsretry.ModeStandard), string(awsretry.ModeAdaptive):
			key, value = "retry_mode", part
		case ratelimit.CutPerThrottle.String():
			key, value = "controller", part
		}
		if _, again := seen[key]; again {
			return fmt.Errorf("%q: there is another %s", part, key)
		}
		seen[key] = value
		if err := v.set(key, value); err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
	}
	if v.strategy.Controller == ratelimit.FindLimit && v.strategy.SendLimit == nil {
		return nil
	}
	switch seen["retry_mode"] {
	case "":
		return v.set("retry_mode", string(awsretry.ModeAdaptive))
	case string(awsretry.ModeStandard):
		return errors.New("standard mode has no send rate")
	}
	return nil
}

// parts are those of a --vs.
const parts = "standard, adaptive, cut-per-throttle, debt-limit, v2.0, v2.1, max_attempts=N, max_backoff=D, min_delay=D, max_elapsed=D, " +
	"quota_capacity=N, send_limit=RATE:BURST, deadline=D, timeout=D"

func (v *variant) set(key, value string) (err error) {
	switch key {
	case "behavior", "retry_mode", "max_attempts", "max_backoff", "min_delay", "max_elapsed":
		candidate := config.Candidate{Raw: value, Origin: config.Origin{Kind: option, Name: v.place, Key: key}}
		if key == "behavior" {
			candidate = config.Typed(candidate.Origin, key, retry.Behavior(value))
		}
		if invalid, ok := errors.AsType[*config.ValueError](candidate.Check()); ok {
			return invalid.Err
		}
		v.given = append(v.given, candidate)
		return nil
	case "controller":
		if value != ratelimit.CutPerThrottle.String() {
			return fmt.Errorf("must be %v", ratelimit.CutPerThrottle)
		}
		v.strategy.Controller = ratelimit.CutPerThrottle
	case "debt-limit":
		if strings.Contains(v.Name, "debt-limit=") {
			return errors.New("takes no value")
		}
		v.strategy.Standard.DebtLimit, key, value = true, "debt_limit", "true"
	case "quota_capacity":
		capacity, err := strconv.Atoi(value)
		if err != nil || capacity < 1 || capacity > fastest {
			return fmt.Errorf("must be a whole number from 1 to %.0f", fastest)
		}
		v.strategy.Standard.QuotaCapacity = &capacity
	case "send_limit":
		rate, burst, _ := strings.Cut(value, ":")
		ceiling, err := strconv.ParseFloat(rate, 64)
		tokens, also := strconv.ParseFloat(burst, 64)
		if err != nil || also != nil || !(ceiling >= 0.01 && ceiling <= fastest && tokens >= 1 && tokens <= fastest) {
			return fmt.Errorf("must be a rate from 0.01 to %.0f and a burst from 1, such as 20:100", fastest)
		}
		limit := adaptive.SendLimit{Ceiling: ratelimit.Rate(ceiling), Burst: tokens}
		v.strategy.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return limit }
	case "deadline":
		v.Deadline, err = positive(value)
	case "timeout":
		v.AttemptTimeout, err = positive(value)
	default:
		near := words.Near(key)
		for part := range strings.SplitSeq(parts, ", ") {
			name, _, _ := strings.Cut(part, "=")
			near.Add(name)
		}
		meant := ""
		if best := near.Best(); len(best) > 0 {
			meant = "; did you mean " + best[0] + "?"
		}
		return errors.New("must be one of " + parts + meant)
	}
	v.settings = append(v.settings, setting{Name: key, Value: value, Origin: v.place})
	return err
}

// option is the kind of the origin of a flag.
const option = "option"

func positive(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("must be a duration above zero, such as 2s")
	}
	return d, nil
}

// ofPlace reports whether an error is about a value that was given there.
func ofPlace(err error, place string) bool {
	invalid, ok := errors.AsType[*config.ValueError](err)
	return ok && invalid.Origin.Name == place
}

// resolve reads the settings of the variant, and returns the findings.
func (v *variant) resolve(query config.Query) ([]lint.Diagnostic, error) {
	query.Given = slices.Concat(v.given, query.Given) // the first of a setting counts
	s, err := lint.Examine(query)
	if err != nil {
		return nil, err
	}
	v.New = func(p sim.Parts) (retry.Strategy, error) {
		return awsretry.New(s.Settings, awsretry.WithConfig(v.strategy), awsretry.WithClock(p.Clock), awsretry.WithRandom(p.Random), awsretry.WithObserver(p.Observer))
	}
	profile := s.Profile.Origin
	if profile.Kind == option {
		profile.Name = "--profile"
	}
	all := []setting{
		{Name: "profile", Value: s.Profile.Value, Origin: profile.String()},
		{Name: "retry_mode", Value: string(s.RetryMode.Value), Origin: s.RetryMode.Origin.String()},
		{Name: "max_attempts", Value: strconv.Itoa(s.MaxAttempts.Value), Origin: s.MaxAttempts.Origin.String()},
		{Name: "behavior", Value: string(s.Behavior.Value), Origin: s.Behavior.Origin.String()},
	}
	for _, d := range []struct {
		name    string
		setting config.Setting[time.Duration]
	}{{"max_backoff", s.MaxBackoff}, {"min_delay", s.MinDelay}, {"max_elapsed", s.MaxElapsed}} {
		if d.setting.Origin.Name != "" {
			all = append(all, setting{Name: d.name, Value: d.setting.Value.String(), Origin: d.setting.Origin.String()})
		}
	}
	v.settings = append(all, v.settings...)
	return s.Diagnostics, nil
}
