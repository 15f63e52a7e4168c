package config

import (
	"errors"
)

// Lint gives the findings about all profiles of both files and about the files
// themselves: first those without a line, then the config file's, then the
// credentials file's, by line. Values that would win are errors if they are not
// accepted, the others warnings. A file that is not well formed is one error,
// [CodeParseError], and then nothing else is said about what is in the files.
func (f *Files) Lint() []Diagnostic {
	all := f.Diagnostics()
	config, err1 := buildIndex(f.data().files[0], scope{all: true})
	credentials, err2 := buildIndex(f.data().files[1], scope{all: true})
	if err1 != nil || err2 != nil {
		return append(all, parseFindings(err1, err2)...)
	}
	config.values(credentials.keys())
	credentials.values(nil)
	all = append(all, config.findings(credentials)...)
	return append(all, credentials.findings(credentials)...)
}

// parseFindings are parse errors as findings.
func parseFindings(errs ...error) []Diagnostic {
	var all []Diagnostic
	for _, err := range errs {
		if e, ok := errors.AsType[*ParseError](err); ok {
			all = append(all, Diagnostic{
				Severity: SeverityError, Code: CodeParseError, Message: e.detail(), File: e.File, Line: e.Line,
			})
		}
	}
	return all
}

// keys are the retry settings that a file has.
func (x *index) keys() map[place]bool {
	keys := map[place]bool{}
	for _, p := range x.props {
		if p.value != nil {
			keys[place{p.profile, p.key}] = true
		}
	}
	return keys
}

// values checks the value of every retry setting. The last one of a profile in
// a file wins, unless the file above has one as well.
func (x *index) values(above map[place]bool) {
	won := map[place]bool{}
	for i := len(x.props) - 1; i >= 0; i-- {
		p := &x.props[i]
		if p.value == nil {
			continue
		}
		at := place{p.profile, p.key}
		wins := !won[at] && !above[at]
		won[at] = true
		x.value(p, wins)
	}
}

func (x *index) value(p *property, wins bool) {
	c := Candidate{Raw: string(p.value), Origin: x.origin(p)}
	mode, mapped, err := parse(p.key, c.Raw)
	switch {
	case err != nil && wins:
		x.diags = append(x.diags, c.finding(SeverityError, CodeInvalidValue, accepted(err)))
	case err != nil:
		x.diags = append(x.diags, InvalidLoser(c, err))
	case mapped && wins:
		x.diags = append(x.diags, MappedMode(c, mode))
	}
}
