//go:build !race

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// TestCommandsOfThePagesRun runs every awsretry command of a block for the shell, in an empty folder. A file of the
// reader, such as a trace, need not be there: its absence is the only error.
func TestCommandsOfThePagesRun(t *testing.T) {
	pages := readPages(t)
	t.Chdir(t.TempDir())
	ran := 0
	for path, text := range pages {
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(block[1]) {
				line, _, _ = strings.Cut(line, "#")
				words := strings.Fields(strings.Replace(line, "go run ./cmd/awsretry", "awsretry", 1))
				if len(words) == 0 || words[0] != "awsretry" {
					continue
				}
				ran++
				var out, errs bytes.Buffer
				status := run(t.Context(), words[1:], system{
					in: strings.NewReader(""), out: &out, errs: &errs, build: build{Version: "v0.0.0-test"},
					sources: world(map[string]string{"home/me/.aws/config": "[default]\nmax_attempts = 4\n"}, nil),
				})
				if status != exitFine {
					require.Equal(t, exitBad, status, "%s: %s\n%s", path, line, errs.String())
					require.Contains(t, errs.String(), "no such file", "%s: %s", path, line)
				}
			}
		}
	}
	require.GreaterOrEqual(t, ran, 4)
}

// TestCommandsThatThePagesNameExist is about commands in a sentence, such as `awsretry help lint`.
func TestCommandsThatThePagesNameExist(t *testing.T) {
	t.Parallel()
	known := []string{"help"}
	for _, c := range commands() {
		known = append(known, c.name)
	}
	found := 0
	for path, text := range readPages(t) {
		for _, code := range inlineCode.FindAllStringSubmatch(text, -1) {
			require.Contains(t, known, code[1], "%s: %s", path, code[0])
			found++
		}
	}
	require.Greater(t, found, 20)
}

// TestQuestionsOfTheSimulatePageArePlayed holds that the flags of each question have a golden file, which has the shares of
// the answer. An answer may compare with the golden file of one table.
func TestQuestionsOfTheSimulatePageArePlayed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/simulate.md")
	require.NoError(t, err)
	paths, err := filepath.Glob("testdata/simulate-*.golden")
	require.NoError(t, err)
	var goldens []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		goldens = append(goldens, string(text))
	}
	one, err := os.ReadFile("testdata/simulate-one-table.golden")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "| question | flags | answer |")
	table, _, _ = strings.Cut(table, "\n\n")
	questions := regexp.MustCompile("(?m)^\\|[^|]+\\| `(--[^`]+)` \\| (.*) \\|$").FindAllStringSubmatch(table, -1)
	require.Len(t, questions, 10)
	shares := regexp.MustCompile(`(\d+(?:\.\d+)?) (?:\([^)]*\) )?%`)
	compared := 0
	for _, q := range questions {
		at := slices.IndexFunc(goldens, func(golden string) bool { return strings.HasPrefix(golden, "$ awsretry simulate "+q[1]+"\n") })
		require.GreaterOrEqual(t, at, 0, q[1])
		printed := shares.FindAllStringSubmatch(goldens[at]+string(one), -1)
		for _, said := range shares.FindAllStringSubmatch(q[2], -1) {
			compared++
			_, digits, _ := strings.Cut(said[1], ".")
			require.True(t, slices.ContainsFunc(printed, func(share []string) bool {
				v, err := strconv.ParseFloat(share[1], 64)
				return err == nil && strconv.FormatFloat(v, 'f', len(digits), 64) == said[1]
			}), "%s: %s is not in the golden file", q[1], said[0])
		}
	}
	require.Greater(t, compared, 10)
}
