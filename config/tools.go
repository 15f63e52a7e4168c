package config

import (
	"strconv"
	"strings"
	"unicode"
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
	python   = toolBoto + ", " + toolCLI // They have the same parser.
	allTools = toolGo + ", " + python + ", " + toolJS
)

// How tools read several lines.
const (
	unreadable     = " makes the whole file unreadable"
	crash          = "a value of one quote ends in a crash"
	lineUnreadable = "the line" + unreadable
	headerInValue  = "a header that is indented deeper than the property above belongs to its value"
	aboveTakes     = "the header does not count, so its lines belong to the section above"
	keyOfDefault   = "a key of [DEFAULT] counts in every profile of the file"
	bomIsBlank     = "a byte-order mark is whitespace"
	belowValue     = "below a property with a value an indented line is a property of its own"
	blanksInside   = "the blanks inside the brackets are part of the name"
)

// differs returns the finding about a line or variable that makes other tools refuse it, miss the
// profile, find another profile, or read other retry settings.
func differs(names, how string) Diagnostic {
	return Diagnostic{
		Code:    codeReadDifferently,
		Message: names + ": " + how, Tools: strings.Split(names, ", "),
	}
}

func (f *aboutFile) differ(line int32, names, how string) {
	d := differs(names, how)
	d.Line = int(line)
	f.add(d)
}

// skipped reports how other tools read a malformed line. within says that it is below a section
// header, and block that it is in the block of a property. Of the lines that make the file
// unreadable, headers aside, only the first is reported.
func (x *reading) skipped(l *line, expected string, within, block bool) {
	if l.text[0] == '[' {
		x.skippedHeader(l, within)
		return
	}
	if text := trimJS(beforeComment(l.text)); strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		x.differ(l.number, toolJS, bomIsBlank+", so the line is a header")
	}
	switch sign := strings.IndexAny(l.text, "=:"); {
	case block && sign == 0 && l.text[0] == '=': // A sub-property may have no name.
	case expected == msgNoSign && !block && sign > 0: // The sign is in what is a comment here.
	case !x.unreadable:
		x.unreadable = true
		x.differ(l.number, python, lineUnreadable)
	}
}

// skippedHeader reports how other tools read a malformed header. None of them ends the section
// above it as rule R05 does: each finds another header in it, or no header.
func (x *reading) skippedHeader(l *line, within bool) {
	how := lineUnreadable
	switch {
	case l.nested:
		how = headerInValue
	case !utf8.ValidString(l.text):
	case strings.LastIndexByte(l.text, ']') > 1:
		how = "the name goes on up to the last ']'"
	case within && strings.ContainsAny(l.text, "=:"):
		how = aboveTakes
	}
	x.differ(l.number, python, how)
	var above []string
	if within && !strings.HasSuffix(beforeAny(l.text), "]") {
		above = append(above, toolGo)
	}
	switch closed := strings.HasSuffix(trimJS(beforeComment(l.text)), "]"); {
	case closed && !strings.HasSuffix(beforeComment(l.text), "]"):
		x.differ(l.number, toolJS, bomIsBlank+", so the header counts")
	case closed && x.Kind == kindCredentials:
		x.differ(l.number, toolJS, "a comment begins behind a blank only, so the whole header is the name of a profile")
	case !closed && within:
		above = append(above, toolJS)
	}
	if above != nil {
		x.differ(l.number, strings.Join(above, ", "), aboveTakes)
	}
}

// trimJS drops what the JavaScript tool takes for whitespace at both ends, and it alone takes a byte-order
// mark for it.
func trimJS(text string) string {
	return strings.TrimFunc(text, isBlankJS)
}

func isBlankJS(c rune) bool { return c == '\uFEFF' || c != '\u0085' && unicode.IsSpace(c) }

