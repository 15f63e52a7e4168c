package config

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Severity says how bad a finding is.
type Severity string

// Severities.
const (
	// SeverityWarning is for what works, perhaps not as intended.
	SeverityWarning Severity = "warning"
	// SeverityError is for what makes a profile unusable, or is refused by strict reading.
	SeverityError Severity = "error"
)

// Codes of diagnostics. They are stable: programs may rely on them.
// docs/settings.md has an example and a remedy for each.
const (
	// CodeMalformedLine is a line that is skipped.
	CodeMalformedLine = "malformed-line"
	// CodeParseError is a malformed line in a strict [Lint].
	CodeParseError = "parse-error"
	// CodeReadDifferently is a line that another AWS tool refuses or misreads.
	CodeReadDifferently = "read-differently"
	// CodeShadowedKey is a setting of the config file that the credentials file overrides.
	CodeShadowedKey = "shadowed-key"
	// CodeMisspeltKey is a key that looks like a retry setting and is none.
	CodeMisspeltKey = "misspelt-key"
	// CodeIndentedKey is a retry setting on a line that continues the property above it.
	CodeIndentedKey = "indented-key"
	// CodeDuplicateKey is a key that the same profile has twice in one file.
	CodeDuplicateKey = "duplicate-key"
	// CodeDuplicateSection is a second section for the same profile in one file.
	CodeDuplicateSection = "duplicate-section"
	// CodeDefaultTwice is a [default] that does not count because of a [profile default].
	CodeDefaultTwice = "default-twice"
	// CodeUnusedProfile is a retry setting in a profile other than the one in use.
	CodeUnusedProfile = "unused-profile"
	// CodeIgnoredSection is a retry setting in a section that is no profile.
	CodeIgnoredSection = "ignored-section"
	// CodeInvalidValue is a value that is not accepted: a warning if it lost.
	CodeInvalidValue = "invalid-value"
	// CodeMappedMode is a retry mode of other tools that is read as one of the two.
	CodeMappedMode = "mapped-mode"
	// CodeNoEffect is a variable that is set and changes nothing.
	CodeNoEffect = "no-effect"
	// CodeMissingFile is a file that was named and does not exist.
	CodeMissingFile = "missing-file"
	// CodeUnreadableFile is a file that exists and cannot be read.
	CodeUnreadableFile = "unreadable-file"
	// CodeNoHome is a home directory that was needed and could not be found.
	CodeNoHome = "no-home-directory"
)

// Diagnostic is one finding. File and Line, from 1, are set where it stands in a
// file. The message is for people and holds no value but those of retry settings.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	// Tools names the tools that read the line differently, with
	// [CodeReadDifferently] only: aws-sdk-go-v2, botocore, aws-cli and js.
	Tools []string `json:"tools,omitempty"`
}

// String gives the finding as "file:line: severity: text [code]", without the place
// if there is none. A control character in a path or in the name of a section is not
// quoted.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File + ":")
		if d.Line > 0 {
			b.WriteString(strconv.Itoa(d.Line) + ":")
		}
		b.WriteString(" ")
	}
	b.WriteString(string(d.Severity) + ": " + d.Message + " [" + d.Code + "]")
	return b.String()
}

// maxFindings is how many findings of one code are kept for each file.
const maxFindings = 100

// findings gathers the diagnostics about one file. Of each code it keeps errors
// before warnings, and then those of the first lines. It counts the others.
type findings struct {
	path  string
	codes []kept
}

// kept is the findings of one code, one for each line.
type kept struct {
	code    string
	list    []Diagnostic
	dropped []uint64 // The lines of the others, a bit for each: a file may have millions.
	worst   Severity // Of the others.
}

func (f *findings) warn(code string, line int, message string) {
	f.add(Diagnostic{Severity: SeverityWarning, Code: code, Line: line, Message: message})
}

func (f *findings) add(d Diagnostic) {
	i := slices.IndexFunc(f.codes, func(k kept) bool { return k.code == d.Code })
	if i < 0 {
		i = len(f.codes)
		f.codes = append(f.codes, kept{code: d.Code, worst: SeverityWarning})
	}
	d.File = f.path
	k := &f.codes[i]
	k.list = append(k.list, d)
	if len(k.list) == 2*maxFindings {
		k.cut()
	}
}

// cut drops all but the findings that are kept.
func (k *kept) cut() {
	slices.SortStableFunc(k.list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), byLine(a, b)) // error, warning
	})
	k.list = merged(k.list)
	for last := len(k.list) - 1; last >= maxFindings; last-- {
		d := k.list[last]
		if d.Severity == SeverityError {
			k.worst = SeverityError
		}
		if n := d.Line/64 + 1; n > len(k.dropped) {
			k.dropped = append(k.dropped, make([]uint64, n-len(k.dropped))...)
		}
		k.dropped[d.Line/64] |= 1 << (d.Line % 64)
		k.list[last] = Diagnostic{}
		k.list = k.list[:last]
	}
}

// list gives the findings by line, those of one line by code, and behind them one
// for each code of which findings were dropped.
func (f *findings) list() []Diagnostic {
	var all, more []Diagnostic
	slices.SortFunc(f.codes, func(a, b kept) int { return cmp.Compare(a.code, b.code) })
	for i := range f.codes {
		k := &f.codes[i]
		k.cut()
		all = append(all, k.list...)
		n := 0
		for _, lines := range k.dropped {
			n += bits.OnesCount64(lines)
		}
		if n > 0 {
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

// finding is a diagnostic about a value: its place, the value, and the text.
func (c Candidate) finding(severity Severity, code, text string) Diagnostic {
	subject := c.Origin.String()
	if c.Origin.File != "" {
		subject = c.Origin.inFile() // File and line are said already.
	}
	return Diagnostic{
		Severity: severity, Code: code,
		Message: subject + ": " + quote(c.Raw) + ": " + text,
		File:    c.Origin.File, Line: c.Origin.Line,
	}
}

// invalidLoser is the finding about a value that is not accepted and lost anyway.
func (c Candidate) invalidLoser(err error) Diagnostic {
	return c.finding(SeverityWarning, CodeInvalidValue, err.Error()+"; another value wins, so it is ignored")
}
