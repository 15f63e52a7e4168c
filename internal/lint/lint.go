// Package lint looks at the settings and at the two files that package config has read, and says what is odd,
// unknown or without effect, and which other AWS tool reads it differently.
//
// Each of these files uses those before it: tools.go has what is known of other tools, findings.go is the sink,
// file.go looks at a file line by line as it is read, values.go at values, section.go at the lines of one section, and
// variables.go at variables. lint.go is what other packages call.
package lint

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// report collects the findings of one call.
type report struct {
	first []config.Diagnostic // About the environment, paths and code, in the order in which they came.
	files [2]file
	pair  *sharedfile.Pair

	settings *config.Settings         // Of one profile. It is nil if all profiles are looked at.
	passed   map[config.Origin]string // The values that Examine has passed over, and how it goes on.
	refusals bool                     // Only findings about lines for which a tool refuses a whole file are kept.
}

// open opens both files and prepares to look at them.
func (r *report) open(src config.Sources) (err error) {
	if r.pair, err = src.Open(); err == nil {
		r.look()
	}
	return err
}

// look prepares to look at both files while they are read.
func (r *report) look() {
	for i, f := range r.pair.Files {
		x := &r.files[i]
		*x = file{report: r, File: f, found: x.found}
		if x.begin(); f.Data != "" { // Else there is no line.
			r.pair.Look[i] = x.look
		}
	}
}

// sections adds the findings about the sections that were kept.
func (r *report) sections() {
	for i := range r.files {
		r.files[i].end(r.pair.Readings[i].Sections)
		for p, s := range r.pair.Readings[i].Sections {
			r.section(i, p, s)
		}
	}
}

// list returns all findings.
func (r *report) list() []config.Diagnostic {
	return append(append(r.first, r.files[0].list()...), r.files[1].list()...)
}

// Resolve is [config.Query.Resolve] with the findings.
func Resolve(q config.Query) (*config.Settings, error) { return new(report).resolve(q, nil) }

// resolve adds the findings about settings. instead is that of [config.Query.Decide].
func (r *report) resolve(q config.Query, instead func(key string, c config.Candidate) string) (*config.Settings, error) {
	if err := r.open(q.Sources); err != nil {
		return nil, err
	}
	s, err := q.Decide(r.pair, instead)
	if err != nil {
		return nil, err
	}
	r.settings, r.first = s, s.Diagnostics
	r.noEffect()
	r.variables(q.Profile != "")
	r.opened(config.SeverityWarning)
	given(r, sharedfile.RetryMode, s.RetryMode)
	given(r, sharedfile.MaxAttempts, s.MaxAttempts)
	given(r, "max_backoff", s.MaxBackoff)
	given(r, "min_delay", s.MinDelay)
	given(r, "max_elapsed", s.MaxElapsed)
	r.sections()
	if instead != nil {
		r.refusals = true
		r.look()
		r.pair.Read("", true)
		r.sections()
	}
	s.Diagnostics = r.list()
	return s, nil
}

// Examine is Resolve for a person who wants to know what happens: a bad value of a variable or file does not end
// it. The settings are then those of a client of package awssdk, which goes on where the SDK has read a value: with
// that value, but for 0 attempts as if it were not there, and without a limit for a negative number or one above
// 2^31-1. A finding of severity error says that Resolve refuses the value. If the SDK refuses it too, Examine returns
// both the settings, as if it were not there, and the [*config.ValueError]. Other errors come without settings.
//
// The findings include each line of both files, wherever it stands, for which another tool refuses the whole file.
func Examine(q config.Query) (*config.Settings, error) {
	r := report{passed: map[config.Origin]string{}}
	var refusal error
	hidden := map[string]bool{} // For the SDK the first value in a file hides the others.
	s, err := r.resolve(q, func(key string, c config.Candidate) string {
		why, inFile := refused(key, c.Raw), c.Origin.File != ""
		switch {
		case inFile && hidden[key]:
			return ""
		case why == nil:
			return c.Raw
		}
		hidden[key] = hidden[key] || inFile
		text, err := inSDK(key, r.inSDK(c), inFile)
		how := "a client of awssdk goes on with " + text
		switch n, _ := strconv.ParseInt(text, 10, 64); {
		case err != nil:
			refusal = cmp.Or(refusal, error(&config.ValueError{Origin: c.Origin, Key: key, Raw: c.Raw, Err: why}))
			text, how = "", "so does "+toolGo
		case key == sharedfile.RetryMode:
		case n == 0:
			text, how = "", "a client of awssdk goes on as if it were not there"
		case n < 0 || n > math.MaxInt32:
			text, how = strconv.Itoa(math.MaxInt32), "a client of awssdk goes on without a limit"
		}
		r.passed[spotOf(key, c.Origin)] = "; Resolve and Load refuse it, and " + how
		return text
	})
	return s, cmp.Or(err, refusal)
}

