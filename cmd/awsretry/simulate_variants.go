package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// change is a --vs: settings, and what the program does around a call.
type change struct {
	given             []config.Candidate
	behavior          retry.Behavior
	deadline, timeout time.Duration
	quota             int // capacity; zero means the default
	controller        ratelimit.Controller
	sendLimit         adaptive.SendLimit
}

// parseChange reads a --vs.
func parseChange(text string) (change, error) {
	var c change
	var keys []string
	for part := range strings.SplitSeq(text, ",") {
		key, value, assigned := strings.Cut(part, "=")
		switch {
		case part == string(retry.V20), part == string(retry.V21):
			key, c.behavior = "behavior", retry.Behavior(part)
		case part == string(awsretry.ModeStandard), part == string(awsretry.ModeAdaptive):
			key, value = "retry_mode", part
		case part == ratelimit.Hold.String():
			key, value, c.controller = "retry_mode", string(awsretry.ModeAdaptive), ratelimit.Hold
		case !assigned || !slices.Contains([]string{"max_attempts", "max_backoff", "min_delay", "max_elapsed", "quota_capacity", "send_limit", "deadline", "timeout"}, key):
			return c, fmt.Errorf("%q: must be standard, adaptive, hold, v2.0, v2.1, max_attempts=N, max_backoff=D, "+
				"min_delay=D, max_elapsed=D, quota_capacity=N, send_limit=RATE:BURST, deadline=D or timeout=D", part)
		}
		if slices.Contains(keys, key) {
			return c, fmt.Errorf("%q: there is another %s", part, key)
		}
		keys = append(keys, key)
		if err := c.set(key, value, "--vs "+text); err != nil {
			return c, fmt.Errorf("%q: %w", part, err)
		}
	}
	switch known := c.sendLimit != (adaptive.SendLimit{}); {
	case known && slices.ContainsFunc(c.given, func(given config.Candidate) bool { return given.Raw == string(awsretry.ModeStandard) }):
		return c, errors.New("send_limit: standard mode has no send rate")
	case known && !slices.Contains(keys, "retry_mode"):
		return c, c.set("retry_mode", string(awsretry.ModeAdaptive), "--vs "+text)
	}
	return c, nil
}

func (c *change) set(key, value, place string) (err error) {
	switch key {
	case "behavior":
		return nil
	case "quota_capacity":
		if c.quota, err = strconv.Atoi(value); err != nil || c.quota < 1 || c.quota > fastest {
			return fmt.Errorf("must be a whole number from 1 to %.0f", fastest)
		}
		return nil
	case "send_limit":
		rate, burst, _ := strings.Cut(value, ":")
		ceiling, err := strconv.ParseFloat(rate, 64)
		if err == nil {
			c.sendLimit.Ceiling = ratelimit.Rate(ceiling)
			c.sendLimit.Burst, err = strconv.ParseFloat(burst, 64)
		}
		if err != nil || !(ceiling >= 0.01 && ceiling <= fastest && c.sendLimit.Burst >= 1 && c.sendLimit.Burst <= fastest) {
			return fmt.Errorf("must be a rate from 0.01 to %.0f and a burst from 1, such as 20:100", fastest)
		}
		return nil
	case "deadline", "timeout":
		into := &c.deadline
		if key == "timeout" {
			into = &c.timeout
		}
		if *into, err = time.ParseDuration(value); err != nil || *into <= 0 {
			return errors.New("must be a duration above zero, such as 2s")
		}
		return nil
	}
	candidate := config.Candidate{Raw: value, Origin: config.Origin{Kind: "option", Name: place, Key: key}}
	if invalid, ok := errors.AsType[*config.ValueError](candidate.Check()); ok {
		return invalid.Err
	}
	c.given = append(c.given, candidate)
	return nil
}

// strategy returns the configuration of the strategy, apart from the settings.
func (c *change) strategy() (all adaptive.Config) {
	if c.quota > 0 {
		all.Standard.QuotaCapacity = &c.quota
	}
	all.Controller = c.controller
	if c.sendLimit != (adaptive.SendLimit{}) {
		all.SendLimit = func(retry.ScopeKey) adaptive.SendLimit { return c.sendLimit }
	}
	return all
}

