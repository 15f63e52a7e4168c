package main

import (
	"io"
	"os"

	"github.com/awsretry/awsretry/internal/command/trace"
)

// readTraces reads the named file, or standard input for "-".
func readTraces(name string, in io.Reader, service string) ([]*trace.Trace, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, &unreadableTraceError{File: name, Err: err}
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, trace.MaxBytes+1))
	if err != nil {
		return nil, &unreadableTraceError{File: shownName(name), Err: err}
	}
	if trace.IsLog(text) {
		t, err := trace.ReadLog(shownName(name), text, service)
		if err != nil {
			return nil, err
		}
		return []*trace.Trace{t}, nil
	}
	return trace.Read(shownName(name), text, service)
}

// shownName returns the name of a file for errors.
func shownName(name string) string {
	if name == "-" {
		return "<standard input>"
	}
	return name
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
