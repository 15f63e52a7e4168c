package config

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/internal/sharedfile"
)

// Every error text of this package begins with prefix.
const prefix = "config: "

// ValueError reports a bad value of a setting that no stronger value overrides.
type ValueError struct {
	Origin Origin // The place of the value.
	Key    string // The name of the setting: behavior, or as in the JSON form of Settings.
	Raw    string // The value as it was given; see [Candidate].
	Err    error  // What is accepted. Its text begins with "must be".
}

// Error returns "config: place: "value": must be ...". It adds Key to a place in the program, such as "file app.yaml".
// A long value is cut.
func (e *ValueError) Error() string {
	return prefix + e.Origin.of(e.Key) + ": " + sharedfile.Quote(e.Raw) + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *ValueError) Unwrap() error { return e.Err }

// ProfileNotFoundError reports a profile that code or AWS_PROFILE named but neither file has.
type ProfileNotFoundError struct {
	Profile string       // The name of the profile.
	Origin  Origin       // Where the name came from.
	Near    []string     // Up to five similar names of profiles, the nearest first.
	Files   []FileStatus // The two files that were read: config and credentials.

	hint string // A section that is the profile except for its header, or empty.
}

// Error names the profile, the origin of its name, the files that were read, and the profiles with a similar name.
func (e *ProfileNotFoundError) Error() string {
	var files, near []string
	for _, f := range e.Files {
		path := cmp.Or(sharedfile.ShownPath(f.Path), "the "+f.Kind+" file")
		if f.Status != statusLoaded {
			path += " (" + f.Status + ")"
		}
		files = append(files, path)
	}
	for _, name := range e.Near {
		near = append(near, sharedfile.Quote(name))
	}
	text := prefix + e.Origin.String() + ": profile " + sharedfile.Quote(e.Profile) + " not found in " + strings.Join(files, " or ")
	if near != nil {
		text += "; did you mean " + strings.Join(near, " or ")
	}
	if e.hint != "" {
		text += "; " + e.hint
	}
	return text
}

// ParseError reports a malformed line. Only strict reading returns it.
type ParseError struct {
	Kind string // The kind of the file, "config" or "credentials".
	File string // The path of the file.
	Line int    // The number of the line, from 1.
	Msg  string // What was expected.

	// text is the beginning of the line that cannot be a secret: for a section header the text up to the first equals
	// sign or colon, and for a property the key if it is a retry setting or looks like one. It is empty for any other
	// line, because a malformed line may be a secret that was pasted without its key.
	text string
}

// Error returns "config: path:line: "text": what was expected", without an empty text.
func (e *ParseError) Error() string {
	place := prefix + sharedfile.ShownPath(e.File) + ":" + strconv.Itoa(e.Line) + ": "
	if e.text != "" {
		place += sharedfile.Quote(e.text) + ": "
	}
	return place + e.Msg
}

// UnreadableError reports a file that exists but cannot be read.
type UnreadableError struct {
	Kind string // The kind of the file, "config" or "credentials".
	File string // The path of the file.
	Err  error  // The reason: the system's error, or one for a file that is too large or not regular.
}

// Error returns "config: path: cannot be read: the reason".
func (e *UnreadableError) Error() string {
	return prefix + sharedfile.ShownPath(e.File) + ": cannot be read: " + e.Err.Error()
}

// Unwrap returns Err.
func (e *UnreadableError) Unwrap() error { return e.Err }
