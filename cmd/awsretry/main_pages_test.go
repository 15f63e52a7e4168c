//go:build !race

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	shellBlock = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	inlineCode = regexp.MustCompile("`awsretry ([a-z]+)[^`]*`")
)

// readPages returns the text of the pages that show commands, by path.
func readPages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "*/README.md", "lab/bench/README.md"} {
		paths, err := filepath.Glob(filepath.Join("../..", pattern))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			pages[path] = string(text)
		}
	}
	require.Greater(t, len(pages), 15)
	return pages
}

// TestCommandsOfThePagesRun runs every awsretry command of a block for the shell, in an empty folder. Those for the
// checkout in a sentence run in TestCommandsOfThePagesRun of lab/pages, in another folder, so that files need absolute
// paths.
func TestCommandsOfThePagesRun(t *testing.T) {
	pages := readPages(t)
	t.Chdir(t.TempDir())
	ran := 0
	for path, text := range pages {
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(block[1]) {
				line, _, _ = strings.Cut(line, "#")
				if words := strings.Fields(strings.ReplaceAll(line, "'", "")); len(words) > 0 && words[0] == "awsretry" {
					_, errs, status := invoke(t, world(configFile("[default]\nmax_attempts = 4\n"), nil), words[1:]...)
					require.Equal(t, exitFine, status, "%s: %s\n%s", path, line, errs)
					ran++
				}
			}
		}
	}
	require.GreaterOrEqual(t, ran, 3)
}

// TestCommandsThatThePagesNameExist is about commands in a sentence, such as `awsretry help lint`.
func TestCommandsThatThePagesNameExist(t *testing.T) {
	t.Parallel()
	known := commandNames()
	for path, text := range readPages(t) {
		for _, code := range inlineCode.FindAllStringSubmatch(text, -1) {
			require.Contains(t, known, code[1], "%s: %s", path, code[0])
		}
	}
}
