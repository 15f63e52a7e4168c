// Package lint says what is odd, unknown or without effect in the settings and in the two files, and which other AWS tool
// reads it differently.
//
// Each of these files uses those before it: file.go looks at a file line by line as it is read, values.go at variables
// and values, and section.go at the lines of one section. findings.go is the sink of all, and lint.go what others call.
package lint

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/tools"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// Report is settings with the findings about them: first those about the environment, the paths of the files, and values
// of the environment and of code; then those about the config file, and those about the credentials file, each by line.
type Report struct {
	*config.Settings
	Diagnostics []Diagnostic
}

// report collects the findings of one call.
type report struct {
	first  []Diagnostic // About variables and paths, in the order in which they came.
	values []Diagnostic // About values in no file.
	files  [2]file
	pair   *sharedfile.Pair
	same   bool // The two files are one.
	strict bool // Malformed lines are errors.
	fixing bool // Cures are wanted.

	outside []string              // The settings of the one profile of which the value that counts is in no file.
	passed  map[string]Diagnostic // Where the last bad value of a setting is, and how Examine goes on. Otherwise it is nil.
	refusal error                 // The first value that the SDK refuses too.

	tools     *tools.Comparison
	variables file // What tools make of variables. Each is a line of its own, with its name in place of a path.
}

// open opens both files.
func (r *report) open(src config.Sources) error {
	r.pair = sharedfile.Open(sharedfile.Sources(src))
	for i := range r.pair.Files {
		f := &r.pair.Files[i]
		if f.Fatal() {
			return &config.UnreadableError{Kind: f.Kind, File: f.Path, Err: f.Err}
		}
		r.files[i] = file{report: r, File: f, found: map[string]*kept{}, ignored: ignoredIn(f.Raw)}
	}
	r.variables = file{report: r, File: &sharedfile.File{}, found: map[string]*kept{}}
	r.same = same(r.pair.Files[0].Path, r.pair.Files[1].Path, src.FS)
	return nil
}

