package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramRetriesOneFailure runs the program as it is, against a service that fails once.
func TestProgramRetriesOneFailure(t *testing.T) {
	requests := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"TableNames": ["orders", "users"]}`)
	}))
	defer service.Close()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": service.URL, "AWS_REGION": "eu-central-1",
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "", "AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	read, write, err := os.Pipe()
	require.NoError(t, err)
	stdout := os.Stdout
	os.Stdout = write
	main()
	os.Stdout = stdout
	require.NoError(t, write.Close())
	printed, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Equal(t, "[orders users]\n", string(printed))
	require.Equal(t, 2, requests)
}

var (
	readmeProgram  = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")
	readmeCommands = regexp.MustCompile("(?s)```sh\n(go mod init .*?)```")
)

// TestProgramOutsideUsesTheCheckout makes the README's program in a temporary folder, with the README's commands. It gets
// the client that lab requires, builds the program offline and does not run it. The list before the build downloads what a
// workspace needs beyond the modules of the tests.
func TestProgramOutsideUsesTheCheckout(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	program, commands := readmeProgram.FindSubmatch(readme), readmeCommands.FindSubmatch(readme)
	require.NotNil(t, program)
	require.NotNil(t, commands)

	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "main.go"), program[1], 0o600))
	do := func(folder, line string, env ...string) (printed string) {
		words := strings.Fields(line)
		for i, word := range words {
			words[i] = strings.Replace(word, "../awsretry", root, 1)
		}
		command := exec.CommandContext(t.Context(), words[0], words[1:]...)
		command.Dir = folder
		command.Env = append(append(command.Environ(), "GOWORK=", "GOFLAGS="), env...)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s\n%s", line, out)
		return strings.TrimSpace(string(out))
	}
	for line := range strings.Lines(string(commands[1])) {
		line = strings.TrimSpace(line)
		client, isGet := strings.CutPrefix(line, "go get ")
		switch {
		case isGet:
			do(outside, line+"@"+do(".", "go list -m -f {{.Version}} "+client, "GOWORK=off"))
		case line == "go run .":
			do(outside, "go list -deps .")
			do(outside, "go build .", "GOPROXY=off")
		default:
			do(outside, line, "GOPROXY=off")
		}
	}
	built, err := filepath.Glob(filepath.Join(outside, "tables*"))
	require.NoError(t, err)
	require.Len(t, built, 1)
}
