package config

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Severity says how bad a finding is: the greater, the worse. As text, and in JSON, it is "warning" or "error".
type Severity uint8

// The severities. An error makes a profile unusable, or is what strict reading refuses.
const (
	SeverityWarning Severity = iota
	SeverityError
)

func (s Severity) String() string {
	if s == SeverityError {
		return "error"
	}
	return "warning"
}

// MarshalText returns the severity as text.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes, and refuses any other text.
func (s *Severity) UnmarshalText(text []byte) error {
	for _, known := range [...]Severity{SeverityWarning, SeverityError} {
		if string(text) == known.String() {
			*s = known
			return nil
		}
	}
	return errors.New(prefix + "no severity: " + quote(string(text)))
}

// Codes of diagnostics. The comment of Diagnostic.Code says what each one means.
const (
	codeMalformedLine    = "malformed-line"
	codeParseError       = "parse-error"
	codeReadDifferently  = "read-differently"
	codeShadowedKey      = "shadowed-key"
	codeMisspeltKey      = "misspelt-key"
	codeIndentedKey      = "indented-key"
	codeDuplicateKey     = "duplicate-key"
	codeDuplicateSection = "duplicate-section"
	codeDefaultTwice     = "default-twice"
	codeUnusedProfile    = "unused-profile"
	codeIgnoredSection   = "ignored-section"
	codeInvalidValue     = "invalid-value"
	codeMappedMode       = "mapped-mode"
	codeNoEffect         = "no-effect"
	codeMissingFile      = "missing-file"
	codeUnreadableFile   = "unreadable-file"
	codeNoHome           = "no-home-directory"
)

// Diagnostic is one finding about settings or files. Its JSON form is stable.
type Diagnostic struct {
	// Severity is how bad the finding is. [Query.Resolve] has warnings only.
	Severity Severity `json:"severity"`

	// Code names the kind of finding. Codes stay the same in later versions, so programs
	// may compare them. docs/settings.md in the repository has an example and a remedy for
	// each:
	//
	//   - malformed-line: the line is skipped, or the whole file if it is UTF-16;
	//   - parse-error: a malformed line in strict [Sources.Lint];
	//   - read-differently: another AWS tool refuses the line or variable, or reads it
	//     differently;
	//   - shadowed-key: the credentials file overrides a setting of the config file;
	//   - misspelt-key: a key that looks like a retry setting but is none;
	//   - indented-key: a retry setting on a line that continues the property above it;
	//   - duplicate-key: a key that a profile has twice in one file;
	//   - duplicate-section: a second section for the same profile in one file;
	//   - default-twice: a [default] that does not count, because there is a [profile
	//     default];
	//   - unused-profile: a retry setting in a profile other than the one in use;
	//   - ignored-section: a section that is no profile: one with a retry setting, and one of the config
	//     file that lacks the word profile;
	//   - invalid-value: a value that is not accepted: an error if it would win, and a
	//     warning if another value wins;
	//   - mapped-mode: a retry mode of other tools that is read as standard or adaptive;
	//   - no-effect: a variable that is set but changes nothing, or a retry mode in which
	//     fields that code has set have no effect;
	//   - missing-file: a file that code or a variable named but that does not exist;
	//   - unreadable-file: a file that exists but cannot be read;
	//   - no-home-directory: the home directory was needed but is not known.
	Code string `json:"code"`

	// Message is for people. Of the values in the files it shows only those of retry
	// settings.
	Message string `json:"message"`
	// File is the path of the file that the finding is about, or empty.
	File string `json:"file,omitempty"`
	// Line is the number of the line in File, from 1, or 0 for no line.
	Line int `json:"line,omitempty"`
	// Tools names the tools that read the line or variable differently: aws-sdk-go-v2, botocore,
	// aws-cli and js. Only findings with the code read-differently have it.
	Tools []string `json:"tools,omitempty"`
}

// String returns "file:line: severity: message [code]", without file and line if they are not
// set. A path that begins or ends with whitespace is in quotes. Control characters in the path
// and in the message are not escaped.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(shownPath(d.File) + ":")
		if d.Line > 0 {
			b.WriteString(strconv.Itoa(d.Line) + ":")
		}
		b.WriteString(" ")
	}
	b.WriteString(d.Severity.String() + ": " + d.Message + " [" + d.Code + "]")
	return b.String()
}

