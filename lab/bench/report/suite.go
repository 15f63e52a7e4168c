package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// suite is a package of benchmarks or runs, built once.
type suite struct {
	name   string
	binary string
	raw    *os.File // what it has printed so far, of this run of report
	start  time.Time
}

const outDir = "out"

// open builds the tests of the package and begins a new file of what they print.
func open(ctx context.Context, name string) (*suite, error) {
	if err := os.MkdirAll(outDir, 0o755); err != nil {
		return nil, err
	}
	s := &suite{name: name, start: clock.System{}.Now()}
	var err error
	if s.binary, err = filepath.Abs(filepath.Join(outDir, name+".test")); err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", s.binary, "./"+name)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building %s: %w", name, err)
	}
	where, err := about(ctx)
	if err != nil {
		return nil, err
	}
	if s.raw, err = os.Create(rawPath(name)); err != nil {
		return nil, err
	}
	_, err = io.WriteString(s.raw, where)
	return s, err
}

// rawPath is where everything that a suite prints is kept.
func rawPath(name string) string { return filepath.Join(outDir, name+".txt") }

// run runs the tests with these arguments and keeps what they print, also if they
// fail.
func (s *suite) run(ctx context.Context, args ...string) error {
	var seen bytes.Buffer
	test := exec.CommandContext(ctx, s.binary, args...)
	test.Dir = s.name
	test.Stdout, test.Stderr = io.MultiWriter(s.raw, &seen), os.Stderr
	if err := test.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", s.name, err, tail(seen.Bytes()))
	}
	return nil
}

// tail is the last lines of an output that ended in a failure.
func tail(text []byte) []byte {
	const most = 2000
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return text
}

// progress says how far it is, and since when.
func (s *suite) progress(format string, args ...any) {
	elapsed := clock.System{}.Now().Sub(s.start).Round(time.Second)
	fmt.Fprintf(os.Stderr, "%8v  %s\n", elapsed, fmt.Sprintf(format, args...))
}

// close leaves what was printed and removes the binary.
func (s *suite) close() {
	_ = s.raw.Close() // everything is written by now
	_ = os.Remove(s.binary)
}
