package config

import (
	"cmp"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// maxGiven is how many values of one setting are kept of one file.
const maxGiven = 100

// resolution is the state of one Decide.
type resolution struct {
	Query
	inFiles []Candidate // The values that both files have for the profile, the strongest first.
	err     error       // The first error of a setting.
}

// setting says how one setting is decided. A text is read, and a value that code has typed is accepted, or not.
type setting[T any] struct {
	key       string    // In errors, and as the key in the shared files and in Query.Given.
	variables [2]string // The strongest first.
	inFiles   bool      // The shared files may have it.
	read      func(text string) (T, error)
	accept    func(value T) (T, error)
	text      func(value T) string // For people.
	builtIn   T
	by        Origin // Of over.

	over, def, conf *T // Of Query.Override, Query.Default (WithDefaultMode) and Query.Config.
}

func option(name string) Origin     { return Origin{Kind: originOption, Name: name} }
func keyed(name, key string) Origin { return Origin{Kind: originOption, Name: name, Key: key} }

func unlessEmpty(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

// decide takes the strongest value of a setting, which must be valid.
func decide[T any](r *resolution, s setting[T]) Setting[T] {
	chosen := Setting[T]{Value: s.builtIn, Raw: s.text(s.builtIn), Origin: Origin{Kind: originDefault}, Overridden: []Candidate{}}
	won := false
	add := func(c Candidate, value T, err error) {
		switch {
		case won:
			c.Valid = err == nil
			chosen.Overridden = append(chosen.Overridden, c)
			return
		case err != nil:
			r.refuse(c, s.key, err)
		default:
			chosen.Value, chosen.Raw, chosen.Origin = value, c.Raw, c.Origin
		}
		won = true
	}
	read := func(c Candidate) {
		value, err := s.read(c.Raw)
		add(c, value, err)
	}
	typed := func(value *T, origin Origin) {
		if value != nil {
			accepted, err := s.accept(*value)
			add(Candidate{Raw: s.text(*value), Origin: origin}, accepted, err)
		}
	}
	typed(s.over, s.by)
	for _, c := range r.Given {
		if c.Origin.Key == s.key {
			read(c)
		}
	}
	for _, name := range s.variables {
		// A retry setting of whitespace alone is unset; the name of a profile is used as is.
		if value, ok := r.env(name); name != "" && ok && (!s.inFiles || !sharedfile.IsBlank(value)) {
			read(Candidate{Raw: value, Origin: Origin{Kind: originEnvironment, Name: name}})
		}
	}
	for _, c := range r.inFiles {
		if c.Origin.Key == s.key {
			read(c)
		}
	}
	typed(s.def, Origin{Kind: originDefault, Name: "WithDefaultMode"})
	typed(s.conf, Origin{Kind: originDefault, Name: cmp.Or(r.Config.Option, withConfig)})
	return chosen
}

// refuse keeps the first error.
func (r *resolution) refuse(c Candidate, key string, err error) {
	if r.err == nil {
		r.err = &ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: err}
	}
}