// inSDK returns the text of a value as aws-sdk-go-v2 has it.
func (r *report) inSDK(c config.Candidate) string {
	for _, x := range r.pair.Readings {
		s := x.Sections[sharedfile.Place{Profile: true, Name: c.Origin.Profile}]
		if s == nil || x.Path != c.Origin.File {
			continue
		}
		for _, v := range s.Settings() {
			if v.Line == c.Origin.Line {
				return textInSDK(v)
			}
		}
	}
	return c.Raw
}

// Files returns the findings about all profiles of both files, about the files themselves, and about variables: first
// those about variables and paths, then those about the config file, then those about the credentials file, each by
// line. Errors are a bad value that would win, a named file or profile that does not exist, a file that cannot be read,
// and one in UTF-16. If strict is true, each malformed line is an error with the code parse-error.
//
// The error is a [*config.UnreadableError] for an unreadable file that code named, and for any file above 4 MiB.
func Files(src config.Sources, strict bool) ([]config.Diagnostic, error) {
	var r report
	if err := r.open(src); err != nil {
		return nil, err
	}
	for _, key := range [...]string{sharedfile.RetryMode, sharedfile.MaxAttempts} {
		if value, _ := r.pair.Lookup(variable(key)); !sharedfile.IsBlank(value) {
			origin := config.Origin{Kind: "environment", Name: variable(key)}
			r.value(key, config.Candidate{Raw: value, Valid: refused(key, value) == nil, Origin: origin}, true)
		}
	}
	r.variables(false)
	r.opened(config.SeverityError)
	r.pair.Read("", true)
	r.profile(src)
	r.sections()
	all := r.list()
	for i := range all {
		d := &all[i]
		if d.Code != codeMalformedLine {
			continue
		}
		if strict || strings.HasPrefix(d.Message, sharedfile.UTF16.String()) {
			d.Severity = config.SeverityError
		}
		if strict {
			d.Code, d.Message = "parse-error", strings.TrimSuffix(d.Message, skipped)
		}
	}
	return all, nil
}

// opened adds the findings about files that were named but do not exist, or that exist but cannot be read.
func (r *report) opened(severity config.Severity) {
	if r.pair.NoHome {
		r.say("no-home-directory", "no home directory: HOME is not set and the system knows none, so the shared files in it are not read")
	}
	for i, f := range r.pair.Files {
		by := f.Variable
		if f.ByCode {
			by = "an option"
		}
		d := config.Diagnostic{Severity: severity, File: f.Path}
		switch {
		case f.Err == nil, errors.Is(f.Err, fs.ErrNotExist) && by == "":
			continue
		case errors.Is(f.Err, fs.ErrNotExist):
			d.Code, d.Message = "missing-file", "the "+f.Kind+" file that "+by+" names does not exist"
		default:
			d.Code, d.Message = "unreadable-file", "the "+f.Kind+" file counts as empty: it cannot be read: "+f.Err.Error()
		}
		r.first = append(r.first, d)
		r.files[i].line = 0 // The file as a whole.
		r.files[i].noteIf(errors.Is(f.Err, sharedfile.ErrDirectory), toolGo, "a directory in the place of a file is refused")
	}
}

// profile adds the finding about a profile that a variable names but neither file has. It is an error unless code has
// named a file, which may be one of other profiles.
func (r *report) profile(src config.Sources) {
	_, err := config.Query{Sources: src}.Decide(r.pair, nil)
	if missing, ok := errors.AsType[*config.ProfileNotFoundError](err); ok {
		d := config.Diagnostic{Code: "profile-not-found", Message: strings.TrimPrefix(missing.Error(), "config: ")}
		if !r.pair.Files[0].ByCode && !r.pair.Files[1].ByCode {
			d.Severity = config.SeverityError
		}
		r.first = append(r.first, d)
	}
}

// noEffect adds the findings about variables that are set but change nothing.
func (r *report) noEffect() {
	add := func(name, why string) {
		if value, _ := r.pair.Lookup(name); !sharedfile.IsBlank(value) {
			r.say(codeNoEffect, name+" is set and has no effect: "+why)
		}
	}
	if name, _ := r.pair.Lookup(sharedfile.EnvProfile); name != "" {
		add(sharedfile.EnvDefaultProfile, sharedfile.EnvProfile+" comes before it")
	}
	add("AWS_NEW_RETRIES_2026", "AWS removed it on 2026-11-10, when behavior v2.1 became the default; unset it, and ask for v2.0 in code where that is wanted")
	add("AWS_SDK_LOAD_CONFIG", "the config file is always read")
}

func (r *report) say(code, message string) {
	r.first = append(r.first, config.Diagnostic{Code: code, Message: message})
}
