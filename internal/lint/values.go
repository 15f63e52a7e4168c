package lint

import (
	"errors"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// anotherWins ends the finding about a bad value that has lost.
const anotherWins = "; another value wins, so it is ignored"

// value adds a finding about a value, with its place and its text.
func (r *report) value(c config.Candidate, key string, severity config.Severity, code, text string) {
	message := (&config.ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: errors.New(text)}).Error()
	d := config.Diagnostic{Severity: severity, Code: code, Message: strings.TrimPrefix(message, "config: ")}
	if c.Origin.File == "" {
		r.first = append(r.first, d)
		return
	}
	d.Line = c.Origin.Line
	d.Message = strings.TrimPrefix(d.Message, sharedfile.ShownPath(c.Origin.File)+":"+strconv.Itoa(d.Line)+": ")
	r.files[index(c.Origin)].add(d)
}

// given is a setting with the values that were given for it.
type given struct {
	key    string
	winner config.Candidate
	losers []config.Candidate       // The strongest first.
	passed map[config.Origin]string // The bad values that did not end the call, and how it goes on.
}

// of returns what was given for a setting.
func of[T any](key string, s config.Setting[T], passed map[config.Origin]string) given {
	return given{key, config.Candidate{Raw: s.Raw, Valid: true, Origin: s.Origin}, s.Overridden, passed}
}

// all goes over the values, the one that counts first.
func (g *given) all(yield func(config.Candidate) bool) {
	if !yield(g.winner) {
		return
	}
	for _, c := range g.losers {
		if !yield(c) {
			return
		}
	}
}

// values adds the findings about the values of all settings.
func (r *report) values(q config.Query, s *config.Settings, passed map[config.Origin]string) {
	r.setting(of("behavior", s.Behavior, passed))
	r.setting(of(sharedfile.RetryMode, s.RetryMode, passed))
	// If code has chosen standard mode, the fields are an error of awsretry.New.
	mode, fields := s.RetryMode, q.Config.Adaptive
	if inCode := mode.Origin.Key == "" && (mode.Origin.Kind == "option" || mode.Origin.Kind == "default"); len(fields) > 0 && mode.Value == "standard" && !inCode {
		r.value(config.Candidate{Raw: mode.Raw, Origin: mode.Origin}, sharedfile.RetryMode, config.SeverityWarning, codeNoEffect,
			"in this mode these have no effect: "+strings.Join(fields, ", "))
	}
	r.setting(of(sharedfile.MaxAttempts, s.MaxAttempts, passed))
	r.setting(of("max_backoff", s.MaxBackoff, passed))
	r.setting(of("min_delay", s.MinDelay, passed))
	r.setting(of("max_elapsed", s.MaxElapsed, passed))
}

// valuesOfFiles adds the findings about the values that both files have for a profile.
func (r *report) valuesOfFiles(src config.Sources, p sharedfile.Place) error {
	if !p.Profile {
		return nil
	}
	src.LookupEnv = func(string) (string, bool) { return "", false }
	q := held(config.Query{Sources: src, Profile: p.Name})
	s, err := q.Decide(r.pair)
	if err != nil {
		return err
	}
	for key, all := range map[string][]config.Candidate{
		sharedfile.RetryMode: s.RetryMode.Overridden, sharedfile.MaxAttempts: s.MaxAttempts.Overridden,
	} {
		if len(all) == 0 {
			continue
		}
		g := given{key: key, winner: all[0], losers: all[1:]}
		if !all[0].Valid {
			g.passed = map[config.Origin]string{all[0].Origin: ""}
		}
		r.setting(g)
	}
	return nil
}

// setting adds the findings about the values of one setting, of which the first one counts.
func (r *report) setting(g given) {
	for c := range g.all {
		if c.Origin.File != "" {
			r.hiddenInSDK(g.key, c)
			break
		}
	}
	why := func(c config.Candidate) string {
		if g.key == "behavior" {
			return "must be v2.0 or v2.1"
		}
		return refused(g.key, c.Raw).Error()
	}
	for c := range g.all {
		if how, ok := g.passed[c.Origin]; ok {
			r.value(c, g.key, config.SeverityError, codeInvalidValue, why(c)+how)
		}
	}
	if note := mapped(g.winner.Raw); g.key == sharedfile.RetryMode && note != "" {
		r.value(g.winner, g.key, config.SeverityWarning, codeMappedMode, note)
	}
	for _, c := range g.losers {
		if _, ok := g.passed[c.Origin]; !ok && !c.Valid {
			r.value(c, g.key, config.SeverityWarning, codeInvalidValue, why(c)+anotherWins)
		}
	}
	r.older(g)
}

// older adds the findings about bad values of files that are too many for config to keep.
func (r *report) older(g given) {
	if len(g.losers)+1 < maxFindings {
		return
	}
	for i, x := range r.pair.Readings {
		n, oldest := 0, config.Origin{}
		for c := range g.all {
			if c.Origin.File != "" && index(c.Origin) == i {
				n, oldest = n+1, c.Origin
			}
		}
		if n < maxFindings {
			continue
		}
		for _, v := range x.Sections[sharedfile.Place{Profile: true, Name: oldest.Profile}].Settings() {
			if v.Key != g.key || v.Line >= oldest.Line {
				continue
			}
			if err := refused(v.Key, v.Text); err != nil {
				c := config.Candidate{Raw: v.Text, Origin: oldest}
				c.Origin.Line = v.Line
				r.value(c, g.key, config.SeverityWarning, codeInvalidValue, err.Error()+anotherWins)
			}
		}
	}
}

// valuesOfVariables reports bad values of the variables for retry settings, and those of other tools.
func (r *report) valuesOfVariables() {
	for _, v := range [...][2]string{
		{sharedfile.EnvRetryMode, sharedfile.RetryMode}, {sharedfile.EnvMaxAttempts, sharedfile.MaxAttempts},
	} {
		value, _ := r.pair.Lookup(v[0])
		if sharedfile.IsBlank(value) {
			continue
		}
		c := config.Candidate{Raw: value, Origin: config.Origin{Kind: "environment", Name: v[0]}}
		g := given{key: v[1], winner: c}
		if refused(v[1], value) != nil {
			g.passed = map[config.Origin]string{c.Origin: ""}
		}
		r.setting(g)
	}
}

// held returns a query in which code sets both retry settings, so that no value of a variable or file ends it and
// all are among the overridden ones.
func held(q config.Query) config.Query {
	if q.Override.Mode == nil {
		q.Override.Mode = new(config.Mode("standard"))
	}
	if q.Override.MaxAttempts == nil {
		q.Override.MaxAttempts = new(1)
	}
	return q
}
