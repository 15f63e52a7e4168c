package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/tools"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

// The codes that several places give. docs/settings.md says what each code means.
const (
	codeMalformedLine   = "malformed-line"
	codeReadDifferently = "read-differently"
	codeInvalidValue    = "invalid-value"
	codeIgnoredSection  = "ignored-section"
	codeNotFound        = "profile-not-found"
	codeMisspeltKey     = "misspelt-key"
	codeMappedMode      = "mapped-mode"
)

// maxFindings is how many findings of one code are kept for one file.
const maxFindings = 100

// finding is a Diagnostic, and what each tool makes of the line instead of a message.
type finding struct {
	Diagnostic
	differs []reading
}

// reading is what some tools make of a line.
type reading struct {
	text  string
	tools []string
}

// kept holds the findings of one code about one file, one for each line: errors before warnings, and then those with
// the smallest line.
type kept struct {
	code    string
	list    []finding
	dropped []int32 // The lines of the others. A line may be there several times.
}

// add keeps a finding about the line at hand. It joins the findings of one code about one line.
func (x *file) add(d Diagnostic) { x.keep(finding{Diagnostic: d}) }

func (x *file) keep(d finding) {
	if x.hides(d.Code) {
		return
	}
	d.File, d.Line = x.Path, int(x.line)
	k := x.findings(d.Code)
	at, there := slices.BinarySearchFunc(k.list, d, func(a, b finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), byLine(a.Diagnostic, b.Diagnostic))
	})
	switch {
	case !there:
		k.list = slices.Insert(k.list, at, d)
	case len(d.differs) > 0:
		k.list[at].join(d.differs[0])
	case !strings.Contains(k.list[at].Message, d.Message):
		k.list[at].Message += "; " + d.Message
	}
	if len(k.list) > maxFindings {
		k.dropped = append(k.dropped, int32(k.list[maxFindings].Line))
		k.list = k.list[:maxFindings]
	}
}

func (x *file) findings(code string) *kept {
	if x.last == nil || x.last.code != code { // Of a million findings, most have the code of the one before.
		if x.last = x.found[code]; x.last == nil {
			x.last = &kept{code: code}
			x.found[code] = x.last
		}
	}
	return x.last
}

// full reports whether no finding about the line at hand would be kept, and counts it then. It saves the message of most
// findings of a large file.
func (x *file) full(code string, severity Severity) bool {
	k := x.findings(code)
	if len(k.list) < maxFindings {
		return false
	}
	if last := &k.list[maxFindings-1]; last.Severity < severity || last.Severity == severity && x.line <= int32(last.Line) || x.hides(code) {
		return false
	}
	k.dropped = append(k.dropped, x.line)
	return true
}

var ignoring = regexp.MustCompile(`[#;].*?awsretry:ignore\b[ \t]*([a-z-]*)`)

// ignoredIn returns the codes that the comments in a text hide, by line.
func ignoredIn(text string) map[int32]string {
	if !strings.Contains(text, "awsretry:ignore") {
		return nil
	}
	codes := map[int32]string{}
	for n, line := range strings.Split(text, "\n") {
		found := ignoring.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		codes[int32(n+1)] = found[1]
		if strings.ContainsAny(sharedfile.Trim(line)[:1], "#;") { // A comment alone is for the next line.
			codes[int32(n+2)] = found[1]
		}
	}
	return codes
}

// hides reports whether a comment hides a finding about the line at hand.
func (x *file) hides(code string) bool {
	hidden, ok := x.ignored[x.line]
	return ok && (hidden == "" || hidden == code)
}

// join adds what a tool makes of the line. The tools come one after the other.
func (d *finding) join(r reading) {
	if !slices.Contains(d.Tools, r.tools[0]) {
		d.Tools = append(d.Tools, r.tools[0])
	}
	for i := range d.differs {
		if same := &d.differs[i]; same.text == r.text {
			if !slices.Contains(same.tools, r.tools[0]) {
				same.tools = append(same.tools, r.tools[0])
			}
			return
		}
	}
	d.differs = append(d.differs, r)
}

// whole returns the finding with its message.
func (d finding) whole() Diagnostic {
	var texts []string
	for _, r := range d.differs {
		texts = append(texts, strings.Join(r.tools, ", ")+": "+r.text)
	}
	if len(texts) > 0 {
		d.Message = strings.Join(texts, "; ")
	}
	return d.Diagnostic
}

func (x *file) warn(code, format string, args ...any) {
	if x.full(code, SeverityWarning) {
		return
	}
	x.add(Diagnostic{Code: code, Message: fmt.Sprintf(format, args...)})
}

// differs adds what a tool makes of a line or of a variable.
func (r *report) differs(d tools.Difference) {
	x := &r.files[d.File]
	if x.line = int32(d.Line); d.Variable != "" {
		x = &r.variables
		x.Path, x.line = d.Variable, int32(slices.Index(variables(), d.Variable))
	}
	x.keep(finding{Diagnostic{Code: codeReadDifferently, Tools: []string{d.Tool}}, []reading{{d.Text, []string{d.Tool}}}})
}

// aboutVariables returns the findings about variables, of which each has the name and the value in its message.
func (r *report) aboutVariables() []Diagnostic {
	all := r.variables.list()
	for i := range all {
		d := &all[i]
		value, _ := r.pair.Lookup(d.File)
		d.Message = d.File + ": " + sharedfile.Quote(value) + ": " + d.Message
		d.File, d.Line = "", 0
	}
	return all
}

// list returns the findings by line, and at the end for each code how many were dropped.
func (x *file) list() (all []Diagnostic) {
	var more []Diagnostic
	for code, k := range x.found {
		for _, d := range k.list {
			all = append(all, d.whole())
		}
		slices.Sort(k.dropped)
		if n := len(slices.Compact(k.dropped)); n > 0 {
			more = append(more, Diagnostic{
				Severity: k.list[maxFindings-1].Severity, Code: code, File: x.Path,
				Message: "and " + strconv.Itoa(n) + " more findings of this kind",
			})
		}
	}
	slices.SortFunc(all, byLine)
	slices.SortFunc(more, byLine)
	x.columns(all)
	return append(all, more...)
}

// columns adds the columns to findings in the order of their lines.
func (x *file) columns(found []Diagnostic) {
	number := 0
	for text := range strings.Lines(x.Data) {
		number++
		for ; len(found) > 0 && found[0].Line == number; found = found[1:] {
			l := sharedfile.Line{Text: sharedfile.Trim(text), Kind: sharedfile.PropertyLine}
			at := strings.Index(text, l.Text)
			if found[0].Code == codeInvalidValue || found[0].Code == codeMappedMode {
				p := l.Split()
				at += strings.IndexByte(l.Text, p.Sign) + 1
				at += strings.Index(text[at:], p.Value)
			}
			found[0].Column = 1 + utf8.RuneCountInString(text[:at])
		}
		if len(found) == 0 {
			break
		}
	}
}

func byLine(a, b Diagnostic) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code))
}
