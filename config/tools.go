package config

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// The tools that a finding names, as measured in November 2026: aws-sdk-go-v2
// config 1.33.15, botocore 1.43.11, AWS CLI 2.9.19 and the JavaScript SDK's
// @smithy/shared-ini-file-loader 4.7.2.
const (
	toolGo   = "aws-sdk-go-v2"
	toolBoto = "botocore"
	toolCLI  = "aws-cli"
	toolJS   = "js"
)

func tools(names ...string) []string { return names }

// python is botocore and the AWS CLI, which read files with the same parser.
func python() []string { return tools(toolBoto, toolCLI) }

// differ tells of a line because of which other tools refuse the file, miss the
// profile, or read another retry setting.
func (f *findings) differ(line int, names []string, does string) {
	f.add(Diagnostic{
		Severity: SeverityWarning, Code: CodeReadDifferently, Line: line, Tools: names,
		Message: strings.Join(names, ", ") + " " + does,
	})
}

// merged makes one finding of those about the same line.
func merged(list []Diagnostic) []Diagnostic {
	kept := list[:0]
	for _, d := range list {
		if n := len(kept); n > 0 && kept[n-1].Line == d.Line {
			last := &kept[n-1]
			last.Message += "; " + d.Message
			last.Tools = slices.DeleteFunc(tools(toolGo, toolBoto, toolCLI, toolJS), func(name string) bool {
				return !slices.Contains(last.Tools, name) && !slices.Contains(d.Tools, name)
			})
			continue
		}
		kept = append(kept, d)
	}
	return kept
}

// reader follows what the other tools make of the lines of one section.
type reader struct {
	*findings
	kind     FileKind
	section  section
	inherits bool // [DEFAULT], whose keys botocore gives to every profile.
	property bool // There was a property.
	depth    int  // Of the last property.
	value    bool // It has a value, or is dropped.
	openGo   bool // An indented property without a value, and no unindented one since.
	openJS   bool // A property without a value, and no unindented one with a value since.
}

// line looks at one line; the header comes first.
func (r *reader) line(it *item) {
	if it.kind != lineHeader && bytes.IndexByte(it.text, '\r') >= 0 {
		r.differ(it.number, python(), "end the line at the CR within it")
	}
	switch it.kind {
	case lineHeader:
		r.header(it)
	case lineProperty:
		r.own(it)
	case lineContinuation:
		r.continued(it)
	case lineSubProperty:
		if it.sign == ':' {
			r.differ(it.number, python(), "refuse a file with ':' in place of '=' in a sub-property")
		}
	case lineEnd, lineMalformed, lineComment:
	}
	if it.kind != lineHeader && (string(it.value) == "'" || string(it.value) == `"`) {
		r.differ(it.number, tools(toolGo), "crashes on a value of one quote")
	}
}

// header looks at a section header: the line, and the name of a profile.
func (r *reader) header(it *item) {
	r.inherits = string(it.key) == "DEFAULT"
	inner, comment := it.text[1:], []byte(nil)
	if i := bytes.IndexAny(inner, "#;"); i >= 0 {
		inner, comment = inner[:i], inner[i:]
	}
	closed := len(inner) - 1
	inner = trim(inner)
	glued := closed < len(inner)
	inner = inner[:len(inner)-1]
	switch {
	case len(inner) == 0:
		r.differ(it.number, python(), "refuse a file with an empty section header")
	case comment != nil && glued:
		r.differ(it.number, tools(toolJS), "misses a header that a comment touches")
	}
	if bytes.IndexByte(comment, ']') >= 0 {
		r.differ(it.number, python(), "read the comment behind the header up to its last ']' as part of the name")
	}
	if string(it.key) == "__proto__" || string(it.key) == "profile __proto__" {
		r.differ(it.number, tools(toolJS), "drops a file with this section")
	}
	if !r.section.profile {
		return
	}
	if r.kind == KindConfig {
		r.configName(it, inner)
	} else {
		r.credentialsName(it, inner)
	}
}

func (r *reader) configName(it *item, inner []byte) {
	if len(inner) > len(it.key) {
		names := tools(toolJS)
		if r.section.bare || !bytes.HasPrefix(inner, it.key) || len(bytes.Trim(inner[len(it.key):], " \t\r")) > 0 {
			names = tools(toolBoto, toolCLI, toolJS)
		}
		r.differ(it.number, names, "read the whitespace inside the brackets as part of the name")
	}
	rest, ok := cutWord(it.key, "profile")
	if !ok {
		return
	}
	name := trim(rest)
	if len(rest) > len(name)+1 {
		r.differ(it.number, tools(toolJS), "misses a profile with more than one blank before its name")
	}
	plain := unquoted(name)
	if len(plain) < len(name) {
		r.differ(it.number, tools(toolGo), "reads the quotes as part of the name")
	} else if bytes.ContainsAny(name, " \t'\"\\") {
		r.differ(it.number, python(), "read blanks, quotes and backslashes in a name as a shell does")
	}
	if !isIdentifier(plain) {
		r.differ(it.number, tools(toolJS), "misses a profile with other characters than letters, digits and _/.%@:+- in its name")
	}
}

