package config

import (
	"errors"
)

// Lint gives the findings about all profiles of both files and about the files
// themselves: first those without a line, then the config file's, then the
// credentials file's, by line. Values that would win are errors if they are not
// accepted, the others warnings. A file that is not well formed is one error,
// [CodeParseError], and nothing more is said about either file's contents.
func (f *Files) Lint() []Diagnostic {
	all := f.Diagnostics()
	config, credentials, err := f.index(scope{all: true})
	if err != nil {
		return append(all, parseFinding(err))
	}
	config.values(credentials.keys())
	credentials.values(nil)
	all = append(all, config.findings(credentials)...)
	return append(all, credentials.findings(credentials)...)
}

// parseFinding is a parse error as a finding.
func parseFinding(err error) Diagnostic {
	d := Diagnostic{Severity: SeverityError, Code: CodeParseError, Message: err.Error()}
	if e, ok := errors.AsType[*ParseError](err); ok {
		d.File, d.Line, d.Message = e.File, e.Line, e.detail()
	}
	return d
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
