package awsretry

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
)

// settle brings a configuration and settings together as the comment of WithConfig says: it
// writes what the settings say into the configuration, or returns an error for a field that
// contradicts them.
func settle(c *standard.Config, settings *Settings) error {
	behavior := settings.Behavior
	switch {
	case c.Behavior == "":
		c.Behavior = behavior.Value
	case !isBuiltIn(behavior.Origin) && c.Behavior != behavior.Value:
		return fmt.Errorf("awsretry: WithConfig and the settings differ in the behavior: %s, and %s (%v)",
			c.Behavior, behavior.Value, behavior.Origin)
	}
	switch {
	case c.Service == "":
		c.Service = settings.Service
	case settings.Service != "" && !strings.EqualFold(c.Service, settings.Service):
		return fmt.Errorf("awsretry: WithConfig and the settings differ in the service: %q, and %q (option WithService)",
			c.Service, settings.Service)
	}
	attempts := settings.MaxAttempts
	if c.MaxAttempts != 0 {
		if err := contradicts(strconv.Itoa(c.MaxAttempts), "attempts", attempts); err != nil {
			return err
		}
	}
	for _, own := range []struct {
		name    string
		field   *time.Duration
		setting config.Setting[time.Duration]
	}{
		{"max_backoff", &c.MaxBackoff, settings.MaxBackoff},
		{"min_delay", &c.MinDelay, settings.MinDelay},
		{"max_elapsed", &c.MaxElapsed, settings.MaxElapsed},
	} {
		if err := settleDuration(own.name, own.field, own.setting); err != nil {
			return err
		}
	}
	// The built-in number is left to the strategy, as it may depend on the service of each
	// operation.
	if !isBuiltIn(attempts.Origin) || attempts.Value != builtInAttempts(behavior.Value, settings.Service) {
		c.MaxAttempts = attempts.Value
	}
	return nil
}

// settleDuration is settle for a field that is a duration.
func settleDuration(name string, field *time.Duration, setting config.Setting[time.Duration]) error {
	if *field != 0 {
		if err := contradicts(field.String(), name, setting); err != nil {
			return err
		}
	}
	if setting.Origin.Name != "" { // neither the built-in default nor settings made by hand
		*field = setting.Value
	}
	return nil
}

// contradicts returns an error if a default in code was given for the setting that differs from
// own, the one of the configuration.
func contradicts[T any](own, name string, s config.Setting[T]) error {
	for _, given := range append([]config.Candidate{{Raw: s.Raw, Origin: s.Origin}}, s.Overridden...) {
		inCode := given.Origin.Kind == config.OriginDefault && given.Origin.Name != ""
		if inCode && given.Raw != own {
			return fmt.Errorf("awsretry: WithConfig and the settings differ in the default of %s: %s, and %s (%v)",
				name, own, given.Raw, given.Origin)
		}
	}
	return nil
}

func isBuiltIn(origin config.Origin) bool {
	return origin.Kind == config.OriginDefault && origin.Name == ""
}

// chosenOutsideCode reports whether a value comes from the environment, a file or a flag. The
// latter two have a Key.
func chosenOutsideCode(origin config.Origin) bool {
	return origin.Kind == config.OriginEnvironment || origin.Key != ""
}

// ignored returns an error that names the fields of the configuration that have no effect,
// because the settings have standard mode. It returns nil if there are none.
func ignored(c adaptive.Config, settings *Settings) error {
	fields := adaptiveFields(c)
	mode := settings.RetryMode
	if mode.Value != ModeStandard || len(fields) == 0 {
		return nil
	}
	are := "is"
	if len(fields) > 1 {
		are = "are"
	}
	text := fmt.Sprintf("awsretry: %s %s set, but the retry mode is standard (%v)", strings.Join(fields, " and "), are, mode.Origin)
	if isBuiltIn(mode.Origin) {
		text += ": add WithDefaultMode(ModeAdaptive) or WithMode(ModeAdaptive)"
	}
	return errors.New(text)
}

// adaptiveFields returns the names of the fields that are set and that only adaptive mode
// uses.
func adaptiveFields(c adaptive.Config) []string {
	var names []string
	for field, value := range reflect.ValueOf(c).Fields() {
		if field.Name != "Standard" && !value.IsZero() {
			names = append(names, "adaptive.Config."+field.Name)
		}
	}
	return names
}
