package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The tools that a finding names. They were measured in November 2026: aws-sdk-go-v2 config
// 1.33.16, botocore 1.43.11, AWS CLI 2.9.19, and @smithy/shared-ini-file-loader 4.7.2 of the
// JavaScript SDK. docs/settings.md says how each of them reads which line.
const (
	toolGo   = "aws-sdk-go-v2"
	toolBoto = "botocore"
	toolCLI  = "aws-cli"
	toolJS   = "js"
	python   = toolBoto + ", " + toolCLI // They have the same parser.
	allTools = toolGo + ", " + python + ", " + toolJS
)

// The texts of several findings.
const (
	skipped       = "; the line is skipped"
	unreadable    = " makes the whole file unreadable"
	crash         = "a value of one quote ends in a crash"
	headerInValue = "a header that is indented deeper than the property above belongs to its value"
	aboveTakes    = "the header does not count, so its lines belong to the section above"
	endsAtCR      = "the line ends at the CR within it"
	forAll        = "DEFAULT" // The name of a section whose keys botocore adds to every profile.
	bomIsBlank    = "a byte-order mark is whitespace"
)

// The codes that several places give. docs/settings.md says what each code means.
const (
	codeMalformedLine   = "malformed-line"
	codeReadDifferently = "read-differently"
	codeInvalidValue    = "invalid-value"
	codeIgnoredSection  = "ignored-section"
	codeUnusedProfile   = "unused-profile"
	codeNotFound        = "profile-not-found"
)

// maxFindings is how many findings of one code are kept for one file.
const maxFindings = 100

// kept holds the findings of one code about one file, one for each line: errors before warnings, and then those with
// the smallest line.
type kept struct {
	list    []Diagnostic
	dropped []int32 // The lines of the others. A line may be there several times.
}

// add keeps a finding about the line at hand. It joins the findings of one code about one line.
func (x *file) add(d Diagnostic) {
	if x.refusals && (d.Code != codeReadDifferently || !strings.HasSuffix(d.Message, unreadable) && !strings.HasSuffix(d.Message, crash)) {
		return
	}
	d.File, d.Line = x.Path, int(x.line)
	k := x.found[d.Code]
	at, there := slices.BinarySearchFunc(k.list, d, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), byLine(a, b))
	})
	if !there {
		k.list = slices.Insert(k.list, at, d)
	} else if same := &k.list[at]; !strings.Contains(same.Message, d.Message) {
		same.Message += "; " + d.Message
		same.Tools = slices.DeleteFunc(strings.Split(allTools, ", "), func(name string) bool {
			return !slices.Contains(same.Tools, name) && !slices.Contains(d.Tools, name)
		})
	}
	if len(k.list) > maxFindings {
		k.dropped = append(k.dropped, int32(k.list[maxFindings].Line))
		k.list = k.list[:maxFindings]
	}
	x.found[d.Code] = k
}

func (x *file) warn(code, format string, args ...any) {
	x.add(Diagnostic{Code: code, Message: fmt.Sprintf(format, args...)})
}

// noteIf adds a finding about a line that makes other tools refuse it, miss the profile, find another profile, or
// read other retry settings.
func (x *file) noteIf(differently bool, names, how string) {
	if differently {
		x.add(Diagnostic{Code: codeReadDifferently, Message: names + ": " + how, Tools: strings.Split(names, ", ")})
	}
}

// list returns the findings by line, and at the end for each code how many were dropped.
func (x *file) list() (all []Diagnostic) {
	var more []Diagnostic
	for code, k := range x.found {
		all = append(all, k.list...)
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
	return append(all, more...)
}

func byLine(a, b Diagnostic) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code))
}
