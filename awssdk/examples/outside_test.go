package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	readmeProgram  = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")
	readmeCommands = regexp.MustCompile("(?s)```sh\n(go mod init .*?)```")
)

// TestProgramOutsideUsesTheCheckout makes the README's program in a temporary folder, with the README's commands. It
// builds the program offline and does not run it. The list before the build downloads what a workspace needs beyond the
// modules of the tests.
func TestProgramOutsideUsesTheCheckout(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	program, commands := readmeProgram.FindSubmatch(readme), readmeCommands.FindSubmatch(readme)
	require.NotNil(t, program)
	require.NotNil(t, commands)

	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "main.go"), program[1], 0o600))
	do := func(line string, env ...string) {
		words := strings.Fields(line)
		for i, word := range words {
			words[i] = strings.Replace(word, "../awsretry", root, 1)
		}
		command := exec.CommandContext(t.Context(), words[0], words[1:]...)
		command.Dir = outside
		command.Env = append(append(command.Environ(), "GOWORK=", "GOFLAGS="), env...)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
	}
	for line := range strings.Lines(string(commands[1])) {
		if line == "go run .\n" {
			do("go list -deps .")
			line = "go build ."
		}
		do(line, "GOPROXY=off")
	}
	built, err := filepath.Glob(filepath.Join(outside, "tables*"))
	require.NoError(t, err)
	require.Len(t, built, 1)
}
