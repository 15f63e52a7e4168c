// Package config reads the retry settings that AWS tools share: environment variables, and the two files config and
// credentials in the directory .aws. Each value comes with its place and with the values that it beat.
//
// Most programs use this package through [github.com/awsretry/awsretry.Load] and
// [github.com/awsretry/awsretry.Resolve]. Use it directly to check settings files, or if you want more than a strategy.
//
// # Resolving settings
//
// [Query.Resolve] decides the settings of one profile. A [Query] says where to read, which profile to use, and what
// code has set; the zero Query reads the environment and the files of the process. The result is a [Settings]: each
// [Setting] has its value, its [Origin], and every [Candidate] that lost. A [FileStatus] says what became of a file.
// [Settings.Explain] writes it all as text for people.
//
// # Errors
//
// This package says only what makes a value invalid. The errors are [*ValueError], [*ProfileNotFoundError],
// [*UnreadableError] and [*ParseError]; use [errors.AsType] to tell them apart. The command "awsretry lint" says what
// is odd about the files and the variables.
//
// # Dialect
//
// The files are read as AWS tools read them, not as INI and not by the letter of a specification. No line makes a file
// invalid: a malformed line is skipped. Strict reading returns a [*ParseError] for the first malformed line instead.
//
// One pass over the bytes finds the sections of the wanted profile. If they have a key more than once, gopkg.in/ini.v1
// gets the values, but no text that it could misread, and says which counts.
//
// # Secrets
//
// No error or setting contains the value of a key that is not a retry setting.
//
// # Concurrency
//
// All functions and methods are safe for concurrent use, and returned values never change. The module
// reads the environment and the file system for this package alone, and only through [Sources].
package config

import (
	"strconv"
	"time"

	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/retry"
)

// Mode is the retry mode, "standard" or "adaptive". It decides which strategy is built. The empty Mode is invalid.
type Mode string

// The two retry modes of AWS tools.
const (
	modeStandard Mode = "standard"
	modeAdaptive Mode = "adaptive"
)

// Settings says how a client retries, and where each value came from. [Query.Resolve] makes one; the zero Settings has
// no meaning. Settings is plain data that never changes, and its JSON form is stable.
type Settings struct {
	// Profile is the profile of the shared files that was used.
	Profile Setting[string] `json:"profile"`
	// RetryMode is the retry mode.
	RetryMode Setting[Mode] `json:"retry_mode"`
	// MaxAttempts is the number of attempts of one operation, the first one included, from 1 to 2^31-1.
	MaxAttempts Setting[int] `json:"max_attempts"`
	// MaxBackoff is the longest backoff without a hint of the server. MaxBackoff, MinDelay and MaxElapsed come from
	// code or from [Query.Given], never from the environment or the shared files; in JSON their values are nanoseconds.
	MaxBackoff Setting[time.Duration] `json:"max_backoff"`
	// MinDelay is the shortest backoff, or 0 for none.
	MinDelay Setting[time.Duration] `json:"min_delay"`
	// MaxElapsed is how long after the start of an operation its attempts may begin, or 0 for no limit.
	MaxElapsed Setting[time.Duration] `json:"max_elapsed"`
	// Behavior is the generation of behavior.
	Behavior Setting[retry.Behavior] `json:"behavior"`
	// Service is the name of the service as code gave it, or empty.
	Service string `json:"service,omitempty"`
	// Files says where the config file and the credentials file were looked for, in this order, and what became of
	// each.
	Files []FileStatus `json:"files"`
}

// Setting is a value with its origin and with the values that it beat.
type Setting[T any] struct {
	// Value is the value that counts.
	Value T `json:"value"`
	// Raw is the text that Value was read from; see [Candidate].
	Raw string `json:"raw"`
	// Origin is where the value came from.
	Origin Origin `json:"origin"`
	// Overridden lists the values that lost, the strongest first, with at most the last 100 of one file. It leaves out
	// the built-in default. It is never nil.
	Overridden []Candidate `json:"overridden"`
}

// Candidate is a value that was given for a setting. [Candidate.Check] says whether the setting accepts it.
type Candidate struct {
	// Raw is the text as given. If a value spans several lines of a shared file, Raw is the first line, a newline and
	// "...": the other lines may hold a secret, so they are not kept.
	Raw string `json:"raw"`
	// Valid says whether the setting accepts the text.
	Valid bool `json:"valid"`
	// Origin is where the value came from.
	Origin Origin `json:"origin"`

	setting string // The setting that a typed value is for.
	typed   any    // The value, if it is no text.
}

// The kinds of origins, the strongest first.
const (
	originOption            = "option"
	originEnvironment       = "environment"
	originSharedCredentials = "shared-credentials"
	originSharedConfig      = "shared-config"
	originDefault           = "default"
)

// Origin is the place that a value came from. Fields that have no meaning for a kind are empty: a value in a shared
// file has no Name, and one of a variable has no File. The zero Origin is no place.
//
// The kinds are, the strongest first: "option", an option in code that overrides all other places, or a flag or a file
// of the program itself, see Query.Given; "environment", a variable; "shared-credentials" and "shared-config", the two
// files; and "default". A default set by an option in code has the Name of the option, and the built-in one has none.
type Origin struct {
	Kind    string `json:"kind"`              // The kind of place.
	Name    string `json:"name,omitempty"`    // The variable, the option, or the place of Query.Given.
	File    string `json:"file,omitempty"`    // The path as it was opened.
	Line    int    `json:"line,omitempty"`    // The number of the line, from 1.
	Profile string `json:"profile,omitempty"` // The profile that the section in the file is for.
	Key     string `json:"key,omitempty"`     // The key in that section, in lower case; of Query.Given the setting.

	prefixed bool // The header of the section is [profile default].
}

// String returns the place as text for people: "path:line: [profile x] key", "AWS_RETRY_MODE", "option WithMode", "flag
// --max-attempts" or "built-in default".
func (o Origin) String() string {
	switch o.Kind {
	case originSharedConfig, originSharedCredentials:
		return sharedfile.ShownPath(o.File) + ":" + strconv.Itoa(o.Line) + ": " + o.inFile()
	case originEnvironment:
		return o.Name
	case originOption, originDefault:
		switch {
		case o.Key != "":
			return o.Name // of Query.Given, where it is the whole place
		case o.Name != "":
			return "option " + o.Name
		}
		return "built-in default"
	}
	return ""
}

// of returns the place with the name of a setting. A variable, and a line of a file, say which setting is meant.
func (o Origin) of(name string) string {
	if o.Name != "" && o.Kind != originEnvironment {
		return o.String() + ": " + name
	}
	return o.String()
}

// inFile returns the section and the key as the file writes them.
func (o Origin) inFile() string {
	header := "[" + o.Profile + "]"
	if o.Kind == originSharedConfig && (o.Profile != sharedfile.DefaultProfile || o.prefixed) {
		header = "[profile " + o.Profile + "]"
	}
	return sharedfile.Shorten(header) + " " + o.Key
}
