// Package conformance reads the files of expected behavior that the tests of
// several packages run: the project's own in testdata, and others of the same
// form from a directory that the environment may name.
package conformance

import (
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
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return file
}

// Seconds turns the seconds of a file into a Duration, to the nearest nanosecond.
func Seconds(s float64) time.Duration {
	return time.Duration(math.Round(s * float64(time.Second)))
}
