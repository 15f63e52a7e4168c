package config

import (
	"strconv"
	"strings"
)

// Severity says how bad a finding is.
type Severity string

// Severities.
const (
	// SeverityWarning is for what works, perhaps not as intended.
	SeverityWarning Severity = "warning"
	// SeverityError is for what makes a profile or a file unusable.
	SeverityError Severity = "error"
)

// Codes of diagnostics. They are stable: programs may rely on them.
const (
	// CodeShadowedKey is a setting of the config file that the credentials file overrides.
	CodeShadowedKey = "shadowed-key"
	// CodeMisspeltKey is a key that looks like a retry setting and is none.
	CodeMisspeltKey = "misspelt-key"
	// CodeIndentedKey is a retry setting on an indented line, which belongs to the key above it.
	CodeIndentedKey = "indented-key"
	// CodeDuplicateKey is a key that the same profile has twice in one file.
	CodeDuplicateKey = "duplicate-key"
	// CodeDuplicateSection is a second section for the same profile in one file.
	CodeDuplicateSection = "duplicate-section"
	// CodeDefaultTwice is a [default] that does not count because of a [profile default].
	CodeDefaultTwice = "default-twice"
	// CodeUnusedProfile is a retry setting in a profile other than the one in use.
	CodeUnusedProfile = "unused-profile"
	// CodeIgnoredSection is a retry setting in a section that is no profile.
	CodeIgnoredSection = "ignored-section"
	// CodeInvalidValue is a value that is not accepted: a warning if it lost.
	CodeInvalidValue = "invalid-value"
	// CodeMappedMode is a retry mode of other tools that is read as one of the two.
	CodeMappedMode = "mapped-mode"
	// CodeUnknownNewRetries is an AWS_NEW_RETRIES_2026 that is neither true nor false.
	CodeUnknownNewRetries = "unknown-new-retries"
	// CodeNoEffect is a variable that is set and read by other tools only.
	CodeNoEffect = "no-effect"
	// CodeMissingFile is a file that was named and does not exist.
	CodeMissingFile = "missing-file"
	// CodeUnreadableFile is a file that exists and cannot be read.
	CodeUnreadableFile = "unreadable-file"
	// CodeNoHome is a home directory that was needed and could not be found.
	CodeNoHome = "no-home-directory"
	// CodeParseError is a line that makes its file invalid.
	CodeParseError = "parse-error"
)

// Diagnostic is one finding. File and Line, from 1, are set where it stands in a
// file. The message is for people and holds no value but those of retry settings.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
}

// String gives the finding on one line, "file:line: severity: text [code]",
// without the place if there is none.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File + ":")
		if d.Line > 0 {
			b.WriteString(strconv.Itoa(d.Line) + ":")
		}
		b.WriteString(" ")
	}
	b.WriteString(string(d.Severity) + ": " + d.Message + " [" + d.Code + "]")
	return b.String()
}
