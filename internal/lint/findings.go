package lint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
)

// The codes that several places give. docs/settings.md says what each code means.
const (
	codeMalformedLine   = "malformed-line"
	codeReadDifferently = "read-differently"
	codeInvalidValue    = "invalid-value"
	codeNoEffect        = "no-effect"
)

// maxFindings is how many findings of one code are kept for one file.
const maxFindings = 100

// kept holds the findings of one code about one file, one for each line: errors before warnings, and then those with
// the smallest line.
type kept struct {
	list    []config.Diagnostic
	dropped []int32 // The lines of the others. A line may be there several times.
}

// add keeps a finding about the line at hand.
func (x *file) add(d config.Diagnostic) {
	if x.refusals && (d.Code != codeReadDifferently || !strings.HasSuffix(d.Message, unreadable) && !strings.HasSuffix(d.Message, crash)) {
		return
	}
	if x.found == nil {
		x.found = map[string]kept{}
	}
	d.File, d.Line = x.Path, int(x.line)
	k := x.found[d.Code]
	if k.list = append(k.list, d); len(k.list) == 2*maxFindings {
		k.cut()
	}
	x.found[d.Code] = k
}

func (x *file) warn(code, message string) {
	x.add(config.Diagnostic{Code: code, Message: message})
}

// noteIf adds a finding about a line that makes other tools refuse it, miss the profile, find another profile, or
// read other retry settings.
func (x *file) noteIf(differently bool, names, how string) {
	if differently && how != "" {
		x.add(config.Diagnostic{Code: codeReadDifferently, Message: names + ": " + how, Tools: strings.Split(names, ", ")})
	}
}

// list returns the findings by line, and at the end for each code how many were dropped.
func (x *file) list() (all []config.Diagnostic) {
	var more []config.Diagnostic
	for code, k := range x.found {
		k.cut()
		all = append(all, k.list...)
		slices.Sort(k.dropped)
		if n := len(slices.Compact(k.dropped)); n > 0 {
			more = append(more, config.Diagnostic{
				Severity: k.list[maxFindings-1].Severity, Code: code, File: x.Path,
				Message: "and " + strconv.Itoa(n) + " more findings of this kind",
			})
		}
	}
	slices.SortFunc(all, byLine)
	slices.SortFunc(more, byLine)
	return append(all, more...)
}

func byLine(a, b config.Diagnostic) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Code, b.Code))
}

// cut joins the findings about one line into one, and drops those above the limit.
func (k *kept) cut() {
	slices.SortStableFunc(k.list, func(a, b config.Diagnostic) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), byLine(a, b))
	})
	n := 0
	for _, d := range k.list {
		switch last := &k.list[max(n-1, 0)]; {
		case n == 0 || last.Line != d.Line:
			k.list[n] = d
			n++
		case !strings.Contains(last.Message, d.Message):
			last.Message += "; " + d.Message
			last.Tools = slices.DeleteFunc(strings.Split(allTools, ", "), func(name string) bool {
				return !slices.Contains(last.Tools, name) && !slices.Contains(d.Tools, name)
			})
		}
	}
	for _, d := range k.list[min(n, maxFindings):n] {
		k.dropped = append(k.dropped, int32(d.Line))
	}
	k.list = k.list[:min(n, maxFindings)]
}
