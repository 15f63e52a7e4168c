package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// Severity says how bad a finding is: the greater, the worse. As text, and in JSON, it is "warning" or "error".
type Severity uint8

// The severities. An error makes a profile unusable, or is what strict reading refuses.
const (
	SeverityWarning Severity = iota
	SeverityError
)

func (s Severity) String() string {
	if s == SeverityError {
		return "error"
	}
	return "warning"
}

// MarshalText returns the severity as text.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes, and refuses any other text.
func (s *Severity) UnmarshalText(text []byte) error {
	for _, known := range [...]Severity{SeverityWarning, SeverityError} {
		if string(text) == known.String() {
			*s = known
			return nil
		}
	}
	return errors.New(prefix + "no severity: " + sharedfile.Quote(string(text)))
}

// Diagnostic is one finding about settings or files. Its JSON form is stable.
type Diagnostic struct {
	// Severity is how bad the finding is. Settings have warnings only.
	Severity Severity `json:"severity"`

	// Code names the kind of finding. Codes stay the same in later versions, so programs
	// may compare them. docs/settings.md in the repository has an example and a remedy for
	// each:
	//
	//   - malformed-line: the line is skipped, or the whole file if it is UTF-16;
	//   - parse-error: a malformed line in a strict check;
	//   - read-differently: another AWS tool refuses the line or variable, or reads it
	//     differently;
	//   - shadowed-key: the credentials file overrides a setting of the config file;
	//   - misspelt-key: a key that looks like a retry setting but is none;
	//   - indented-key: a retry setting on a line that continues the property above it;
	//   - duplicate-key: a key that a profile has twice in one file;
	//   - duplicate-section: a second section for the same profile in one file;
	//   - default-twice: a [default] that does not count, because there is a [profile
	//     default];
	//   - unused-profile: a retry setting in a profile other than the one in use;
	//   - ignored-section: a section that is no profile: one with a retry setting, and one of the config
	//     file that lacks the word profile;
	//   - invalid-value: a value that is not accepted: an error if it would win, and a
	//     warning if another value wins;
	//   - mapped-mode: a retry mode of other tools that is read as standard or adaptive;
	//   - no-effect: a variable that is set but changes nothing, or a retry mode in which
	//     fields that code has set have no effect;
	//   - missing-file: a file that code or a variable named but that does not exist;
	//   - unreadable-file: a file that exists but cannot be read;
	//   - no-home-directory: the home directory was needed but is not known.
	Code string `json:"code"`

	// Message is for people. Of the values in the files it shows only those of retry
	// settings.
	Message string `json:"message"`
	// File is the path of the file that the finding is about, or empty.
	File string `json:"file,omitempty"`
	// Line is the number of the line in File, from 1, or 0 for no line.
	Line int `json:"line,omitempty"`
	// Tools names the tools that read the line or variable differently: aws-sdk-go-v2, botocore,
	// aws-cli and js. Only findings with the code read-differently have it.
	Tools []string `json:"tools,omitempty"`
}

// String returns "file:line: severity: message [code]", without file and line if they are not
// set. A path that begins or ends with whitespace is in quotes. Control characters in the path
// and in the message are not escaped.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(sharedfile.ShownPath(d.File) + ":")
		if d.Line > 0 {
			b.WriteString(strconv.Itoa(d.Line) + ":")
		}
		b.WriteString(" ")
	}
	b.WriteString(d.Severity.String() + ": " + d.Message + " [" + d.Code + "]")
	return b.String()
}
