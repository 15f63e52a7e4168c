// Package conformance reads the files of expected behavior that the tests of
// several packages run: the project's own in testdata, and others of the same
// form from a directory that the environment may name.
package conformance

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Load reads the file of that name from the testdata folder under root, the way
// from the test to the root of the module, and from the directory extra unless
// that is empty. It returns their contents as "own" and "shared".
func Load[T any](t *testing.T, root, extra, name string) map[string]T {
	t.Helper()
	files := map[string]T{"own": read[T](t, filepath.Join(root, "testdata", name))}
	if extra != "" {
		files["shared"] = read[T](t, filepath.Join(extra, name))
	}
	return files
}

func read[T any](t *testing.T, path string) (file T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err = Decode[T](text)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return file
}

// Decode reads the text of a file, or of a part of one. A member that T does not
// know is an error, so that no test passes over a new kind of expectation.
func Decode[T any](text []byte) (value T, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&value)
	return value, err
}

// About is what a file says of itself. No test depends on it.
type About struct {
	Kind           string          `json:"kind"`
	Version        int             `json:"format_version"`
	Text           string          `json:"about"`
	Description    string          `json:"description"`
	Rules          json.RawMessage `json:"rules"`
	Defaults       json.RawMessage `json:"defaults"`
	CarrierSources json.RawMessage `json:"carrier_sources"`
	ClockSkew      json.RawMessage `json:"clock_skew"`
}

// Case is what a case says of itself. No expectation is in it.
type Case struct {
	ID           string          `json:"id"`
	Title        string          `json:"title"`
	Note         string          `json:"note"`
	Rules        []string        `json:"rules"`
	Origin       string          `json:"origin"`
	Source       json.RawMessage `json:"source"`
	CarriedBy    json.RawMessage `json:"carried_by"`
	RetriedBy    json.RawMessage `json:"retried_by"`
	DefaultGroup json.RawMessage `json:"default_group"`
	Disputed     json.RawMessage `json:"disputed"`
}

// Precision is how near the numbers of a case have to be met.
type Precision struct {
	// Tolerance is relative to the number that the case names, and absolute where
	// that is 0.
	Tolerance *float64 `json:"tolerance"`
}

// defaultTolerance is that of a case that names none.
const defaultTolerance = 1e-9

// Within returns the tolerance of the case.
func (p Precision) Within() float64 {
	if p.Tolerance == nil {
		return defaultTolerance
	}
	return *p.Tolerance
}

// Near reports whether a number is as near to the wanted one as the case asks.
func (p Precision) Near(want, got float64) bool {
	limit := p.Within()
	if want != 0 {
		limit *= math.Abs(want)
	}
	return math.Abs(got-want) <= limit
}

// Int returns the number as an int; one that an int of this machine does not hold is
// the largest or smallest that there is, as for a caller who counts no further.
func Int(n int64) int { return int(max(math.MinInt, min(n, math.MaxInt))) }

// Seconds turns the seconds of a file into a Duration, to the nearest nanosecond.
func Seconds(s float64) time.Duration {
	return time.Duration(math.Round(s * float64(time.Second)))
}
