package config

import (
	"cmp"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// resolution is the state of one Decide.
type resolution struct {
	Query
	look    func(v ValueError, wins bool) (instead string, over bool) // See Query.Decide.
	inFiles []Candidate                                               // The values that both files have for the profile, the strongest first.
	err     error                                                     // The first error of a setting.
}

// decide takes the strongest value of a setting, which must be valid. Of the variables the first is the strongest.
func decide[T any](r *resolution, s rule[T], builtIn T, variables ...string) Setting[T] {
	chosen := Setting[T]{Value: builtIn, Raw: s.text(builtIn), Origin: Origin{Kind: originDefault}, Overridden: []Candidate{}}
	won := false
	add := func(c Candidate) {
		value, err := s.of(c)
		loses := won
		if r.look != nil && s.key != keyProfile && s.key != keyBehavior {
			instead, over := r.look(ValueError{c.Origin, s.key, c.Raw, err}, !won)
			if loses = won || over; !loses && instead != c.Raw {
				value, err = s.read(instead)
			}
		}
		switch {
		case loses:
			chosen.Overridden = append(chosen.Overridden, Candidate{Raw: c.Raw, Valid: err == nil, Origin: c.Origin})
			return
		case err != nil:
			r.err = cmp.Or(r.err, error(&ValueError{c.Origin, s.key, c.Raw, err}))
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
