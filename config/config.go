// Package config reads the retry settings that AWS tools share: variables of the
// environment and the two files config and credentials in the directory .aws. It
// knows where every value stood, what it lost to, and what another AWS tool reads
// in its place.
//
// [Resolve] decides the settings of one profile, [Lint] says what is odd in both
// files, and [Profiles] gives everything that AWS tools see in them.
//
// # Dialect
//
// The files are read as AWS tools read them, not as INI and not by the letter of a
// specification. No line makes a file invalid: a malformed line is skipped, and a
// diagnostic names its place. Strict reading makes the first malformed line a
// [*ParseError]. One pass over the bytes finds the sections of the wanted profile;
// its settings are written out in a canonical form that gopkg.in/ini.v1 cannot
// misread, and ini.v1 loads that text of both files. What it says for a key is the
// value that counts.
//
// # Secrets
//
// No error, diagnostic or setting of this package contains the value of a key that
// is not a retry setting. [Profiles] shows other values if asked to, and those of
// secrets never.
//
// All functions may be called by several goroutines at once; nothing is changed
// after it has been returned. The module reads the environment and the system in
// this package only, and only through [Sources].
package config

import (
	"strconv"

	"github.com/awsretry/awsretry/retry"
)

// Mode is the retry mode: which strategy is built. The zero value is not a mode.
type Mode string

// The two modes of AWS tools.
const (
	// ModeStandard retries with backoff and a retry quota.
	ModeStandard Mode = "standard"
	// ModeAdaptive is standard with a send rate that adapts to throttling.
	ModeAdaptive Mode = "adaptive"
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
	Behavior Setting[retry.Behavior] `json:"behavior"`
	// Service is the service that was named, as it was named, or empty.
	Service string `json:"service,omitempty"`
	// Files says where the config file and the credentials file, in this order,
	// were looked for and what became of them.
	Files []FileStatus `json:"files"`
	// Diagnostics are findings that did not keep the settings from being resolved:
	// about the environment, where the files are, and the values of environment and
	// code; then about the config file and the credentials file, by line. Never nil.
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Setting is a value together with where it came from and what it beat.
type Setting[T any] struct {
	Value T `json:"value"`
	// Raw is the text that Value was read from; see [Candidate].
	Raw string `json:"raw"`
	// Origin is where the value came from.
	Origin Origin `json:"origin"`
	// Overridden lists what was also given and lost, the strongest first; of one
	// file at most the last 100 values. The built-in default is not among them.
	// Never nil.
	Overridden []Candidate `json:"overridden"`
}

// Candidate is a value that was given for a setting.
type Candidate struct {
	// Raw is the text as it was given. Of a value that goes over several lines
	// of a file it is the first line, a newline and "...": the other lines may
	// be anything, so they are not kept.
	Raw string `json:"raw"`
	// Valid says whether the text is an acceptable value.
	Valid bool `json:"valid"`
	// Origin is where it stood.
	Origin Origin `json:"origin"`
}

// OriginKind says what kind of place a value came from.
type OriginKind string

// Kinds of origin, the strongest first.
const (
	// OriginOption is an option in code that overrides everything else.
	OriginOption OriginKind = "option"
	// OriginEnvironment is a variable of the environment.
	OriginEnvironment OriginKind = "environment"
	// OriginSharedCredentials is the shared credentials file.
	OriginSharedCredentials OriginKind = "shared-credentials"
	// OriginSharedConfig is the shared config file.
	OriginSharedConfig OriginKind = "shared-config"
	// OriginDefault is a default: one given in code, whose option Name tells, or
	// the built-in one, which has no Name.
	OriginDefault OriginKind = "default"
)

// Origin is the place that a value came from. Members that say nothing about
// its kind are empty: a value of a file has no Name, one of a variable no File.
// The zero value is no place at all.
type Origin struct {
	Kind    OriginKind `json:"kind"`
	Name    string     `json:"name,omitempty"`    // The variable or the option.
	File    string     `json:"file,omitempty"`    // The path as it was opened.
	Line    int        `json:"line,omitempty"`    // From 1.
	Profile string     `json:"profile,omitempty"` // The profile whose section it is in.
	Key     string     `json:"key,omitempty"`     // The key in that section, in lower case.

	prefixed bool // The section is [profile default].
}

// String names the place for people: "path:line: [profile x] key",
// "AWS_RETRY_MODE", "option WithMode" or "built-in default".
func (o Origin) String() string {
	switch o.Kind {
	case OriginSharedConfig, OriginSharedCredentials:
		return o.File + ":" + strconv.Itoa(o.Line) + ": " + o.inFile()
	case OriginEnvironment:
		return o.Name
	case OriginOption:
		return "option " + o.Name
	case OriginDefault:
		if o.Name != "" {
			return "option " + o.Name
		}
		return "built-in default"
	}
	return ""
}

// inFile is the section and the key, as the file in question writes them.
func (o Origin) inFile() string {
	header := "[" + o.Profile + "]"
	if o.Kind == OriginSharedConfig && (o.Profile != defaultProfile || o.prefixed) {
		header = "[profile " + o.Profile + "]"
	}
	return shorten(header) + " " + o.Key
}
