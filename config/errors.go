package config

import (
	"errors"
	"strconv"
	"strings"
)

// Why a file cannot be read, for errors.Is; each is the Err of an [UnreadableError].
var (
	// ErrNotRegular is for a directory, a pipe, a socket or a device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is for a file of more than 16 MiB, which is refused unread.
	ErrTooLarge = errors.New("too large")
)

// ValueError reports an invalid value for the setting that takes effect. Its text
// names the place, the value, cut to a readable length, and what is accepted.
type ValueError struct {
	Origin Origin
	Key    string // The setting, as the shared files name it, or behavior.
	Raw    string // See [Candidate].
	Err    error  // What is accepted, such as [ErrMode].
}

// Error gives "place: "value": what is accepted".
func (e *ValueError) Error() string {
	return e.Origin.String() + ": " + quote(e.Raw) + ": " + e.Err.Error()
}

// Unwrap gives what is accepted.
func (e *ValueError) Unwrap() error { return e.Err }

// ProfileNotFoundError reports a profile that code or a variable named and that
// neither file has.
type ProfileNotFoundError struct {
	Profile string
	Origin  Origin       // Where the name came from.
	Near    []string     // Names of profiles that look like it, the nearest first; at most five.
	Hint    string       // What may have gone wrong, or empty.
	Files   []FileStatus // Where the profile was looked for.
}

// Error names the profile, where its name came from, where it was looked for, and
// what may have been meant.
func (e *ProfileNotFoundError) Error() string {
	var b strings.Builder
	b.WriteString(e.Origin.String() + ": profile " + quote(e.Profile) + " not found in")
	for i, f := range e.Files {
		if i > 0 {
			b.WriteString(" or")
		}
		path := f.Path
		if path == "" {
			path = "the " + string(f.Kind) + " file"
		}
		b.WriteString(" " + path)
		if f.Status != StatusLoaded {
			b.WriteString(" (" + string(f.Status) + ")")
		}
	}
	for i, name := range e.Near {
		if i == 0 {
			b.WriteString("; did you mean")
		} else {
			b.WriteString(" or")
		}
		b.WriteString(" " + quote(name))
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// ParseError reports a malformed line, which only strict reading refuses.
//
// Text is the beginning of the line where that cannot be a secret: a section
// header up to its first equals sign or colon, and the key of a line if that is a
// retry setting or looks like one. It is empty for any other line, since a malformed
// line may be a key pasted on its own, in whole or up to the equals signs that end
// it.
type ParseError struct {
	Kind FileKind
	File string
	Line int // From 1.
	Text string
	Msg  string // What was expected.
}

// Error gives "path:line: "text": what was expected", without an empty text.
func (e *ParseError) Error() string {
	return e.File + ":" + strconv.Itoa(e.Line) + ": " + e.detail()
}

func (e *ParseError) detail() string {
	if e.Text == "" {
		return e.Msg
	}
	return quote(e.Text) + ": " + e.Msg
}

// UnreadableError reports a file that exists and cannot be read.
type UnreadableError struct {
	Kind FileKind
	File string
	Size int64 // Bytes, as far as known; set with [ErrTooLarge].
	Err  error // [ErrNotRegular], [ErrTooLarge] or the system's error.
}

// Error names the file and the reason, and with [ErrTooLarge] size and limit.
func (e *UnreadableError) Error() string {
	text := e.File + ": cannot be read: " + e.Err.Error()
	if errors.Is(e.Err, ErrTooLarge) {
		text += ": at least " + strconv.FormatInt(e.Size, 10) +
			" bytes, the limit is " + strconv.Itoa(maxFileSize)
	}
	return text
}

// Unwrap gives the reason.
func (e *UnreadableError) Unwrap() error { return e.Err }
