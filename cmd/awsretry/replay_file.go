package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
)

// traceFile is a file that can be read several times from any offset.
type traceFile struct {
	io.ReaderAt
	name  string
	close func()
}

// openTrace opens the file of that name, or standard input for "-". It copies a file that cannot
// be read twice to a temporary file.
func openTrace(name string, in io.Reader) (*traceFile, error) {
	if name == "-" {
		return copyTrace("<standard input>", in)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, &unreadableTraceError{File: name, Err: err}
	}
	done := func() { _ = file.Close() }
	info, err := file.Stat()
	switch {
	case err == nil && info.Mode().IsRegular():
		return &traceFile{ReaderAt: file, name: name, close: done}, nil
	case err == nil && info.IsDir():
		err = &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	defer done()
	if err != nil {
		return nil, &unreadableTraceError{File: name, Err: err}
	}
	return copyTrace(name, file)
}

func copyTrace(name string, in io.Reader) (*traceFile, error) {
	file, err := os.CreateTemp("", "awsretry-replay-")
	if err != nil {
		return nil, err
	}
	remove := func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}
	if _, err := io.Copy(file, in); err != nil {
		remove()
		return nil, &unreadableTraceError{File: name, Err: err}
	}
	return &traceFile{ReaderAt: file, name: name, close: remove}, nil
}

// line returns the number of the line of the first value that begins at the offset or behind it.
// If there is no such value, it returns the line of the offset.
func (f *traceFile) line(offset int64) int {
	in := bufio.NewReader(io.NewSectionReader(f, 0, math.MaxInt64))
	line, further := 1, 0
	for at := int64(0); ; at++ {
		b, err := in.ReadByte()
		switch {
		case err != nil:
			return line
		case at >= offset && !separates(b):
			return line + further
		case b != '\n':
		case at < offset:
			line++
		default:
			further++
		}
	}
}

// separates reports whether a byte may stand between two values of JSON.
func separates(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', ',', ':':
		return true
	default:
		return false
	}
}

// traceError is an error in a trace, with its place.
type traceError struct {
	File string
	Line int
	// Field is the path from the trace to the value, such as
	// "steps[3].response.status". It is empty for the trace itself.
	Field   string
	Problem string
}

// Error returns the place and what is wrong.
func (e *traceError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Field, e.Problem)
}

// unreadableTraceError reports a trace file that cannot be read.
type unreadableTraceError struct {
	File string
	Err  error
}

// Error returns the text of the system's error.
func (e *unreadableTraceError) Error() string { return "reading the trace: " + e.Err.Error() }

// Unwrap returns the system's error.
func (e *unreadableTraceError) Unwrap() error { return e.Err }
