package config

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The tools that a finding names. They were measured in November 2026: aws-sdk-go-v2 config
// 1.33.16, botocore 1.43.11, AWS CLI 2.9.19, and @smithy/shared-ini-file-loader 4.7.2 of the
// JavaScript SDK. docs/settings.md says how each of them reads which line.
const (
	toolGo   = "aws-sdk-go-v2"
	toolBoto = "botocore"
	toolCLI  = "aws-cli"
	toolJS   = "js"
)

// python returns botocore and the AWS CLI, which have the same parser.
func python() []string { return []string{toolBoto, toolCLI} }

func allTools() []string { return []string{toolGo, toolBoto, toolCLI, toolJS} }

const (
	unreadable    = " makes the whole file unreadable"
	headerInValue = "a header that is indented deeper than the property above belongs to its value"
)

// differ reports a line that makes other tools refuse the file, miss the profile, find another
// profile, or read other retry settings.
func (f *findings) differ(line int, names []string, how string) {
	f.add(Diagnostic{
		Severity: severityWarning, Code: codeReadDifferently, Line: line, Tools: names,
		Message: strings.Join(names, ", ") + ": " + how,
	})
}

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
		last.Message += "; " + d.Message
		last.Tools = slices.DeleteFunc(allTools(), func(name string) bool {
			return !slices.Contains(last.Tools, name) && !slices.Contains(d.Tools, name)
		})
	}
	return kept
}

// bom reports how other tools read a byte-order mark.
func (x *index) bom() {
	x.findings.differ(1, python(), "the byte-order mark"+unreadable)
	if line, _, _ := bytes.Cut(x.data, []byte("\n")); bytes.HasPrefix(trim(line), []byte("[")) {
		x.findings.differ(1, []string{toolGo}, "the section below the byte-order mark is lost")
	}
}

const aboveTakes = "the header does not count, so its lines belong to the section above"

// skipped reports how other tools read a malformed line. Of the lines other than headers that
// make the file unreadable only the first is reported.
func (x *index) skipped(it *item, within, block bool) {
	if it.text[0] == '[' {
		x.skippedHeader(it, within)
		return
	}
	switch sign := bytes.IndexAny(it.text, "=:"); {
	case block && sign == 0 && it.text[0] == '=': // A sub-property may have no name.
	case it.msg == msgNoSign && !block && sign > 0: // The sign stands in what is a comment here.
	case !x.unreadable:
		x.unreadable = true
		x.findings.differ(it.number, python(), "the line"+unreadable)
	}
}

// skippedHeader reports how other tools read a malformed header. None of them ends the section
// above it as rule R05 does: each finds another header in it, or no header.
func (x *index) skippedHeader(it *item, within bool) {
	switch end := bytes.LastIndexByte(it.text, ']'); {
	case it.nested:
		x.findings.differ(it.number, python(), headerInValue)
	case !utf8.Valid(it.text):
		x.findings.differ(it.number, python(), "the line"+unreadable)
	case end > 1:
		x.findings.differ(it.number, python(), "the name goes on up to the last ']'")
	case within && bytes.ContainsAny(it.text, "=:"):
		x.findings.differ(it.number, python(), aboveTakes)
	default:
		x.findings.differ(it.number, python(), "the line"+unreadable)
	}
	var above []string
	if within && !isBracketed(beforeAny(it.text)) {
		above = append(above, toolGo)
	}
	switch closed := isBracketed(beforeComment(it.text)); {
	case closed && x.Kind == kindCredentials:
		x.findings.differ(it.number, []string{toolJS}, "a comment begins behind a blank only, so the whole header is the name of a profile")
	case !closed && within:
		above = append(above, toolJS)
	}
	if len(above) > 0 {
		x.findings.differ(it.number, above, aboveTakes)
	}
}

func isBracketed(text []byte) bool { return text[len(text)-1] == ']' }

// beforeAny returns a header up to the first # or ;.
func beforeAny(header []byte) []byte {
	if i := bytes.IndexAny(header, "#;"); i >= 0 {
		return trim(header[:i])
	}
	return header
}

// beforeComment returns a header up to the first # or ; behind whitespace.
func beforeComment(header []byte) []byte {
	for i, c := range header {
		if (c == '#' || c == ';') && len(trimRight(header[:i])) < i {
			return trimRight(header[:i])
		}
	}
	return header
}

// otherTools reports how other tools read the lines of one section.
type otherTools struct {
	*findings
	kind     string
	section  section
	inherits bool // The section is [DEFAULT], whose keys botocore gives to every profile.
	group    bool // The section has had a property without a value.
	below    bool // The section has had a property.
	indent   int  // How many characters of whitespace stand before the last property.

	keys [2]int // The lines of the access key and of the secret key of the profile, in this section or one before.
}

