package awsretry

import (
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
)

// modes lists who gave a retry mode, the strongest first.
func (o settingOptions) modes(p *config.Profile) []Candidate {
	var given []Candidate
	if m := o.overrides.mode; m != nil {
		given = append(given, Candidate{Raw: string(*m), Origin: byOption(o.sources.OptionName("WithMode"))})
	}
	given = o.addVariable(given, config.EnvRetryMode)
	given = append(given, p.Candidates(config.KeyRetryMode)...)
	if m := o.defaults.mode; m != nil {
		given = append(given, Candidate{Raw: string(*m), Origin: byDefault(o.sources.OptionName("WithDefaultMode"))})
	}
	return given
}

// attempts lists who gave a number of attempts, the strongest first.
func (o settingOptions) attempts(p *config.Profile) []Candidate {
	var given []Candidate
	if n := o.overrides.maxAttempts; n != nil {
		given = append(given, Candidate{Raw: strconv.Itoa(*n), Origin: byOption(o.sources.OptionName("WithMaxAttempts"))})
	}
	given = o.addVariable(given, config.EnvMaxAttempts)
	given = append(given, p.Candidates(config.KeyMaxAttempts)...)
	if n := o.defaults.maxAttempts; n != nil {
		given = append(given, Candidate{Raw: strconv.Itoa(*n), Origin: byDefault(o.sources.OptionName("WithDefaultMaxAttempts"))})
	}
	return given
}

// behaviors lists who gave a generation of behavior, the strongest first.
func (o settingOptions) behaviors() []Candidate {
	var given []Candidate
	if b := o.overrides.behavior; b != nil {
		given = append(given, Candidate{Raw: string(*b), Origin: byOption(o.sources.OptionName("WithBehavior"))})
	}
	given = o.addVariable(given, config.EnvNewRetries)
	if b := o.defaults.behavior; b != nil {
		given = append(given, Candidate{Raw: string(*b), Origin: byDefault(o.sources.OptionName("WithDefaultBehavior"))})
	}
	return given
}

// addVariable adds the value of a variable. One that is only spaces and tabs,
// which are dropped around values, counts as unset like one that is empty.
func (o settingOptions) addVariable(given []Candidate, name string) []Candidate {
	value, ok := o.sources.Env(name)
	if !ok || strings.Trim(value, " \t") == "" {
		return given
	}
	return append(given, Candidate{Raw: value, Origin: byVariable(name)})
}

func byOption(name string) Origin   { return Origin{Kind: config.OriginOption, Name: name} }
func byVariable(name string) Origin { return Origin{Kind: config.OriginEnvironment, Name: name} }
func byDefault(name string) Origin  { return Origin{Kind: config.OriginDefault, Name: name} }

func parseMode(c Candidate) (Mode, *Diagnostic, error) {
	mode, mapped, err := config.ParseMode(c.Raw)
	if err != nil || !mapped {
		return mode, nil, err
	}
	note := config.MappedMode(c, mode)
	return mode, &note, nil
}

func parseAttempts(c Candidate) (int, *Diagnostic, error) {
	n, err := config.ParseMaxAttempts(c.Raw)
	return n, nil, err
}

// parseBehavior reads the variable, which knows only true, and what code gave.
func parseBehavior(c Candidate) (Behavior, *Diagnostic, error) {
	if c.Origin.Kind != config.OriginEnvironment {
		b, err := config.ParseBehavior(c.Raw)
		return b, nil, err
	}
	b, known := config.ParseNewRetries(c.Raw)
	if known {
		return b, nil, nil
	}
	note := config.UnknownNewRetries(c)
	return b, &note, nil
}
