//go:build !race

package pages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tracked returns the paths of the files that git tracks, also of another owner; in a copy without git, those of all
// files.
func tracked(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(".git"); err != nil {
		return paths(t, "")
	}
	list, err := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "-z").Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
}

// TestNoLargeFileIsTracked holds that a clone stays small: no program of a `go build` is below this size.
func TestNoLargeFileIsTracked(t *testing.T) {
	t.Parallel()
	const most = 300_000
	found := tracked(t)
	require.Greater(t, len(found), 500)
	for _, path := range found {
		info, err := os.Stat(path)
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(most), "%s: too large to track", path)
	}
}

// TestTestFilesAreNamedAfterWhatTheyTest holds that x_test.go and x_subject_test.go stand beside x.go, or that x is the
// name of the folder. Folders with tests only, and lab, name them after their subjects.
func TestTestFilesAreNamedAfterWhatTheyTest(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, path := range tracked(t) {
		folder, name := filepath.Split(path)
		subject, isTest := strings.CutSuffix(name, "_test.go")
		if !isTest || strings.HasPrefix(path, "lab/") || subject == "export" || subject == "example" || strings.HasPrefix(subject, "example_") {
			continue
		}
		sources, err := filepath.Glob(folder + "*.go")
		require.NoError(t, err)
		tested := []string{filepath.Base(folder)} // what its name may begin with
		for _, source := range sources {
			if base := strings.TrimSuffix(filepath.Base(source), ".go"); base != "doc" && !strings.HasSuffix(base, "_test") {
				tested = append(tested, base)
			}
		}
		if len(tested) == 1 {
			continue
		}
		checked++
		require.True(t, slices.ContainsFunc(tested, func(of string) bool {
			return subject == of || strings.HasPrefix(subject, of+"_")
		}), "%s: named after none of %v", path, tested)
	}
	require.Greater(t, checked, 100)
}
