package awsretry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks returns the fenced blocks of the README in a language, line by line and
// without indentation.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	var found []string
	for i, part := range strings.Split(read(t, "README.md"), "```") {
		if text, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			found = append(found, flat(text))
		}
	}
	require.NotEmpty(t, found)
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func flat(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

func TestCodeOfTheReadmeIsCompiled(t *testing.T) {
	t.Parallel()
	examples := flat(read(t, "example_test.go"))
	for _, block := range blocks(t, "go") {
		require.Contains(t, examples, block)
	}
}

func TestOutputsInTheReadmeArePrinted(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	printed.WriteString(flat(strings.ReplaceAll(read(t, "example_test.go"), "// ", "")))
	for _, pattern := range []string{"examples/quickstart/testdata/*.golden", "cmd/awsretry/testdata/*.golden"} {
		goldens, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, goldens)
		for _, golden := range goldens {
			printed.WriteString("\n" + flat(read(t, golden)))
		}
	}
	for _, block := range blocks(t, "text") {
		require.Contains(t, printed.String(), block)
	}
}
