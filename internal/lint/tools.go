package lint

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
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

// skipped reports how other tools read a malformed line. Of the lines that make the file unreadable, headers
// aside, only the first is reported.
func (x *file) skipped(l *sharedfile.Line) {
	if l.Text[0] == '[' {
		x.skippedHeader(l)
		return
	}
	if text := trimJS(beforeComment(l.Text)); strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		x.differ(l.Number, toolJS, bomIsBlank+", so the line is a header")
	}
	switch sign := strings.IndexAny(l.Text, "=:"); {
	case l.InGroup && sign == 0 && l.Text[0] == '=': // A sub-property may have no name.
	case l.Fault == sharedfile.NoSign && !l.InGroup && sign > 0: // The sign is in what is a comment here.
	case !x.unreadable:
		x.unreadable = true
		x.differ(l.Number, python, lineUnreadable)
	}
}

// skippedHeader reports how other tools read a malformed header. None of them ends the section
// above it as rule R05 does: each finds another header in it, or no header.
func (x *file) skippedHeader(l *sharedfile.Line) {
	how := lineUnreadable
	switch {
	case l.Nested:
		how = headerInValue
	case !utf8.ValidString(l.Text):
	case strings.LastIndexByte(l.Text, ']') > 1:
		how = "the name goes on up to the last ']'"
	case x.within && strings.ContainsAny(l.Text, "=:"):
		how = aboveTakes
	}
	x.differ(l.Number, python, how)
	var above []string
	if x.within && !strings.HasSuffix(sharedfile.BeforeAny(l.Text), "]") {
		above = append(above, toolGo)
	}
	switch closed := strings.HasSuffix(trimJS(beforeComment(l.Text)), "]"); {
	case closed && !strings.HasSuffix(beforeComment(l.Text), "]"):
		x.differ(l.Number, toolJS, bomIsBlank+", so the header counts")
	case closed && x.kind == sharedfile.Credentials:
		x.differ(l.Number, toolJS, "a comment begins behind a blank only, so the whole header is the name of a profile")
	case !closed && x.within:
		above = append(above, toolJS)
	}
	if above != nil {
		x.differ(l.Number, strings.Join(above, ", "), aboveTakes)
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
	return isBlankJS(blank) && sharedfile.IsIdentifier(sharedfile.Unquoted(inner[at+size:]))
}

// beforeComment returns a line up to the first # or ; that follows whitespace.
func beforeComment(header string) string {
	for i, c := range header {
		if (c == '#' || c == ';') && len(trimJS(header[:i])) < i {
			return sharedfile.Trim(header[:i])
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
func (r *otherTools) look(l *sharedfile.Line, p sharedfile.Property) {
	r.line = l.Number
	switch l.Kind {
	case sharedfile.Header:
		r.header(l)
	case sharedfile.PropertyLine:
		r.property(l, p)
	case sharedfile.Continuation:
		r.credential(p) // For aws-sdk-go-v2 it is a property of its own.
		switch key := sharedfile.RetryKey(trimJS(p.Key)); {
		case key == "" || !r.profile:
		case sharedfile.RetryKey(p.Key) == "":
			r.hidden(l, p)
		case p.Sign == '=' && p.Key == key && p.Value != "":
			r.noteIf(true, toolGo+", "+toolJS, belowValue)
		default:
			r.noteIf(true, toolGo, belowValue)
		}
	case sharedfile.SubProperty:
		r.noteIf(p.Sign == ':', python, "':' in place of '=' in a sub-property"+unreadable)
	case sharedfile.Malformed, sharedfile.Comment:
		return
	}
	r.noteIf(p.Value == "'" || p.Value == `"`, toolGo, crash)
	r.noteIf(strings.Contains(l.Text, "\r"), python, "the line ends at the CR within it")
}

// header looks at a section header.
func (r *otherTools) header(l *sharedfile.Line) {
	text, key := sharedfile.BeforeAny(l.Text), sharedfile.HeaderName(l.Text)
	comment := l.Text[len(text):]
	inner := text[1 : len(text)-1]
	r.inherits = inner == "DEFAULT"
	r.noteIf(strings.HasPrefix(comment, "#") || strings.HasPrefix(comment, ";"), toolJS,
		"a header that a comment touches does not count, so its lines belong to the section above")
	r.noteIf(strings.Contains(comment, "]"), python, "the name goes on up to the ']' in the comment")
	r.noteIf(inner == "__proto__" || inner == "profile __proto__", toolJS, "a section of this name"+unreadable)
	switch profile, config := r.profile, r.kind == sharedfile.Config; {
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
	if key == sharedfile.DefaultProfile || inner[0] != key[0] {
		names = python + ", " + toolJS
	}
	r.noteIf(len(inner) > len(key), names, blanksInside)
	rest, prefixed := sharedfile.CutWord(key, "profile")
	if !prefixed {
		return
	}
	name := sharedfile.Trim(rest)
	plain := sharedfile.Unquoted(name)
	quotes := len(plain) < len(name)
	r.noteIf(quotes, toolGo, "the quotes are part of the name")
	r.noteIf(!quotes && strings.ContainsAny(name, " \t'\"\\"), python,
		"the profile is not found, as blanks, quotes and backslashes in a name mean what they mean to a shell")
	r.noteIf(len(rest) > len(name)+1, toolJS, "the profile is not found, as more than one blank stands before its name")
	r.noteIf(!sharedfile.IsIdentifier(plain), toolJS,
		"the profile is not found, as its name has other characters than letters, digits and _/.%@:+-")
}

func (r *otherTools) property(l *sharedfile.Line, p sharedfile.Property) {
	before, _, colon := strings.Cut(p.Key, ":")
	r.noteIf(colon && before == "", python, "a ':' before the key"+unreadable)
	r.noteIf(colon && sharedfile.RetryKey(sharedfile.Trim(before)) != "" && r.profile, toolGo+", "+python, "the key ends at the ':'")
	r.hidden(l, p)
	if l.Depth == 0 || !r.group {
		r.credential(p)
	}
	if key := sharedfile.RetryKey(p.Key); key != "" && r.inherits && r.kind == sharedfile.Config {
		r.noteIf(true, python, keyOfDefault)
	} else if key != "" && (r.profile || r.inherits) {
		r.setting(l, p, key)
	}
	r.group = r.group || p.Value == ""
	if r.below && l.Indent > max(r.indent, l.Depth) { // For botocore all whitespace counts.
		r.noteIf(true, python, "whitespace other than spaces and tabs indents a line too, so the line belongs to the property above")
	} else {
		r.below, r.indent = true, l.Indent
	}
}

// hidden looks for a retry setting behind a byte-order mark.
func (r *otherTools) hidden(l *sharedfile.Line, p sharedfile.Property) {
	key := trimJS(p.Key)
	setting := r.profile && key != p.Key && key != "" && key == sharedfile.RetryKey(key) && p.Sign == '=' && trimJS(p.Value) != ""
	r.noteIf(setting && !r.takes(l), toolJS, bomIsBlank+", so the line is a setting")
}

// takes reports whether the property is indented below one without a value, to which it belongs for the
// JavaScript tool. All of its whitespace counts.
func (r *otherTools) takes(l *sharedfile.Line) bool {
	return r.group && (l.Indent > 0 || strings.HasPrefix(l.Text, "\uFEFF"))
}

// credential keeps the place of a key that belongs to a pair.
func (r *otherTools) credential(p sharedfile.Property) {
	switch sharedfile.ASCIILower(p.Key) {
	case "aws_access_key_id":
		r.keys[0] = r.line
	case "aws_secret_access_key":
		r.keys[1] = r.line
	}
}

// setting looks at a retry setting.
func (r *otherTools) setting(l *sharedfile.Line, p sharedfile.Property, key string) {
	r.noteIf(p.Comment, python, "the comment is part of the value")
	r.noteIf(p.Sign == ':', toolJS, "a property with ':' in place of '=' does not count")
	r.noteIf(p.Key != key, toolJS, "a key that is not in lower case does not count")
	names := toolJS
	if l.Depth > 0 {
		names = toolGo + ", " + toolJS
	}
	r.noteIf(strings.Contains(p.Value, "\uFEFF"), toolJS, bomIsBlank+", also in a value")
	r.noteIf(l.Indent > 0 && r.group, names, "the indented line belongs to the property without a value further up")
	how := ""
	if key == sharedfile.RetryMode {
		names = allTools
		how = modeElsewhere(p.Value)
	} else {
		names = toolGo
		how = octal(p.Value)
	}
	r.noteIf(how != "", names, how)
}

// modeElsewhere says how all other tools read a retry mode that is accepted here.
func modeElsewhere(value string) string {
	switch plain := sharedfile.ASCIILower(sharedfile.Trim(value)); {
	case refused(sharedfile.RetryMode, value) != nil: // No tool knows it.
		return ""
	case mapped(value) != "":
		return "the mode " + sharedfile.Quote(value) + " is refused, or followed in another way"
	case sharedfile.ASCIILower(value) != plain:
		return "a mode with whitespace at an end is refused, or not known"
	case value != plain:
		return "a mode counts in lower case only"
	}
	return ""
}

// octal says how aws-sdk-go-v2 reads a number with leading zeros in a file: as octal.
func octal(value string) string {
	decimal, _ := strconv.Atoi(strings.TrimPrefix(value, "+"))
	if refused(sharedfile.MaxAttempts, value) != nil || strings.TrimPrefix(value, "+")[0] != '0' {
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

// refused returns why a setting does not accept a text, or nil.
func refused(key, text string) error {
	err := config.Candidate{Raw: text, Origin: config.Origin{Key: key}}.Check()
	if invalid, ok := errors.AsType[*config.ValueError](err); ok {
		return invalid.Err
	}
	return err
}

// mapped says how a mode of other tools is read. It returns "" for any other text.
func mapped(mode string) string {
	switch sharedfile.ASCIILower(sharedfile.Trim(mode)) {
	case "legacy":
		return "a mode of other tools, read as standard"
	case "adaptive_v2":
		return "a mode of other tools, read as adaptive"
	}
	return ""
}

// attemptsInFile returns the number that aws-sdk-go-v2 reads in a file.
func attemptsInFile(text string) (int64, error) { return strconv.ParseInt(inSDK(text), 0, 64) }

// inSDK returns a value in a file without the quotes that aws-sdk-go-v2 removes.
func inSDK(text string) string {
	if last := len(text) - 1; last > 0 && (text[0] == '"' || text[0] == '\'') && text[last] == text[0] {
		return text[1:last]
	}
	return text
}

// hiddenInSDK looks at a value of a file that would win without a variable: the SDK may refuse it all the same.
func (r *report) hiddenInSDK(key string, c config.Candidate) {
	name := sharedfile.EnvRetryMode
	if key == sharedfile.MaxAttempts {
		name = sharedfile.EnvMaxAttempts
	}
	if value, _ := r.pair.Lookup(name); sharedfile.IsBlank(value) || refused(key, c.Raw) == nil {
		return
	}
	_, err := attemptsInFile(c.Raw)
	if mode := inSDK(c.Raw); key == sharedfile.MaxAttempts && err != nil || key == sharedfile.RetryMode && mode != "standard" && mode != "adaptive" {
		r.files[index(c.Origin)].differ(int32(c.Origin.Line), toolGo, "the value is refused, although "+name+" overrides it")
	}
}
