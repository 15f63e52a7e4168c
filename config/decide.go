package config

import (
	"cmp"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// resolution is the state of one Decide.
type resolution struct {
	Query
	instead func(key string, given Candidate) string // See Query.Decide.
	inFiles []Candidate                              // The values that both files have for the profile, the strongest first.
	err     error                                    // The first error of a setting.
}

// setting has what code says of one setting.
type setting[T any] struct {
	rule[T]
	variables       [2]string // The strongest first.
	builtIn         T
	option          string // That of over.
	over, def, conf *T     // Of Query.Override, Query.Default and Query.Config.
}

// decide takes the strongest value of a setting, which must be valid.
func decide[T any](r *resolution, s setting[T]) Setting[T] {
	chosen := Setting[T]{Value: s.builtIn, Raw: s.text(s.builtIn), Origin: Origin{Kind: originDefault}, Overridden: []Candidate{}}
	won := false
	lose := func(c Candidate, err error) {
		c.Valid = err == nil
		chosen.Overridden = append(chosen.Overridden, c)
	}
	add := func(c Candidate, value T, err error) {
		switch {
		case won:
			lose(c, err)
		case err != nil:
			r.refuse(c, s.key, err)
		default:
			chosen.Value, chosen.Raw, chosen.Origin = value, c.Raw, c.Origin
		}
		won = true
	}
	typed := func(value *T, kind, option string) {
		if value != nil {
			accepted, err := s.accept(*value)
			add(Candidate{Raw: s.text(*value), Origin: Origin{Kind: kind, Name: option}}, accepted, err)
		}
	}
	read := func(c Candidate) {
		value, err := s.read(c.Raw)
		if r.instead != nil && !won && c.Origin.Kind != originOption && s.key != keyProfile {
			text := r.instead(s.key, c)
			if text == "" {
				lose(c, err)
				return
			}
			value, err = s.read(text)
		}
		add(c, value, err)
	}
	texts := func(all []Candidate) {
		for _, c := range all {
			if c.Origin.Key == s.key {
				read(c)
			}
		}
	}
	typed(s.over, originOption, s.option)
	texts(r.Given)
	for _, name := range s.variables {
		if name == "" {
			break
		}
		// A retry setting of whitespace alone is unset; the name of a profile is used as is.
		if text := r.env(name); text != "" && (s.key == keyProfile || !sharedfile.IsBlank(text)) {
			read(Candidate{Raw: text, Origin: Origin{Kind: originEnvironment, Name: name}})
		}
	}
	texts(r.inFiles)
	typed(s.def, originDefault, "WithDefaultMode")
	typed(s.conf, originDefault, cmp.Or(r.Config.Option, withConfig))
	return chosen
}

// refuse keeps the first error.
func (r *resolution) refuse(c Candidate, key string, err error) {
	if r.err == nil {
		r.err = &ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: err}
	}
}