// maxFindings is how many findings of one code are kept for one file.
const maxFindings = 100

// findings is the sink of one call: it collects, bounds and sorts the diagnostics.
type findings struct {
	first []Diagnostic // About the environment, paths and code, in the order in which they came.
	files [2]aboutFile
}

// list returns all findings. Those about a file are in the order of their lines.
func (f *findings) list() []Diagnostic {
	return append(append(f.first, f.files[0].list()...), f.files[1].list()...)
}

// aboutFile collects the diagnostics about one file. Of each code it keeps at most maxFindings:
// errors before warnings, and then those with the smallest line. It counts the others.
type aboutFile struct {
	path  string
	codes []kept

	refusals bool // Only findings about lines for which a tool refuses the whole file are kept.
}

// kept holds the findings of one code, one for each line.
type kept struct {
	code    string
	list    []Diagnostic
	dropped []int32  // The lines of the others. A line may be there several times.
	worst   Severity // Of the others.
}

func (f *aboutFile) warn(code string, line int32, message string) {
	f.add(Diagnostic{Code: code, Line: int(line), Message: message})
}

func (f *aboutFile) add(d Diagnostic) {
	if f.refusals && (d.Code != codeReadDifferently || !strings.HasSuffix(d.Message, unreadable) && !strings.HasSuffix(d.Message, crash)) {
		return
	}
	i := slices.IndexFunc(f.codes, func(k kept) bool { return k.code == d.Code })
	if i < 0 {
		i = len(f.codes)
		f.codes = append(f.codes, kept{code: d.Code})
	}
	d.File = f.path
	k := &f.codes[i]
	k.list = append(k.list, d)
	if len(k.list) == 2*maxFindings {
		k.cut()
	}
}

// cut drops the findings above the limit.
func (k *kept) cut() {
	slices.SortStableFunc(k.list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), byLine(a, b))
	})
	k.list = merged(k.list)
	for _, d := range k.list[min(len(k.list), maxFindings):] {
		k.worst = max(k.worst, d.Severity)
		k.dropped = append(k.dropped, int32(d.Line))
	}
	k.list = k.list[:min(len(k.list), maxFindings)]
}

// list returns the findings by line, those of one line by code. The last findings, one for
// each code, say how many findings were dropped.
func (f *aboutFile) list() []Diagnostic {
	var all, more []Diagnostic
	slices.SortFunc(f.codes, func(a, b kept) int { return cmp.Compare(a.code, b.code) })
	for _, k := range f.codes {
		k.cut()
		all = append(all, k.list...)
		slices.Sort(k.dropped)
		if n := len(slices.Compact(k.dropped)); n > 0 {
			more = append(more, Diagnostic{
				Severity: k.worst, Code: k.code, File: f.path,
				Message: "and " + strconv.Itoa(n) + " more findings of this kind",
			})
		}
	}
	slices.SortStableFunc(all, byLine)
	return append(all, more...)
}

func byLine(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) }

// merged joins the findings about one line into one.
func merged(list []Diagnostic) []Diagnostic {
	kept := list[:0]
	for _, d := range list {
		n := len(kept)
		if n == 0 || kept[n-1].Line != d.Line {
			kept = append(kept, d)
			continue
		}
		last := &kept[n-1]
		if strings.Contains(last.Message, d.Message) {
			continue
		}
		last.Message += "; " + d.Message
		last.Tools = slices.DeleteFunc(strings.Split(allTools, ", "), func(name string) bool {
			return !slices.Contains(last.Tools, name) && !slices.Contains(d.Tools, name)
		})
	}
	return kept
}

// finding returns a diagnostic about a value of a setting, with a message of its place, the
// value and text.
func (c Candidate) finding(setting string, severity Severity, code, text string) Diagnostic {
	subject := c.Origin.of(setting)
	if c.Origin.File != "" {
		subject = c.Origin.inFile() // File and Line have the rest.
	}
	return Diagnostic{
		Severity: severity, Code: code,
		Message: subject + ": " + quote(c.Raw) + ": " + text,
		File:    c.Origin.File, Line: c.Origin.Line,
	}
}

// anotherWins ends the finding about a bad value that has lost.
const anotherWins = "; another value wins, so it is ignored"
