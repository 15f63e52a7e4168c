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
	unreadable    = " makes the whole file unreadable"
	crash         = "a value of one quote ends in a crash"
	headerInValue = "a header that is indented deeper than the property above belongs to its value"
	aboveTakes    = "the header does not count, so its lines belong to the section above"
	endsAtCR      = "the line ends at the CR within it"
	forAll        = "DEFAULT" // The name of a section whose keys botocore adds to every profile.
	bomIsBlank    = "a byte-order mark is whitespace"
)

// trimJS drops what the JavaScript tool takes for whitespace at both ends, and it alone takes a byte-order
// mark for it.
func trimJS(text string) string { return strings.TrimFunc(text, isBlankJS) }

func isBlankJS(c rune) bool { return c == '\uFEFF' || c != '\u0085' && unicode.IsSpace(c) }

// beforeComment returns a line up to the first # or ; that follows whitespace, without whitespace at its end.
func beforeComment(line string) string {
	for i, c := range line {
		if (c == '#' || c == ';') && len(trimJS(line[:i])) < i {
			return sharedfile.Trim(line[:i])
		}
	}
	return line
}

// twoWords reports whether the text between the brackets of a header is a word, one character of whitespace
// and a name. The JavaScript tool takes the word for a kind of section then, and drops a kind that it does
// not know. A word has letters and digits of ASCII, '_' and '-' only.
func twoWords(inner string) bool {
	at := strings.IndexFunc(inner, isBlankJS)
	if at <= 0 || !sharedfile.IsIdentifier(inner[:at]) || strings.ContainsAny(inner[:at], "/.%@:+") {
		return false
	}
	_, size := utf8.DecodeRuneInString(inner[at:])
	return sharedfile.IsIdentifier(sharedfile.Unquoted(inner[at+size:]))
}

// modeElsewhere says how all other tools read a retry mode that is accepted here.
func modeElsewhere(value string) string {
	switch {
	case value == "", value == "standard", value == "adaptive", refused(sharedfile.RetryMode, value) != nil: // No tool knows it.
		return ""
	case mapped(value) != "":
		return "the mode is refused, or followed in another way"
	case sharedfile.Trim(value) != value:
		return "a mode with whitespace at an end is refused, or not known"
	}
	return "a mode counts in lower case only"
}

// mapped returns the mode that a mode of other tools is read as, or "".
func mapped(mode string) string {
	switch sharedfile.ASCIILower(sharedfile.Trim(mode)) {
	case "legacy":
		return "standard"
	case "adaptive_v2":
		return "adaptive"
	}
	return ""
}

// octal says how aws-sdk-go-v2 reads a number with leading zeros in a file that is accepted here.
func octal(value string) string {
	if !strings.HasPrefix(strings.TrimPrefix(value, "+"), "0") || refused(sharedfile.MaxAttempts, value) != nil {
		return ""
	}
	decimal, _ := strconv.Atoi(value)
	switch text, err := inSDK(sharedfile.MaxAttempts, value, true); {
	case err != nil:
		return "the number is refused, as a leading 0 makes it octal"
	case text != strconv.Itoa(decimal):
		return "the number is " + text + ", as a leading 0 makes it octal"
	}
	return ""
}

// refused returns why a setting does not accept a text, or nil.
func refused(key, text string) error {
	return errors.Unwrap(config.Candidate{Raw: text, Origin: config.Origin{Key: key}}.Check())
}

// textInSDK returns the text of a setting in a file as aws-sdk-go-v2 has it: an indented line with a sign is a property of
// its own.
func textInSDK(v sharedfile.Setting) string {
	if v.Sign {
		return v.First()
	}
	return v.Text
}

// inSDK returns the value that aws-sdk-go-v2 reads for a retry setting that is not accepted here. The error says
// that it refuses the value.
func inSDK(key, raw string, inFile bool) (text string, err error) {
	base := 10
	if inFile {
		base = 0
		if last := len(raw) - 1; last > 0 && (raw[0] == '"' || raw[0] == '\'') && raw[last] == raw[0] {
			raw = raw[1:last]
		}
	}
	if key == sharedfile.MaxAttempts {
		n, err := strconv.ParseInt(raw, base, 64)
		return strconv.FormatInt(n, 10), err
	}
	if raw != "standard" && raw != "adaptive" {
		err = refused(key, "")
	}
	return raw, err
}

// variable returns the variable for a retry setting.
func variable(key string) string { return "AWS_" + strings.ToUpper(key) }
