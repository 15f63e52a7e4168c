//go:build !race

package pages_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	for _, page := range readersPages(t) {
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
