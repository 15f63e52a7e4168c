// Package vectors reads the files of expected behavior that the tests of several packages
// share: those in testdata, and files of the same form in a directory that the environment may
// name.
package vectors

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Load reads the file of that name from the folder testdata of the repository and, if AWSRETRY_CONFORMANCE names a
// directory, from that. The contents are "own" and "shared" in the result. The part of [CrossChecks] with the same form,
// if there is one, is "public".
func Load[T any](t *testing.T, name string) map[string]T {
	t.Helper()
	files := map[string]T{"own": read[T](t, inTestdata(t, name))}
	if shared := os.Getenv("AWSRETRY_CONFORMANCE"); shared != "" {
		files["shared"] = read[T](t, filepath.Join(shared, name))
	}
	if part := ReadCrossChecks(t).part(name); part != nil {
		public, err := Decode[T](part)
		if err != nil {
			t.Fatalf("the part of cross-checks.json with the form of %s: %v", name, err)
		}
		files["public"] = public
	}
	return files
}

// inTestdata returns the path of a file of vectors from the folder of the test, which may be one of another module.
func inTestdata(t *testing.T, name string) string {
	t.Helper()
	for root := "."; len(root) < 100; root = filepath.Join(root, "..") {
		path := filepath.Join(root, "testdata", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatalf("no folder above has testdata/%s", name)
	return ""
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

// Decode reads the text of a file or of a part of a file. A member that T does not have is an
// error, so that no test misses a new kind of expectation.
func Decode[T any](text []byte) (value T, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&value)
	return value, err
}

// About describes a file. No test depends on it.
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

// Case describes a case. It holds no expectation.
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

// Precision says by how much a number may differ from the wanted one.
type Precision struct {
	// Tolerance is relative to the wanted number. If that is 0, Tolerance is absolute. Nil
	// means 1e-9.
	Tolerance *float64 `json:"tolerance"`
}

// defaultTolerance is the tolerance of a case without one.
const defaultTolerance = 1e-9

// Within returns the tolerance of the case.
func (p Precision) Within() float64 {
	if p.Tolerance == nil {
		return defaultTolerance
	}
	return *p.Tolerance
}

// Near reports whether a number differs from the wanted one by no more than the tolerance.
func (p Precision) Near(want, got float64) bool {
	limit := p.Within()
	if want != 0 {
		limit *= math.Abs(want)
	}
	return math.Abs(got-want) <= limit
}

// Int returns the number as an int. For a number that an int of this machine cannot hold, it
// returns the largest or smallest int.
func Int(n int64) int { return int(max(math.MinInt, min(n, math.MaxInt))) }
