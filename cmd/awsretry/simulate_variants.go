package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/command/page"
	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// change is what a --vs says: settings, and the deadline of a call.
type change struct {
	given    []config.Candidate
	behavior retry.Behavior
	timeout  time.Duration
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
		case !assigned || !slices.Contains([]string{"max_attempts", "max_backoff", "min_delay", "max_elapsed", "timeout"}, key):
			return c, fmt.Errorf("%q: must be standard, adaptive, v2.0, v2.1, max_attempts=N, max_backoff=D, min_delay=D, max_elapsed=D or timeout=D", part)
		}
		if slices.Contains(keys, key) {
			return c, fmt.Errorf("%q: there is another %s", part, key)
		}
		keys = append(keys, key)
		if err := c.set(key, value, "--vs "+text); err != nil {
			return c, fmt.Errorf("%q: %w", part, err)
		}
	}
	return c, nil
}

func (c *change) set(key, value, place string) error {
	switch key {
	case "behavior":
		return nil
	case "timeout":
		var err error
		if c.timeout, err = time.ParseDuration(value); err != nil || c.timeout <= 0 {
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

// variant is a way to retry, and what came of it.
type variant struct {
	sim.Variant
	settings []page.Setting
	plan     retry.Plan
	result   *sim.Result
	curve    []sim.Point
}

// variants resolves the settings of all variants.
func (c *call) variants(s *simulation, trace *recording) ([]*variant, error) {
	all := make([]*variant, 0, 1+len(s.vs))
	for i, text := range append([]string{""}, s.vs...) {
		var with change
		service := page.Setting{Name: "service", Value: c.service, Origin: "option --service"}
		if trace != nil && c.service == "" {
			service.Value, service.Origin = trace.Given.Service, trace.place()
		}
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
		if trace != nil {
			if query.Override.Behavior == nil && trace.Behavior != "" {
				query.Override.Behavior, place = new(retry.Behavior(trace.Behavior)), trace.place()
			}
			query.Given = append(query.Given, trace.given()...)
		}
		settings, err := query.Resolve()
		if invalid, ok := errors.AsType[*config.ValueError](err); ok && strings.HasPrefix(invalid.Origin.Name, "--vs ") {
			return nil, usageError(message(err))
		}
		if err != nil {
			return nil, err
		}
		v := &variant{
			Variant:  sim.Variant{Name: name, Timeout: with.timeout},
			settings: settingsOf(settings, place),
		}
		if service.Value != "" {
			v.settings = append(v.settings, service)
		}
		if with.timeout > 0 {
			v.settings = append(v.settings, page.Setting{Name: "timeout", Value: with.timeout.String(), Origin: "--vs " + text})
		}
		v.New = func(p sim.Parts) (retry.Strategy, error) {
			return awsretry.New(settings, awsretry.WithConfig(adaptive.Config{Standard: trace.conditions()}),
				awsretry.WithClock(p.Clock), awsretry.WithRandom(p.Random), awsretry.WithObserver(p.Observer))
		}
		all = append(all, v)
	}
	return all, nil
}

// settingsOf returns the settings of a variant. behavior is the place of a behavior that was asked for.
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