// line looks at one line. The first line is the header.
func (r *otherTools) line(it *item) {
	value := it.value
	switch it.kind {
	case lineHeader:
		r.header(it)
	case lineProperty:
		r.property(it)
		r.indented(it)
	case lineContinuation:
		line := item{number: it.number}
		if line.split(it.text) {
			r.credential(&line) // For aws-sdk-go-v2 it is a property of its own.
			r.continuation(&line)
		}
		value = line.value
	case lineSubProperty:
		if it.sign == ':' {
			r.differ(it.number, python(), "':' in place of '=' in a sub-property"+unreadable)
		}
	case lineEnd, lineMalformed, lineComment:
		return
	}
	if it.kind != lineHeader && (string(value) == "'" || string(value) == `"`) {
		r.differ(it.number, []string{toolGo}, "a value of one quote ends in a crash")
	}
	if bytes.IndexByte(it.text, '\r') >= 0 {
		r.differ(it.number, python(), "the line ends at the CR within it")
	}
}

// header looks at a section header.
func (r *otherTools) header(it *item) {
	text, comment := it.text, []byte(nil)
	if i := bytes.IndexAny(text, "#;"); i >= 0 {
		text, comment = trim(text[:i]), text[i:]
		if len(text) == i {
			r.differ(it.number, []string{toolJS}, "a header that a comment touches does not count, so its lines belong to the section above")
		}
	}
	if bytes.IndexByte(comment, ']') >= 0 {
		r.differ(it.number, python(), "the name goes on up to the ']' in the comment")
	}
	inner := text[1 : len(text)-1]
	r.inherits = string(inner) == "DEFAULT"
	if string(inner) == "__proto__" || string(inner) == "profile __proto__" {
		r.differ(it.number, []string{toolJS}, "a section of this name"+unreadable)
	}
	switch {
	case r.section.profile && r.kind == kindConfig:
		r.configProfile(it, inner)
	case r.section.profile:
		r.credentialsProfile(it, inner)
	case r.kind == kindConfig:
		r.noProfile(it)
	}
}

const blanksInBrackets = "the blanks inside the brackets are part of the name"

func (r *otherTools) configProfile(it *item, inner []byte) {
	if len(inner) > len(it.key) {
		names := []string{toolJS}
		if r.section.bare || inner[0] != it.key[0] {
			names = []string{toolBoto, toolCLI, toolJS}
		}
		r.differ(it.number, names, blanksInBrackets)
	}
	rest, prefixed := cutWord(it.key, "profile")
	if !prefixed {
		return
	}
	name := trim(rest)
	plain := unquoted(name)
	if len(plain) < len(name) {
		r.differ(it.number, []string{toolGo}, "the quotes are part of the name")
	} else if bytes.ContainsAny(name, " \t'\"\\") {
		r.differ(it.number, python(), "the profile is not found, as blanks, quotes and backslashes in a name mean what they mean to a shell")
	}
	if len(rest) > len(name)+1 {
		r.differ(it.number, []string{toolJS}, "the profile is not found, as more than one blank stands before its name")
	}
	if !isIdentifier(plain) {
		r.differ(it.number, []string{toolJS}, "the profile is not found, as its name has other characters than letters, digits and _/.%@:+-")
	}
}

func (r *otherTools) credentialsProfile(it *item, inner []byte) {
	if len(inner) > len(it.key) {
		r.differ(it.number, []string{toolBoto, toolCLI, toolJS}, blanksInBrackets)
	}
	if r.inherits {
		r.differ(it.number, python(), "the section is no profile, and its keys count in every profile of the file")
	}
	if i := bytes.IndexAny(it.key, " \t"); i > 0 && isIdentifier(it.key[:i]) && isIdentifier(it.key[i+1:]) {
		r.differ(it.number, []string{toolJS}, "the profile is not found, as its name has a blank")
	}
	if bytes.Contains(it.key, []byte("  ")) || bytes.IndexByte(it.key, '\t') >= 0 {
		r.differ(it.number, []string{toolGo}, "several blanks in the name, or a tab, are read as one space")
	}
}

// noProfile looks at a section of the config file that is no profile. Other tools take some
// such sections, [profiles x] and [profile.x], for a profile.
func (r *otherTools) noProfile(it *item) {
	rest, ok := bytes.CutPrefix(it.key, []byte("profile"))
	if ok && bytes.ContainsAny(rest, " \t") {
		r.differ(it.number, python(), "the section is a profile, as its header begins with profile")
	}
	if ok && bytes.HasPrefix(rest, []byte(".")) {
		r.differ(it.number, []string{toolJS}, "the section is a profile, as its header begins with profile and a dot")
	}
}