func (r *reader) credentialsName(it *item, inner []byte) {
	if len(inner) > len(it.key) {
		r.differ(it.number, tools(toolBoto, toolCLI, toolJS), "read the whitespace inside the brackets as part of the name")
	}
	if r.inherits {
		r.differ(it.number, python(), "give the keys of [DEFAULT] to every profile of the file")
	}
	if len(unquoted(it.key)) < len(it.key) {
		r.differ(it.number, tools(toolGo, toolBoto, toolCLI, toolJS), "read the quotes as part of the name")
		return
	}
	word, rest, blank := bytes.Cut(it.key, []byte(" "))
	if blank && isIdentifier(word) && isIdentifier(unquoted(rest)) {
		r.differ(it.number, tools(toolJS), "misses a profile with a blank in its name")
	}
	if bytes.Contains(it.key, []byte("  ")) || bytes.IndexByte(it.key, '\t') >= 0 {
		r.differ(it.number, tools(toolGo), "reads several blanks in a name as one")
	}
}

// own looks at a property.
func (r *reader) own(it *item) {
	if key := retryKey(it.key); key != "" && (r.section.profile || r.inherits) {
		r.setting(it, key)
	}
	indented, empty := it.depth > 0, len(it.value) == 0 && !it.comment
	r.openGo = indented && (r.openGo || empty)
	r.openJS = indented && r.openJS || empty && it.sign == '='
	r.property, r.depth, r.value = true, it.depth, len(it.value) > 0 || it.drop
}

// setting looks at a retry setting.
func (r *reader) setting(it *item, key string) {
	if r.inherits && r.kind == KindConfig {
		r.differ(it.number, python(), "give the keys of [DEFAULT] to every profile of the file")
		return
	}
	if it.comment {
		r.differ(it.number, python(), "read the comment as part of the value")
	}
	if it.sign == ':' {
		r.differ(it.number, tools(toolJS), "misses a property with ':' in place of '='")
	}
	if string(it.key) != key {
		r.differ(it.number, tools(toolJS), "misses a key that is not in lower case")
	}
	if it.depth > 0 && r.openGo {
		r.differ(it.number, tools(toolGo), "reads an indented line as part of a property without a value further up")
	}
	if it.depth > 0 && r.openJS {
		r.differ(it.number, tools(toolJS), "reads an indented line as part of a property without a value further up")
	}
	value := string(it.value)
	plain, note, err := parseMode(value)
	switch {
	case key == keyMaxAttempts:
		r.octal(it)
	case err != nil: // No tool accepts it.
	case note != "":
		r.differ(it.number, tools(toolGo, toolBoto, toolCLI, toolJS), "refuse the mode "+quote(value)+" or follow it in a way of their own")
	case value != plain:
		r.differ(it.number, tools(toolGo, toolBoto, toolCLI, toolJS), "know a mode in lower case only")
	}
}

// octal looks at a number with leading zeros, which Go's strconv.ParseInt reads as
// octal in base 0.
func (r *reader) octal(it *item) {
	plain, _, err := parseMaxAttempts(string(it.value))
	if err != nil || strings.TrimPrefix(string(it.value), "+")[0] != '0' {
		return
	}
	if octal, err := strconv.ParseInt(string(it.value), 0, 64); err != nil {
		r.differ(it.number, tools(toolGo), "refuses the number, as it is not an octal one")
	} else if strconv.FormatInt(octal, 10) != plain {
		r.differ(it.number, tools(toolGo), "reads an octal number: "+strconv.FormatInt(octal, 10))
	}
}

// continued looks at a line that continues a value.
func (r *reader) continued(it *item) {
	line := item{}
	if !r.section.profile || !line.split(it.text) {
		return
	}
	key := retryKey(line.key)
	if key == "" {
		return
	}
	names := tools(toolGo)
	if line.sign == '=' && string(line.key) == key && len(line.value) > 0 {
		names = append(names, toolJS)
	}
	r.differ(it.number, names, "read a line that is indented deeper than a property with a value as a property of its own")
}

// indentedHeader looks at the header that ends a section.
func (r *reader) indentedHeader(it *item) {
	if r.property && it.depth > r.depth {
		r.differ(it.number, python(), "read a header that is indented deeper than the property above as part of its value")
	}
}
