//go:build !race

package pages_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks returns the fenced blocks of a language in the README and in docs. Their lines have no
// indentation.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	var found []string
	for _, page := range append(pages, "README.md") {
		for i, part := range strings.Split(read(t, page), "```") {
			if text, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
				found = append(found, flat(text))
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}

// files returns the text of the files that match the patterns. Its lines have no indentation.
func files(t *testing.T, patterns ...string) string {
	t.Helper()
	var text strings.Builder
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			text.WriteString(flat(read(t, path)) + "\n")
		}
	}
	return text.String()
}

func flat(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// examples returns the code of all examples that are tests.
func examples(t *testing.T) string {
	t.Helper()
	return files(t, "example*_test.go", "*/example*_test.go", "metrics/*/example*_test.go", "lab/telemetry/example*_test.go",
		"modes/*/example*_test.go", "examples/ten/*_test.go", "fleet/redisstore/example*_test.go", "lab/sdktest/example*_test.go", "lab/anyfunction/example*_test.go")
}

func TestCodeOfThePagesIsCompiled(t *testing.T) {
	t.Parallel()
	compiled := examples(t) + files(t, "examples/*/main.go", "lab/sdktest/*/main.go", "lab/sdktest/adopters/*.go")
	for _, block := range blocks(t, "go") {
		if !strings.Contains(compiled, block) {
			require.Fail(t, "no example has this block", block)
		}
	}
}

func TestOutputsInThePagesArePrinted(t *testing.T) {
	t.Parallel()
	printed := flat(strings.ReplaceAll(examples(t), "// ", "")) +
		files(t, "examples/*/testdata/*.golden", "cmd/awsretry/testdata/*.golden", "fleet/example/testdata/*.golden")
	for _, block := range blocks(t, "text") {
		if !strings.Contains(printed, block) {
			require.Fail(t, "no golden file and no example has this block", block)
		}
	}
}
