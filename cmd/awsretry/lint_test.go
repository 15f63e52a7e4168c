package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLintOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		files, env map[string]string
	}{
		{name: "lint", args: "lint", files: bothFiles()},
		{name: "lint-json", args: "lint --json", files: bothFiles()},
		{name: "lint-good", args: "lint --strict", files: goodFile()},
		{name: "lint-warning", args: "lint", files: map[string]string{"home/me/.aws/config": "[default]\nretry-mode = x\n"}},
		{name: "lint-warning-strict", args: "lint --strict", files: map[string]string{"home/me/.aws/config": "[default]\nretry-mode = x\n"}},
		{name: "lint-broken", args: "lint", files: brokenFile()},
		{name: "lint-broken-strict", args: "lint --strict --json", files: brokenFile()},
		{name: "lint-no-profile", args: "lint", files: map[string]string{"home/me/.aws/config": "[prod]\nretry_mode = adaptive\n"}},
		{name: "lint-missing-file", args: "lint --config-file /nowhere"},
		{name: "lint-missing-file-of-variable", args: "lint --json", env: map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "/nowhere"}},
		{name: "lint-bad-variable", args: "lint", env: map[string]string{"AWS_MAX_ATTEMPTS": "ten", "AWS_RETRY_MODE": "foo"}},
		{name: "lint-escapes", args: "lint", files: unusualFiles()},
		{name: "lint-escapes-json", args: "lint --json", files: unusualFiles()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireOutput(t, c.name, c.args, world(c.files, c.env))
		})
	}
}

// Each of these reads the config file, once or several times.
func TestDashIsStandardInput(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"lint --config-file -":                         `-:2: error: [default] max_attempts: "x": must be`,
		"lint --config-file - --json":                  `"file":"-","line":2`,
		"profiles --config-file - --show-values":       "max_attempts = x",
		"explain --config-file -":                      `-:2: [default] max_attempts`,
		"profiles --show-values --credentials-file - ": "max_attempts = x",
		"simulate --config-file - --vs v2.0":           `-:2: [default] max_attempts`,
	} {
		var out bytes.Buffer
		status := run(t.Context(), strings.Fields(args), system{
			in: strings.NewReader("[default]\nmax_attempts = x\n"), out: &out, errs: &out, sources: world(nil, nil),
		})
		require.Contains(t, out.String(), want, args)
		require.Equal(t, strings.HasPrefix(args, "profiles"), status == exitFine, args)
	}
}

func TestPipeIsReadOnce(t *testing.T) {
	t.Parallel()
	in, write, err := os.Pipe()
	require.NoError(t, err)
	_, err = write.WriteString("[default]\nmax_attempts = 7\n")
	require.NoError(t, err)
	require.NoError(t, write.Close())
	c := &call{system: system{in: in}}
	for range 2 {
		text, err := c.stream("-", 100)
		require.NoError(t, err)
		require.Equal(t, "[default]\nmax_attempts = 7\n", text)
	}
}
