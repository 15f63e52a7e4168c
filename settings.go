package awsretry

import (
	"strings"

	"github.com/awsretry/awsretry/config"
)

// What settings are made of; see the package config.
type (
	// Mode is the retry mode.
	Mode = config.Mode
	// Behavior is the generation of retry behavior.
	Behavior = config.Behavior
	// Setting is a value, where it came from, and what it beat.
	Setting[T any] = config.Setting[T]
	// Origin is the place that a value came from.
	Origin = config.Origin
	// OriginKind says what kind of place that is.
	OriginKind = config.OriginKind
	// Candidate is a value that somebody gave for a setting.
	Candidate = config.Candidate
	// Diagnostic is a finding about settings or files.
	Diagnostic = config.Diagnostic
	// FileStatus is what became of a shared file.
	FileStatus = config.FileStatus
)

// The modes and the generations of behavior.
const (
	ModeStandard = config.ModeStandard
	ModeAdaptive = config.ModeAdaptive
	BehaviorV20  = config.BehaviorV20
	BehaviorV21  = config.BehaviorV21
)

// Settings is the answer to how a client shall retry, each value with where it
// came from. [Resolve] makes one; the zero value is of no use. It is plain data
// that nothing changes, and its JSON form is stable.
type Settings struct {
	// Profile is the profile of the shared files that was used.
	Profile Setting[string] `json:"profile"`
	// RetryMode is the retry mode.
	RetryMode Setting[Mode] `json:"retry_mode"`
	// MaxAttempts is the number of attempts of one operation, the first
	// included, from 1 to 2^31-1.
	MaxAttempts Setting[int] `json:"max_attempts"`
	// Behavior is the generation of behavior.
	Behavior Setting[Behavior] `json:"behavior"`
	// Service is the service that was named, as it was named, or empty.
	Service string `json:"service,omitempty"`
	// Files says where the config file and the credentials file, in this order,
	// were looked for and what became of them.
	Files []FileStatus `json:"files"`
	// Diagnostics are findings that did not keep the settings from being
	// resolved: about the environment, then the files, then the values. Never nil.
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// StrictError is what [WithStrict] makes of warnings.
type StrictError struct {
	Diagnostics []Diagnostic // At least one.
}

// Error lists all findings, one a line after the first line.
func (e *StrictError) Error() string {
	var b strings.Builder
	b.WriteString("awsretry: strict mode does not accept what was found:")
	for _, d := range e.Diagnostics {
		b.WriteString("\n" + d.String())
	}
	return b.String()
}