// same reports whether two paths lead to one file, which may have two names or a link.
func same(a, b string, in fs.FS) bool {
	if on, ok := in.(sharedfile.Machine); ok {
		in = on.FS
	}
	if a == b || in != nil {
		return a == b
	}
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// look prepares to look at the files while they are read.
func (r *report) look() {
	for i := range r.files {
		r.pair.Look[i] = r.files[i].look
	}
}

// sections adds the findings about the sections that were kept.
func (r *report) sections() {
	for i := range r.files {
		x := &r.files[i]
		if bare := x.Sections[sharedfile.Place{Name: sharedfile.DefaultProfile}]; bare != nil {
			x.line = bare.Lines[0].Number
			x.warn("default-twice", "[default] does not count, as there is a [profile default]; its settings have no effect")
		}
		for p, s := range x.Sections {
			r.section(i, p, s)
		}
	}
}

// Resolve is [config.Query.Resolve] with the findings.
func Resolve(q config.Query) (*Report, error) { return new(report).resolve(q) }

func (r *report) resolve(q config.Query) (*Report, error) {
	s, err := q.Resolve()
	if bad, ok := errors.AsType[*config.ValueError](err); ok && r.passed != nil && (bad.Origin.File != "" || bad.Origin.Kind == environment) {
		// With values below those of code, all others are there to be looked at.
		q.Given = append(slices.Clip(q.Given), standIn(sharedfile.RetryMode, config.Mode("standard")), standIn(sharedfile.MaxAttempts, 1))
		s, err = q.Resolve()
	}
	if err == nil {
		err = r.open(q.Sources)
	}
	if err != nil {
		return nil, err
	}
	r.tools = tools.Open(q.Sources, r.pair)
	r.look()
	r.noEffect()
	r.opened(SeverityWarning)
	r.pair.Read(s.Profile.Value, false)
	s.RetryMode = decided(r, sharedfile.RetryMode, s.RetryMode, "standard", modeOf)
	s.MaxAttempts = decided(r, sharedfile.MaxAttempts, s.MaxAttempts, s.Behavior.Value.Defaults(q.Service).MaxAttempts, numberOf)
	r.sections()
	r.tools.Differences(false, r.passed != nil, r.differs)
	r.first = append(r.first, r.aboutVariables()...)
	if s.Profile.Origin.Kind == environment {
		r.missing(q.Sources, SeverityWarning)
	}
	return &Report{s, slices.Concat(r.first, r.values, r.files[0].list(), r.files[1].list())}, nil
}

// Examine is Resolve for a person who wants to know what happens: a bad value of a variable or file does not end
// it. The settings are then those of a client of package awssdk, which goes on where the SDK has read a value: with
// that value, but for 0 attempts as if it were not there, and without a limit for a negative number or one above
// 2^31-1. A finding of severity error says that Resolve refuses the value. If the SDK refuses it too, Examine returns
// both the settings, as if it were not there, and the [*config.ValueError]. Other errors come without settings.
//
// The findings include each line of both files, wherever it stands, for which another tool refuses the whole file.
func Examine(q config.Query) (*Report, error) {
	r := report{passed: map[string]Diagnostic{}}
	s, err := r.resolve(q)
	return s, cmp.Or(err, r.refusal)
}

// environment is the kind of the origin of a variable's value.
const environment = "environment"

// inPlace is the place of the values that stand in for bad ones.
const inPlace = "in place of a bad value"

func standIn[T config.Mode | int](key string, value T) config.Candidate {
	return config.Typed(config.Origin{Kind: "option", Name: inPlace}, key, value)
}

// decided adds the findings about the values that a setting was decided by and that are in no file. Where a value stands
// in for a bad one, it decides again as a client of awssdk does.
func decided[T any](r *report, key string, s config.Setting[T], builtIn T, of func(text string) T) config.Setting[T] {
	others, won := s.Overridden, s.Origin.Name != inPlace
	s.Overridden = []config.Candidate{}
	if won {
		r.judged(config.ValueError{Origin: s.Origin, Key: key, Raw: s.Raw}, true)
	} else {
		s.Value, s.Raw, s.Origin = builtIn, fmt.Sprint(builtIn), config.Origin{Kind: "default"}
	}
	for _, c := range others {
		v := config.ValueError{Origin: c.Origin, Key: key, Raw: c.Raw}
		if !c.Valid {
			v.Err = refused(key, c.Raw)
		}
		inFile, wins, instead := c.Origin.File != "", !won, c.Raw
		over := won || inFile && r.passed[key].File != "" // For the SDK the first value in a file hides the others.
		if !over && v.Err != nil && (inFile || c.Origin.Kind == environment) {
			instead, over = r.pass(v, inFile)
		}
		if over {
			s.Overridden = append(s.Overridden, c)
		} else {
			s.Value, s.Raw, s.Origin, won = of(instead), c.Raw, c.Origin, true
		}
		r.judged(v, wins)
	}
	if s.Origin.File == "" {
		r.outside = append(r.outside, key)
	}
	return s
}

// missing adds the finding about a profile that a variable names and no file has.
func (r *report) missing(src config.Sources, severity Severity) {
	for _, variable := range [...]string{sharedfile.EnvProfile, sharedfile.EnvDefaultProfile} {
		if src.Profile, _ = r.pair.Lookup(variable); src.Profile == "" {
			continue
		}
		_, err := config.Query{Sources: src}.Resolve()
		if missing, ok := errors.AsType[*config.ProfileNotFoundError](err); ok {
			missing.Origin = config.Origin{Kind: environment, Name: variable}
			r.first = append(r.first, Diagnostic{Severity: severity, Code: codeNotFound, Message: Text(missing)})
		}
		break
	}
}

// judged adds the finding about a value that is in no file.
func (r *report) judged(v config.ValueError, wins bool) {
	if d := r.judge(v, wins); v.Origin.File == "" && d.Code != "" {
		d.Message = v.Origin.String() + ": " + sharedfile.Quote(v.Raw) + ": " + d.Message
		r.values = append(r.values, d)
	}
}

// pass goes on after a bad value as a client of awssdk does.
func (r *report) pass(v config.ValueError, inFile bool) (instead string, over bool) {
	variable := ""
	if !inFile {
		variable = v.Origin.Name
	}
	instead, accepted := r.tools.OfSDK(v.Key, r.pair.Profile, variable)
	how := "a client of awssdk goes on with " + instead
	switch n, _ := strconv.ParseInt(instead, 10, 64); {
	case accepted && instead == "":
		how, over = "a client of awssdk goes on as if it were not there", true
	case !accepted:
		r.refusal = cmp.Or(r.refusal, error(&v))
		how, over = "so does "+tools.Go, true
	case n < 0 || n > math.MaxInt32:
		instead, how = strconv.Itoa(math.MaxInt32), "a client of awssdk goes on without a limit"
	}
	r.passed[v.Key] = Diagnostic{File: v.Origin.File, Line: v.Origin.Line, Message: "; Resolve and Load refuse it, and " + how}
	return instead, over
}

// Files returns the findings about all profiles of both files, about the files themselves, and about variables: first
// those about variables and paths, then those about the config file, then those about the credentials file, each by
// line. Errors are a bad value that would win, a named file or profile that does not exist, a file that cannot be read,
// and one in UTF-16. If strict is true, each malformed line is an error with the code parse-error.
//
// The error is a [*config.UnreadableError] for an unreadable file that code named, and for any file above 4 MiB.
func Files(src config.Sources, strict bool) ([]Diagnostic, error) {
	r := report{strict: strict}
	if err := r.open(src); err != nil {
		return nil, err
	}
	severity := SeverityError
	if r.pair.Files[0].ByCode || r.pair.Files[1].ByCode { // They may be files of other profiles.
		severity = SeverityWarning
	}
	r.opened(SeverityError)
	r.look()
	t := tools.Open(src, r.pair)
	r.sections()
	r.pair.Files[0].Sections, r.pair.Files[1].Sections = nil, nil // They are large.
	t.Differences(true, false, r.differs)
	for i, key := range [...]string{sharedfile.RetryMode, sharedfile.MaxAttempts} {
		name := variables()[i]
		if text, _ := r.pair.Lookup(name); !sharedfile.IsBlank(text) {
			r.judged(config.ValueError{Origin: config.Origin{Kind: environment, Name: name}, Key: key, Raw: text, Err: refused(key, text)}, true)
		}
	}
	r.first = append(r.first, r.aboutVariables()...)
	r.missing(src, severity)
	return slices.Concat(r.values, r.first, r.files[0].list(), r.files[1].list()), nil
}

// Text returns the text of an error without the name of the package config, which means nothing to a user of the command.
func Text(err error) string { return strings.TrimPrefix(err.Error(), "config: ") }

// Uses returns what each tool reads for the profile in use. The errors are those of [Files].
func Uses(src config.Sources) ([]tools.Use, error) {
	var r report
	if err := r.open(src); err != nil {
		return nil, err
	}
	return tools.Open(src, r.pair).Uses(), nil
}
