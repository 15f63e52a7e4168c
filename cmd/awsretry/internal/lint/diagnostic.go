package lint

import (
	"strconv"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// Severity says how bad a finding is: the greater, the worse. As text, and in JSON, it is "warning" or "error".
type Severity uint8

// The severities. An error makes a profile unusable, or is what strict reading refuses.
const (
	SeverityWarning Severity = iota // Settings and files can be used as they are.
	SeverityError                   // They cannot, or lint refuses them.
)

// String returns "warning" or "error"; "error" for any other value too.
func (s Severity) String() string { return [...]string{"warning", "error"}[min(s, SeverityError)] }

// MarshalText returns the severity as text.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Diagnostic is one finding about settings or files. Its JSON form is stable.
type Diagnostic struct {
	// Severity is how bad the finding is.
	Severity Severity `json:"severity"`

	// Code names the kind of finding, such as malformed-line or invalid-value. Codes stay the same in later versions, so
	// programs may compare them. docs/settings.md in the repository lists them all, each with an example and a remedy.
	Code string `json:"code"`

	// Message is for people. Of the values in the files it shows only those of retry
	// settings.
	Message string `json:"message"`
	// File is the path of the file that the finding is about, or empty.
	File string `json:"file,omitempty"`
	// Line is the number of the line in File, from 1, or 0 for no line.
	Line int `json:"line,omitempty"`
	// Column is the column in Line at which the finding begins, in characters from 1 and without a byte-order mark, or
	// 0 for no column. A byte that is not UTF-8 counts as a character.
	Column int `json:"column,omitempty"`
	// Tools names the tools that read the line or variable differently: aws-sdk-go-v2, botocore,
	// aws-cli and js. Only findings with the code read-differently have it.
	Tools []string `json:"tools,omitempty"`
}

// String returns "file:line:column: severity: message [code]", without those of the first three that are not set. A path that begins or ends with whitespace is in quotes. Control characters in the path
// and in the message are not escaped.
func (d Diagnostic) String() string {
	text := d.Severity.String() + ": " + d.Message + " [" + d.Code + "]"
	if d.File == "" {
		return text
	}
	text = ": " + text
	for _, n := range [...]int{d.Column, d.Line} {
		if n > 0 {
			text = ":" + strconv.Itoa(n) + text
		}
	}
	return sharedfile.ShownPath(d.File) + text
}
