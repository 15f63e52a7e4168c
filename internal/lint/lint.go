// Package lint looks at the settings and at the two files that package config has read, and says what is odd,
// unknown or without effect, and which other AWS tool reads it differently.
//
// Each of these files uses those before it: file.go looks at a file line by line as it is read, values.go at variables
// and values, and section.go at the lines of one section. findings.go is the sink of all, and lint.go what others call.
package lint

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// report collects the findings of one call.
type report struct {
	first  []config.Diagnostic // About variables and paths, in the order in which they came.
	values []config.Diagnostic // About values in no file.
	files  [2]file
	pair   *sharedfile.Pair

	outside  []string                     // The settings of the one profile of which the value that counts is in no file.
	passed   map[string]config.Diagnostic // Where the last bad value of a setting is, and how Examine goes on. Otherwise it is nil.
	refusal  error                        // The first value that the SDK refuses too.
	refusals bool                         // Only findings about lines for which a tool refuses a whole file are kept.
}

// open opens both files and prepares to look at them while they are read.
func (r *report) open(src config.Sources) (err error) {
	if r.pair, err = src.Open(); err != nil {
		return err
	}
	for i := range r.pair.Files {
		r.files[i] = file{report: r, File: &r.pair.Files[i], found: map[string]kept{}}
		r.pair.Look[i] = r.files[i].look
	}
	return nil
}

// sections adds the findings about the sections that were kept.
func (r *report) sections() {
	for i := range r.files {
		if !r.refusals {
			r.files[i].end()
		}
		for p, s := range r.files[i].Sections {
			r.section(i, p, s)
		}
	}
}

// Resolve is [config.Query.Resolve] with the findings.
func Resolve(q config.Query) (*config.Settings, error) { return new(report).resolve(q) }

func (r *report) resolve(q config.Query) (*config.Settings, error) {
	if err := r.open(q.Sources); err != nil {
		return nil, err
	}
	r.noEffect()
	r.variables(q.Profile != "")
	r.opened(config.SeverityWarning)
	s, err := q.Decide(r.pair, r.decided)
	if err != nil {
		return nil, err
	}
	r.sections()
	if r.passed != nil {
		r.refusals = true
		r.pair.Read("", true)
		r.sections()
	}
	s.Diagnostics = append(s.Diagnostics, slices.Concat(r.first, r.values, r.files[0].list(), r.files[1].list())...)
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
	r := report{passed: map[string]config.Diagnostic{}}
	s, err := r.resolve(q)
	return s, cmp.Or(err, r.refusal)
}

// decided is the look of [config.Query.Decide]. It adds the finding about a value that is in no file.
func (r *report) decided(v config.ValueError, wins bool) (instead string, over bool) {
	inFile := v.Origin.File != ""
	instead, over = v.Raw, inFile && r.passed[v.Key].File != "" // For the SDK the first value in a file hides the others.
	if r.passed != nil && wins && !over && v.Err != nil && (inFile || v.Origin.Kind == "environment") {
		instead, over = r.pass(v, inFile)
	}
	if !inFile && wins && !over && r.pair.Profile != "" {
		r.outside = append(r.outside, v.Key)
	}
	if d := r.judge(v, wins); !inFile && d.Code != "" {
		v.Err = errors.New(d.Message)
		d.Message = strings.TrimPrefix(v.Error(), "config: ")
		r.values = append(r.values, d)
	}
	return instead, over
}

// pass goes on after a bad value as a client of awssdk does.
func (r *report) pass(v config.ValueError, inFile bool) (instead string, over bool) {
	given, lost := sharedfile.Setting{Key: v.Key, Text: v.Raw}, false
	for _, x := range r.pair.Files { // The stronger file comes last.
		if s := x.Sections[sharedfile.Place{Profile: true, Name: r.pair.Profile}]; inFile && s != nil {
			for _, other := range s.Settings() {
				if other.Key == v.Key {
					given, lost = other, x.BOM && s.Last == 1
				}
			}
		}
	}
	instead, err := inSDK(given)
	how := "a client of awssdk goes on with " + instead
	switch n, notNumber := strconv.ParseInt(instead, 10, 64); {
	case lost, err == nil && notNumber == nil && n == 0:
		how, over = "a client of awssdk goes on as if it were not there", true
	case err != nil:
		r.refusal = cmp.Or(r.refusal, error(&v))
		how, over = "so does "+toolGo, true
	case n < 0 || n > math.MaxInt32:
		instead, how = strconv.Itoa(math.MaxInt32), "a client of awssdk goes on without a limit"
	}
	r.passed[v.Key] = config.Diagnostic{File: v.Origin.File, Line: v.Origin.Line, Message: "; Resolve and Load refuse it, and " + how}
	return instead, over
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
	r.variables(false)
	r.opened(config.SeverityError)
	r.pair.Read("", true)
	_, err := config.Query{Sources: src}.Decide(r.pair, r.decided)
	if missing, ok := errors.AsType[*config.ProfileNotFoundError](err); ok { // Of a variable.
		d := config.Diagnostic{Code: "profile-not-found", Message: strings.TrimPrefix(missing.Error(), "config: ")}
		if !r.pair.Files[0].ByCode && !r.pair.Files[1].ByCode { // Otherwise they may be files of other profiles.
			d.Severity = config.SeverityError
		}
		r.first = append(r.first, d)
	}
	r.sections()
	all := slices.Concat(r.values, r.first, r.files[0].list(), r.files[1].list())
	for i := range all {
		if d := &all[i]; strict && d.Code == codeMalformedLine {
			d.Severity, d.Code, d.Message = config.SeverityError, "parse-error", strings.TrimSuffix(d.Message, skipped)
		}
	}
	return all, nil
}
