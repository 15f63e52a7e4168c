package lint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/config"
)

// The codes. docs/settings.md says what each one means.
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

// maxFindings is how many findings of one code are kept for one file.
const maxFindings = 100

// findings is the sink of one call: it collects, bounds and sorts the findings. Of each code it keeps for each file
// at most maxFindings: errors before warnings, and then those with the smallest line. It counts the others.
type findings struct {
	first []config.Diagnostic // About the environment, paths and code, in the order in which they came.
	files [2]aboutFile
}

// list returns all findings. Those about a file are in the order of their lines.
func (f *findings) list() []config.Diagnostic {
	return append(append(f.first, f.files[0].list()...), f.files[1].list()...)
}

// index returns which of the two files has a value: 0 for the config file, 1 for the credentials file.
func index(o config.Origin) int {
	if o.Kind == "shared-credentials" {
		return 1
	}
	return 0
}

// aboutFile collects the findings about one file.
type aboutFile struct {
	path  string
	codes []kept

	refusals bool // Only findings about lines for which a tool refuses the whole file are kept.
}

// kept holds the findings of one code, one for each line.
type kept struct {
	code    string
	list    []config.Diagnostic
	dropped []int32         // The lines of the others. A line may be there several times.
	worst   config.Severity // Of the others.
}

func (f *aboutFile) warn(code string, line int32, message string) {
	f.add(config.Diagnostic{Code: code, Line: int(line), Message: message})
}

// differs returns the finding about a line or variable that makes other tools refuse it, miss the
// profile, find another profile, or read other retry settings.
func differs(names, how string) config.Diagnostic {
	return config.Diagnostic{
		Code:    codeReadDifferently,
		Message: names + ": " + how, Tools: strings.Split(names, ", "),
	}
}

// differ adds the finding about a line that other tools read differently.
func (f *aboutFile) differ(line int32, names, how string) {
	d := differs(names, how)
	d.Line = int(line)
	f.add(d)
}

func (f *aboutFile) add(d config.Diagnostic) {
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
	slices.SortStableFunc(k.list, func(a, b config.Diagnostic) int {
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
func (f *aboutFile) list() []config.Diagnostic {
	var all, more []config.Diagnostic
	slices.SortFunc(f.codes, func(a, b kept) int { return cmp.Compare(a.code, b.code) })
	for _, k := range f.codes {
		k.cut()
		all = append(all, k.list...)
		slices.Sort(k.dropped)
		if n := len(slices.Compact(k.dropped)); n > 0 {
			more = append(more, config.Diagnostic{
				Severity: k.worst, Code: k.code, File: f.path,
				Message: "and " + strconv.Itoa(n) + " more findings of this kind",
			})
		}
	}
	slices.SortStableFunc(all, byLine)
	return append(all, more...)
}

func byLine(a, b config.Diagnostic) int { return cmp.Compare(a.Line, b.Line) }

// merged joins the findings about one line into one.
func merged(list []config.Diagnostic) []config.Diagnostic {
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
