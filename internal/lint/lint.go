// Package lint looks at the settings and at the two files that package config has read, and says what is odd,
// unknown or without effect, and which other AWS tool reads it differently.
//
// A finding about a line is made in one of three places: file.go has those about a line as the file is read,
// section.go those about the lines of one section, and values.go those about the values that config has found.
// tools.go and variables.go know the other tools. All findings of a call go to one sink, in findings.go.
package lint

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// report collects the findings of one call.
type report struct {
	findings

	pair  *sharedfile.Pair
	lines [2]file // What the pass over each file has seen.
}

// open opens both files and prepares to look at them.
func open(src config.Sources) (*report, error) {
	pair, err := src.Open()
	if err != nil {
		return nil, err
	}
	r := &report{pair: pair}
	r.look()
	return r, nil
}

// look prepares for the next reading.
func (r *report) look() {
	for i, f := range r.pair.Files {
		r.files[i].path = f.Path
		r.lines[i] = file{aboutFile: &r.files[i], kind: f.Kind, pair: r.pair}
		r.lines[i].begin(f)
		r.pair.Look[i] = r.lines[i].look
	}
	r.pair.Readings = [2]*sharedfile.Reading{}
}

// Resolve is [config.Query.Resolve] with the findings.
func Resolve(q config.Query) (*config.Settings, error) {
	r, err := open(q.Sources)
	if err != nil {
		return nil, err
	}
	s, err := q.Decide(r.pair)
	if err != nil {
		return nil, err
	}
	r.settings(q, s, nil)
	s.Diagnostics = append(s.Diagnostics, r.list()...)
	return s, nil
}

// settings adds the findings about settings. passed has the values that Examine has passed over, and how a
// client goes on.
func (r *report) settings(q config.Query, s *config.Settings, passed map[config.Origin]string) {
	r.noEffect()
	r.variables(q.Profile != "")
	r.opened(config.SeverityWarning)
	at := sharedfile.Place{Profile: true, Name: s.Profile.Value}
	for i := range r.lines {
		r.lines[i].end(r.pair.Readings[i])
		r.section(i, at)
		r.lines[i].reportUnused()
	}
	r.values(q, s, passed)
}

// Files returns the findings about all profiles of both files, about the files themselves, and
// about variables that other AWS tools read differently. First come the findings about
// variables and paths, then those about the config file, then those about the credentials
// file, each by line. A bad value has the severity error if it would win, and so have a file that a
// variable or code names but that does not exist, a file that cannot be read, and one in UTF-16. If strict is
// true, each malformed line is a finding with the code parse-error and the severity error.
//
// The error is a [*config.UnreadableError] for an unreadable file that code named, and for any file
// above 4 MiB.
func Files(src config.Sources, strict bool) ([]config.Diagnostic, error) {
	r, err := open(src)
	if err != nil {
		return nil, err
	}
	r.valuesOfVariables()
	r.variables(false)
	r.opened(config.SeverityError)
	r.all()
	for _, p := range r.pair.Places() {
		if err := r.valuesOfFiles(src, p); err != nil {
			return nil, err
		}
	}
	r.noProfiles()
	all := r.list()
	for i := range all {
		d := &all[i]
		if d.Code == codeMalformedLine && strings.HasPrefix(d.Message, sharedfile.UTF16.String()) {
			d.Severity = config.SeverityError
		}
		if strict && d.Code == codeMalformedLine {
			d.Code, d.Severity, d.Message = codeParseError, config.SeverityError, strings.TrimSuffix(d.Message, skipped)
		}
	}
	return all, nil
}

// all reads and looks at all sections.
func (r *report) all() {
	r.pair.Read("", true)
	for i := range r.lines {
		r.lines[i].end(r.pair.Readings[i])
		for _, p := range r.pair.Places() {
			r.section(i, p)
		}
	}
}

// opened adds the findings about files that were named but do not exist, or that exist but cannot be read.
func (r *report) opened(severity config.Severity) {
	if r.pair.NoHome {
		r.first = append(r.first, config.Diagnostic{
			Code:    codeNoHome,
			Message: "no home directory: HOME is not set and the system knows none, so the shared files in it are not read",
		})
	}
	for _, f := range r.pair.Files {
		by := f.Variable
		if f.ByCode {
			by = "an option"
		}
		switch {
		case f.Err == nil:
		case !errors.Is(f.Err, fs.ErrNotExist):
			r.first = append(r.first, config.Diagnostic{
				Severity: severity, Code: codeUnreadableFile, File: f.Path,
				Message: "the " + f.Kind + " file counts as empty: it cannot be read: " + f.Err.Error(),
			})
			if errors.Is(f.Err, sharedfile.ErrDirectory) {
				d := differs(toolGo, "a directory in the place of a file is refused")
				d.File = f.Path
				r.first = append(r.first, d)
			}
		case by != "":
			r.first = append(r.first, config.Diagnostic{
				Severity: severity, Code: codeMissingFile, File: f.Path,
				Message: "the " + f.Kind + " file that " + by + " names does not exist",
			})
		}
	}
}

// noEffect adds the findings about variables that are set but change nothing.
func (r *report) noEffect() {
	add := func(name, why string) {
		if value, _ := r.pair.Lookup(name); !sharedfile.IsBlank(value) {
			r.first = append(r.first, config.Diagnostic{Code: codeNoEffect, Message: name + " is set and has no effect: " + why})
		}
	}
	if name, _ := r.pair.Lookup(sharedfile.EnvProfile); name != "" {
		add(sharedfile.EnvDefaultProfile, sharedfile.EnvProfile+" comes before it")
	}
	add("AWS_NEW_RETRIES_2026", "AWS removed it on 2026-11-10, when behavior v2.1 became the default; unset it, and ask for v2.0 in code where that is wanted")
	add("AWS_SDK_LOAD_CONFIG", "the config file is always read")
}
