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

// decide takes the strongest value of a setting, which must be valid. Of the variables the first is the strongest.
func decide[T any](r *resolution, s rule[T], builtIn T, variables ...string) Setting[T] {
	chosen := Setting[T]{Value: builtIn, Raw: s.text(builtIn), Origin: Origin{Kind: originDefault}, Overridden: []Candidate{}}
	won := false
	add := func(c Candidate) {
		value, err := s.of(c)
		loses := won
		if !won && r.instead != nil && c.typed == nil && c.Origin.Kind != originOption && s.key != keyProfile {
			text := r.instead(s.key, c)
			if loses = text == ""; !loses {
				value, err = s.read(text)
			}
		}
		switch {
		case loses:
			chosen.Overridden = append(chosen.Overridden, Candidate{Raw: c.Raw, Valid: err == nil, Origin: c.Origin})
			return
		case err != nil:
			r.refuse(c, s.key, err)
		default:
			chosen.Value, chosen.Raw, chosen.Origin = value, c.Raw, c.Origin
		}
		won = true
	}
	code := func(builtIn bool) {
		for _, c := range r.Given {
			if (c.Origin.Kind == originDefault) == builtIn && cmp.Or(c.setting, c.Origin.Key) == s.key {
				add(c)
			}
		}
	}
	code(false)
	for _, name := range variables {
		// A retry setting of whitespace alone is unset; the name of a profile is used as is.
		if text := r.env(name); text != "" && (s.key == keyProfile || !sharedfile.IsBlank(text)) {
			add(Candidate{Raw: text, Origin: Origin{Kind: originEnvironment, Name: name}})
		}
	}
	for _, c := range r.inFiles {
		if c.Origin.Key == s.key {
			add(c)
		}
	}
	code(true)
	return chosen
}

// refuse keeps the first error.
func (r *resolution) refuse(c Candidate, key string, err error) {
	if r.err == nil {
		r.err = &ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: err}
	}
}