// variant is a way to retry and its results.
type variant struct {
	sim.Variant
	settings []page.Setting
	plan     retry.Plan
	runs     []*sim.Result // one for each seed
	curve    []sim.Point
	same     string // the name of a variant before it with the same results
}

// of returns the spread of a figure over all runs.
func (v *variant) of(figure func(r *sim.Result) float64) sim.Spread {
	return sim.SpreadOf(v.runs, figure)
}

// result returns the run that the pictures show.
func (v *variant) result() *sim.Result { return sim.Median(v.runs) }

// variants resolves the settings of all variants.
func (c *call) variants(s *simulation) ([]*variant, error) {
	all := make([]*variant, 0, 1+len(s.vs))
	for i, text := range append([]string{""}, s.vs...) {
		var with change
		service := page.Setting{Name: "service", Value: c.service, Origin: "option --service"}
		query := c.query(s.question, service.Value)
		name, place := "settings", "option --behavior"
		if i > 0 {
			name = text
			with, _ = parseChange(text) // It was accepted as a flag.
		}
		if with.behavior != "" {
			query.Override.Behavior, place = &with.behavior, "--vs "+text
		}
		query.Given = with.given
		settings, err := query.Resolve()
		if invalid, ok := errors.AsType[*config.ValueError](err); ok && strings.HasPrefix(invalid.Origin.Name, "--vs ") {
			return nil, usageError(message(err))
		}
		if err != nil {
			return nil, err
		}
		v := &variant{
			Variant:  sim.Variant{Name: name, Deadline: with.deadline, AttemptTimeout: with.timeout},
			settings: settingsOf(settings, place),
		}
		if service.Value != "" {
			v.settings = append(v.settings, service)
		}
		for _, d := range []struct {
			name  string
			value time.Duration
		}{{"deadline", with.deadline}, {"timeout", with.timeout}} {
			if d.value > 0 {
				v.settings = append(v.settings, page.Setting{Name: d.name, Value: d.value.String(), Origin: "--vs " + text})
			}
		}
		if with.quota > 0 {
			v.settings = append(v.settings, page.Setting{Name: "quota_capacity", Value: strconv.Itoa(with.quota), Origin: "--vs " + text})
		}
		if with.controller == ratelimit.Hold {
			v.settings = append(v.settings, page.Setting{Name: "controller", Value: with.controller.String(), Origin: "--vs " + text})
		}
		if known := with.sendLimit; known.Ceiling > 0 {
			value := fmt.Sprintf("%v/s, burst %v", known.Ceiling, known.Burst)
			v.settings = append(v.settings, page.Setting{Name: "send_limit", Value: value, Origin: "--vs " + text})
		}
		v.New = func(p sim.Parts) (retry.Strategy, error) {
			return awsretry.New(settings, awsretry.WithConfig(with.strategy()),
				awsretry.WithClock(p.Clock), awsretry.WithRandom(p.Random), awsretry.WithObserver(p.Observer))
		}
		all = append(all, v)
	}
	return all, nil
}

// settingsOf returns the settings of a variant. behavior is the origin of a behavior that was set.
func settingsOf(s *config.Settings, behavior string) []page.Setting {
	asked := s.Behavior.Origin.String()
	if s.Behavior.Origin.Kind == "option" {
		asked = behavior
	}
	all := []page.Setting{
		{Name: "profile", Value: s.Profile.Value, Origin: asFlag(s.Profile.Origin).String()},
		{Name: "retry_mode", Value: string(s.RetryMode.Value), Origin: s.RetryMode.Origin.String()},
		{Name: "max_attempts", Value: strconv.Itoa(s.MaxAttempts.Value), Origin: s.MaxAttempts.Origin.String()},
		{Name: "behavior", Value: string(s.Behavior.Value), Origin: asked},
	}
	for _, d := range []struct {
		name    string
		setting config.Setting[time.Duration]
	}{{"max_backoff", s.MaxBackoff}, {"min_delay", s.MinDelay}, {"max_elapsed", s.MaxElapsed}} {
		if d.setting.Origin.Name != "" {
			all = append(all, page.Setting{Name: d.name, Value: d.setting.Value.String(), Origin: d.setting.Origin.String()})
		}
	}
	return all
}