// indented looks at how deep a property is indented. For botocore all whitespace counts.
func (r *otherTools) indented(it *item) {
	if r.below && it.indent() > max(r.indent, it.depth) {
		r.differ(it.number, python(), "whitespace other than spaces and tabs indents a line too, so the line belongs to the property above")
		return
	}
	r.below, r.indent = true, it.indent()
}

func (r *otherTools) property(it *item) {
	switch i := bytes.IndexByte(it.key, ':'); {
	case i == 0:
		r.differ(it.number, python(), "a ':' before the key"+unreadable)
	case i > 0 && retryKey(trimRight(it.key[:i])) != "" && r.section.profile:
		r.differ(it.number, []string{toolGo, toolBoto, toolCLI}, "the key ends at the ':'")
	}
	if rest, ok := bytes.CutPrefix(it.key, []byte("\uFEFF")); ok && retryKey(rest) != "" && r.section.profile {
		r.differ(it.number, []string{toolJS}, "a byte-order mark is whitespace, so the line is a setting")
	}
	if it.depth == 0 || !r.group {
		r.credential(it)
	}
	if key := retryKey(it.key); key != "" && (r.section.profile || r.inherits) {
		r.setting(it, key)
	}
	r.group = r.group || len(it.value) == 0
}

// credential keeps the place of a key that belongs to a pair.
func (r *otherTools) credential(it *item) {
	for i, key := range [...]string{"aws_access_key_id", "aws_secret_access_key"} {
		if isKey(it.key, key) {
			r.keys[i] = it.number
		}
	}
}

// setting looks at a retry setting.
func (r *otherTools) setting(it *item, key string) {
	if r.inherits && r.kind == kindConfig {
		r.differ(it.number, python(), "a key of [DEFAULT] counts in every profile of the file")
		return
	}
	if it.comment {
		r.differ(it.number, python(), "the comment is part of the value")
	}
	if it.sign == ':' {
		r.differ(it.number, []string{toolJS}, "a property with ':' in place of '=' does not count")
	}
	if string(it.key) != key {
		r.differ(it.number, []string{toolJS}, "a key that is not in lower case does not count")
	}
	if it.indent() > 0 && r.group {
		names := []string{toolGo, toolJS}
		if it.depth == 0 {
			names = []string{toolJS}
		}
		r.differ(it.number, names, "the indented line belongs to the property without a value further up")
	}
	value := string(it.value)
	if key == keyMaxAttempts {
		r.octal(it.number, value)
		return
	}
	r.mode(it.number, value)
}

// mode looks at a retry mode of a file or, with line 0, of a variable.
func (f *findings) mode(line int, value string) {
	switch plain, note, err := parseMode(value); {
	case value == "" && line == 0:
		f.differ(line, []string{toolBoto, toolCLI, toolJS}, "an empty mode is refused, or counts as a mode that is not known")
	case isBlankText(value) && line == 0:
		f.differ(line, allTools(), "a mode of blanks is refused, or counts as a mode that is not known")
	case err != nil: // No tool knows it.
	case note != "" && line == 0:
		f.differ(line, allTools(), "the mode is refused, or followed in another way")
	case note != "":
		f.differ(line, allTools(), "the mode "+quote(value)+" is refused, or followed in another way")
	case asciiLower(value) != plain:
		f.differ(line, allTools(), "a mode with whitespace at an end is refused, or not known")
	case value != plain:
		f.differ(line, allTools(), "a mode counts in lower case only")
	}
}

// octal looks at a number with leading zeros, which aws-sdk-go-v2 reads as octal.
func (r *otherTools) octal(line int, value string) {
	plain, _, err := parseMaxAttempts(value)
	if err != nil || strings.TrimPrefix(value, "+")[0] != '0' {
		return
	}
	switch octal, err := strconv.ParseInt(value, 0, 64); {
	case err != nil:
		r.differ(line, []string{toolGo}, "the number is refused, as a leading 0 makes it octal")
	case strconv.FormatInt(octal, 10) != plain:
		r.differ(line, []string{toolGo}, "the number is "+strconv.FormatInt(octal, 10)+", as a leading 0 makes it octal")
	}
}

// continuation looks at a line that would be a property if it were not indented as deep.
func (r *otherTools) continuation(it *item) {
	key := retryKey(it.key)
	if key == "" || !r.section.profile {
		return
	}
	names := []string{toolGo}
	if it.sign == '=' && string(it.key) == key && len(it.value) > 0 {
		names = append(names, toolJS)
	}
	r.differ(it.number, names, "below a property with a value an indented line is a property of its own")
}
