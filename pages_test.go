//go:build !race

package awsretry_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	mostWords      = 30_000 // in readersPages
	mostWordsAPage = 3_500
)

// readersPages returns the pages that users and contributors read: README.md, CONTRIBUTING.md, docs, and the README.md
// of each module.
func readersPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range markdown(t) {
		folder, name := filepath.Split(page)
		_, err := os.Stat(filepath.Join(folder, "go.mod"))
		if name == "README.md" && err == nil {
			pages = append(pages, page)
		}
	}
	return append(pages, "CONTRIBUTING.md")
}

func TestPagesHaveFewWords(t *testing.T) {
	t.Parallel()
	all := 0
	pages := readersPages(t)
	for _, page := range append(pages, "lab/bench/README.md") {
		words := len(strings.Fields(read(t, page)))
		t.Logf("%5d %s", words, page)
		if slices.Contains(pages, page) {
			all += words
		}
		require.LessOrEqual(t, words, mostWordsAPage, page)
	}
	t.Logf("%5d in all", all)
	require.LessOrEqual(t, all, mostWords)
}

// TestListOfPagesIsComplete holds that docs/README.md fits a screen and names every page.
func TestListOfPagesIsComplete(t *testing.T) {
	t.Parallel()
	list := read(t, "docs/README.md")
	require.LessOrEqual(t, strings.Count(list, "\n"), 60)
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" {
			require.Regexp(t, `(?m)^\| \[[^\]]+\]\(`+regexp.QuoteMeta(name)+`\) \|`, list)
		}
	}
}

var (
	shellBlock = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	goRun      = regexp.MustCompile(`(?:^|\s)go run (\./\S+)`)
)

// TestShellCommandsOfThePagesExist holds that what a block for the shell runs with make or go run is there, and that
// tests run these programs. The tests of the command run what it is given.
func TestShellCommandsOfThePagesExist(t *testing.T) {
	t.Parallel()
	targets := read(t, "Makefile")
	found := 0
	for _, page := range append(readersPages(t), "lab/bench/README.md") {
		for _, block := range shellBlock.FindAllStringSubmatch(read(t, page), -1) {
			folder := "."
			for line := range strings.Lines(block[1]) {
				line, _, _ = strings.Cut(line, "#")
				words := strings.Fields(line)
				switch {
				case len(words) == 2 && words[0] == "cd":
					folder = words[1]
				case len(words) > 1 && words[0] == "make":
					for _, target := range words[1:] {
						require.Contains(t, targets, "\n"+target+":", "%s: %s", page, line)
					}
					found++
				case goRun.MatchString(line):
					program := filepath.Join(folder, goRun.FindStringSubmatch(line)[1])
					require.FileExists(t, filepath.Join(program, "main.go"), "%s: %s", page, line)
					require.FileExists(t, filepath.Join(program, "main_test.go"), "%s: %s", page, line)
					found++
				}
			}
		}
	}
	require.Greater(t, found, 5)
}

// TestPagesBeginWithSomethingThatRuns holds that the first block of a page, which a reader copies first, comes before
// its second heading. README.md and the list of pages begin so too.
func TestPagesBeginWithSomethingThatRuns(t *testing.T) {
	t.Parallel()
	for _, page := range readersPages(t) {
		if page == "CONTRIBUTING.md" || page == "docs/recipes.md" {
			continue // a table of commands, a table of programs
		}
		begin, _, _ := strings.Cut(read(t, page), "\n## ")
		require.Contains(t, begin, "```", page)
	}
}
