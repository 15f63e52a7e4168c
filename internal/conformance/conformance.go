// Package conformance reads the files of expected behavior that the tests of
// several packages run: the project's own in testdata, and others of the same
// form from a directory that the environment may name.
package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Load reads the file of that name from the testdata folder under root, the way
// from the test to the root of the module, and from the directory extra unless
// that is empty. It calls run in a subtest for each.
func Load[T any](t *testing.T, root, extra, name string, run func(t *testing.T, file T)) {
	t.Helper()
	dirs := map[string]string{"own": filepath.Join(root, "testdata")}
	if extra != "" {
		dirs["shared"] = extra
	}
	for title, dir := range dirs {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			var file T
			if err := json.Unmarshal(text, &file); err != nil {
				t.Fatalf("%s: %v", filepath.Join(dir, name), err)
			}
			run(t, file)
		})
	}
}

// Seconds turns the seconds of a file into a Duration, to the nearest nanosecond.
func Seconds(s float64) time.Duration {
	return time.Duration(s*float64(time.Second) + 0.5)
}
