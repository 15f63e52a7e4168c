//go:build !race

package main

import (
	"bytes"
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
	inCheckout = regexp.MustCompile("`(go -C cmd/awsretry run \\. [^`]*)`")
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

// TestCommandsOfThePagesRun runs every awsretry command of a block for the shell, in an empty folder, and those for the
// checkout in a sentence. In the
// checkout "go -C cmd/awsretry run ." stands for the command: another folder, so that files need absolute paths.
func TestCommandsOfThePagesRun(t *testing.T) {
	pages := readPages(t)
	t.Chdir(t.TempDir())
	ran := 0
	for path, text := range pages {
		for _, block := range append(shellBlock.FindAllStringSubmatch(text, -1), inCheckout.FindAllStringSubmatch(text, -1)...) {
			for line := range strings.Lines(block[1]) {
				line, _, _ = strings.Cut(line, "#")
				words := strings.Fields(strings.Replace(strings.ReplaceAll(line, "'", ""), "go -C cmd/awsretry run .", "awsretry", 1))
				if len(words) == 0 || words[0] != "awsretry" {
					continue
				}
				ran++
				var out, errs bytes.Buffer
				status := run(t.Context(), words[1:], system{
					in: strings.NewReader(""), out: &out, errs: &errs, build: build{Version: "v0.0.0-test"},
					sources: world(map[string]string{"home/me/.aws/config": "[default]\nmax_attempts = 4\n"}, nil),
				})
				require.Equal(t, exitFine, status, "%s: %s\n%s", path, line, errs.String())
				if strings.Contains(line, "go -C") {
					require.NotRegexp(t, ` [^-/\s]\S*\.(html|json)`, line, "%s: a path that is not absolute", path)
				}
			}
		}
	}
	require.GreaterOrEqual(t, ran, 4)
}

// TestCommandsThatThePagesNameExist is about commands in a sentence, such as `awsretry help lint`.
func TestCommandsThatThePagesNameExist(t *testing.T) {
	t.Parallel()
	known := commandNames()
	found := 0
	for path, text := range readPages(t) {
		for _, code := range inlineCode.FindAllStringSubmatch(text, -1) {
			require.Contains(t, known, code[1], "%s: %s", path, code[0])
			found++
		}
	}
	require.Greater(t, found, 20)
}