// twoWords reports whether the text between the brackets of a header is a word, one character of whitespace
// and a name. The JavaScript tool takes the word for a kind of section then, and drops a kind that it does
// not know. A word has letters and digits of ASCII, '_' and '-' only.
func twoWords(inner string) bool {
	at := strings.IndexFunc(inner, func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
	if at <= 0 {
		return false
	}
	blank, size := utf8.DecodeRuneInString(inner[at:])
	return isBlankJS(blank) && isIdentifier(unquoted(inner[at+size:]))
}

// beforeComment returns a line up to the first # or ; that follows whitespace.
func beforeComment(header string) string {
	for i, c := range header {
		if (c == '#' || c == ';') && len(trimJS(header[:i])) < i {
			return trim(header[:i])
		}
	}
	return header
}

// otherTools reports how other tools read the lines of one section.
type otherTools struct {
	*aboutFile
	kind     string
	profile  bool  // The section is a profile.
	line     int32 // The number of the current line.
	inherits bool  // The section is [DEFAULT], whose keys botocore adds to every profile.
	group    bool  // The section has had a property without a value.
	below    bool  // The section has had a property.
	indent   int32 // How many characters of whitespace are before the last property.

	keys [2]int32 // The lines of the access key and of the secret key of the profile, in this section or one before.
}

// noteIf adds a finding about the current line for the tools that read it differently, if they do.
func (r *otherTools) noteIf(differently bool, names, how string) {
	if differently {
		r.differ(r.line, names, how)
	}
}

// look looks at one line, which is split into p unless it is a header.
func (r *otherTools) look(l *line, p property) {
	r.line = l.number
	switch l.kind {
	case lineHeader:
		r.header(l)
	case lineProperty:
		r.property(l, p)
	case lineContinuation:
		r.credential(p) // For aws-sdk-go-v2 it is a property of its own.
		switch key := retryKey(trimJS(p.key)); {
		case key == "" || !r.profile:
		case retryKey(p.key) == "":
			r.hidden(l, p)
		case p.sign == '=' && p.key == key && p.value != "":
			r.noteIf(true, toolGo+", "+toolJS, belowValue)
		default:
			r.noteIf(true, toolGo, belowValue)
		}
	case lineSubProperty:
		r.noteIf(p.sign == ':', python, "':' in place of '=' in a sub-property"+unreadable)
	case lineMalformed, lineComment:
		return
	}
	r.noteIf(p.value == "'" || p.value == `"`, toolGo, crash)
	r.noteIf(strings.Contains(l.text, "\r"), python, "the line ends at the CR within it")
}

// header looks at a section header.
func (r *otherTools) header(l *line) {
	text, key := beforeAny(l.text), headerName(l.text)
	comment := l.text[len(text):]
	inner := text[1 : len(text)-1]
	r.inherits = inner == "DEFAULT"
	r.noteIf(strings.HasPrefix(comment, "#") || strings.HasPrefix(comment, ";"), toolJS,
		"a header that a comment touches does not count, so its lines belong to the section above")
	r.noteIf(strings.Contains(comment, "]"), python, "the name goes on up to the ']' in the comment")
	r.noteIf(inner == "__proto__" || inner == "profile __proto__", toolJS, "a section of this name"+unreadable)
	switch profile, config := r.profile, r.kind == kindConfig; {
	case profile && config:
		r.configProfile(key, inner)
	case profile:
		r.noteIf(len(inner) > len(key), python+", "+toolJS, blanksInside)
		r.noteIf(r.inherits, python, "the section is no profile, and its keys count in every profile of the file")
		r.noteIf(twoWords(inner), toolJS, "the profile is not found, as its name has a blank")
		r.noteIf(strings.Contains(key, "  ") || strings.Contains(key, "\t"), toolGo,
			"several blanks in the name, or a tab, are read as one space")
	case config: // Other tools take some sections that are no profile for one.
		rest, ok := strings.CutPrefix(key, "profile")
		r.noteIf(ok && strings.ContainsAny(rest, " \t"), python, "the section is a profile, as its header begins with profile")
		r.noteIf(ok && strings.HasPrefix(rest, "."), toolJS, "the section is a profile, as its header begins with profile and a dot")
	}
}

func (r *otherTools) configProfile(key, inner string) {
	names := toolJS
	if key == defaultProfile || inner[0] != key[0] {
		names = python + ", " + toolJS
	}
	r.noteIf(len(inner) > len(key), names, blanksInside)
	rest, prefixed := cutWord(key, "profile")
	if !prefixed {
		return
	}
	name := trim(rest)
	plain := unquoted(name)
	quotes := len(plain) < len(name)
	r.noteIf(quotes, toolGo, "the quotes are part of the name")
	r.noteIf(!quotes && strings.ContainsAny(name, " \t'\"\\"), python,
		"the profile is not found, as blanks, quotes and backslashes in a name mean what they mean to a shell")
	r.noteIf(len(rest) > len(name)+1, toolJS, "the profile is not found, as more than one blank stands before its name")
	r.noteIf(!isIdentifier(plain), toolJS,
		"the profile is not found, as its name has other characters than letters, digits and _/.%@:+-")
}

func (r *otherTools) property(l *line, p property) {
	before, _, colon := strings.Cut(p.key, ":")
	r.noteIf(colon && before == "", python, "a ':' before the key"+unreadable)
	r.noteIf(colon && retryKey(trim(before)) != "" && r.profile, toolGo+", "+python, "the key ends at the ':'")
	r.hidden(l, p)
	if l.depth == 0 || !r.group {
		r.credential(p)
	}
	if key := retryKey(p.key); key != "" && r.inherits && r.kind == kindConfig {
		r.noteIf(true, python, keyOfDefault)
	} else if key != "" && (r.profile || r.inherits) {
		r.setting(l, p, key)
	}
	r.group = r.group || p.value == ""
	if r.below && l.indent > max(r.indent, l.depth) { // For botocore all whitespace counts.
		r.noteIf(true, python, "whitespace other than spaces and tabs indents a line too, so the line belongs to the property above")
	} else {
		r.below, r.indent = true, l.indent
	}
}

// hidden looks for a retry setting behind a byte-order mark.
func (r *otherTools) hidden(l *line, p property) {
	key := trimJS(p.key)
	setting := r.profile && key != p.key && key != "" && key == retryKey(key) && p.sign == '=' && trimJS(p.value) != ""
	r.noteIf(setting && !r.takes(l), toolJS, bomIsBlank+", so the line is a setting")
}

// takes reports whether the property is indented below one without a value, to which it belongs for the
// JavaScript tool. All of its whitespace counts.
func (r *otherTools) takes(l *line) bool {
	return r.group && (l.indent > 0 || strings.HasPrefix(l.text, byteOrderMark))
}

// credential keeps the place of a key that belongs to a pair.
func (r *otherTools) credential(p property) {
	switch asciiLower(p.key) {
	case "aws_access_key_id":
		r.keys[0] = r.line
	case "aws_secret_access_key":
		r.keys[1] = r.line
	}
}

// setting looks at a retry setting.
func (r *otherTools) setting(l *line, p property, key string) {
	r.noteIf(p.comment, python, "the comment is part of the value")
	r.noteIf(p.sign == ':', toolJS, "a property with ':' in place of '=' does not count")
	r.noteIf(p.key != key, toolJS, "a key that is not in lower case does not count")
	names := toolJS
	if l.depth > 0 {
		names = toolGo + ", " + toolJS
	}
	r.noteIf(strings.Contains(p.value, byteOrderMark), toolJS, bomIsBlank+", also in a value")
	r.noteIf(l.indent > 0 && r.group, names, "the indented line belongs to the property without a value further up")
	how := ""
	if key == keyRetryMode {
		names = allTools
		how = modeElsewhere(p.value)
	} else {
		names = toolGo
		how = octal(p.value)
	}
	r.noteIf(how != "", names, how)
}

// modeElsewhere says how all other tools read a retry mode that is accepted here.
func modeElsewhere(value string) string {
	switch plain := asciiLower(trim(value)); {
	case check(keyRetryMode, value) != nil: // No tool knows it.
		return ""
	case mapped(value) != "":
		return "the mode " + quote(value) + " is refused, or followed in another way"
	case asciiLower(value) != plain:
		return "a mode with whitespace at an end is refused, or not known"
	case value != plain:
		return "a mode counts in lower case only"
	}
	return ""
}

// octal says how aws-sdk-go-v2 reads a number with leading zeros in a file: as octal.
func octal(value string) string {
	decimal, err := readMaxAttempts(value)
	if err != nil || strings.TrimPrefix(value, "+")[0] != '0' {
		return ""
	}
	n, err := strconv.ParseInt(value, 0, 64)
	if err != nil {
		return "the number is refused, as a leading 0 makes it octal"
	}
	if n != int64(decimal) {
		return "the number is " + strconv.FormatInt(n, 10) + ", as a leading 0 makes it octal"
	}
	return ""
}
