package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompletionOffersWhatMayStandAtTheCursor(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"home/me/.aws/config": configText + "[profile my team]\n[profile \x1b[31m]\n", "home/me/.aws/credentials": credentialsText,
		"other": "[profile elsewhere]\n",
	}
	for name, c := range map[string]struct {
		words []string
		want  []string
	}{
		"the commands":            {[]string{""}, []string{"explain", "lint", "profiles", "classify", "simulate", "completion", "version", "help", "--help", "--version"}},
		"no word":                 {nil, []string{"explain", "lint", "profiles", "classify", "simulate", "completion", "version", "help", "--help", "--version"}},
		"the beginning of one":    {[]string{"ex"}, []string{"explain"}},
		"of help":                 {[]string{"help", "l"}, []string{"lint"}},
		"flags":                   {[]string{"lint", "-"}, []string{"--help", "--config-file", "--credentials-file", "--json", "--service", "--strict"}},
		"the beginning of a flag": {[]string{"explain", "--profile", "prod", "--b"}, []string{"--behavior"}},
		"a flag of one letter":    {[]string{"simulate", "-o"}, []string{"-o"}},
		"profiles":                {[]string{"explain", "--profile", ""}, []string{"default", "my team", "old", "prod"}},
		"profiles, with one dash": {[]string{"explain", "-profile", "p"}, []string{"prod"}},
		"a profile in one word":   {[]string{"simulate", "--profile=p"}, []string{"--profile=prod"}},
		"a profile in three":      {[]string{"explain", "--profile", "=", "o"}, []string{"old"}},
		"profiles of a file":      {[]string{"explain", "--config-file", "/other", "--credentials-file", "/none", "--profile", ""}, []string{"elsewhere"}},
		"behaviors":               {[]string{"explain", "--behavior", ""}, []string{"v2.0", "v2.1"}},
		"services":                {[]string{"explain", "--service", "dynamo"}, []string{"dynamodb", "dynamodb-streams"}},
		"models":                  {[]string{"classify", "--modeled", "r"}, []string{"retryable"}},
		"kinds":                   {[]string{"classify", "--transport", "dns_t"}, []string{"dns_temporary", "dns_timeout"}},
		"shells":                  {[]string{"completion", ""}, []string{"bash", "zsh", "fish"}},
		"the file of a flag":      {[]string{"lint", "--config-file", ""}, nil},
		"behind a switch":         {[]string{"lint", "--strict", ""}, nil},
		"a flag that is unknown":  {[]string{"lint", "--what", "--s"}, []string{"--service", "--strict"}},
		"an unknown command":      {[]string{"explode", ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			require.Zero(t, run(t.Context(), append([]string{"__complete"}, c.words...), system{out: &out, errs: &errs, sources: world(files, nil)}))
			require.Empty(t, errs.String())
			require.ElementsMatch(t, c.want, strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' }))
		})
	}
}

// script writes the script of a shell into a file, beside a program awsretry that is this process,
// and returns the environment that finds both.
func script(t *testing.T, shell string) (path string, env []string) {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"completion", shell}, system{out: &out}))
	path = filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	program := "#!/bin/sh\nAWSRETRY_TEST_COMMAND=1 exec '" + self + "' \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "awsretry"), []byte(program), 0o700)) //nolint:gosec // It is a program.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config"), []byte("[profile my team]\n[profile prod]\n"), 0o600))
	return path, []string{
		"PATH=" + dir + string(os.PathListSeparator) + "/usr/bin" + string(os.PathListSeparator) + "/bin", "HOME=" + dir,
		"AWS_CONFIG_FILE=" + filepath.Join(dir, "config"),
	}
}

// inShell runs a shell that must be installed.
func inShell(t *testing.T, env []string, shell string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath(shell)
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "%s is not installed: run lab/scripts/shells", shell)
		t.Skip(shell + " is not installed")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestEachShellParsesItsScript(t *testing.T) {
	t.Parallel()
	for _, shell := range shells() {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, env := script(t, shell)
			require.Empty(t, inShell(t, env, shell, "-n", path))
		})
	}
}

func TestBashCompletes(t *testing.T) {
	t.Parallel()
	path, env := script(t, "bash")
	const ask = `source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _awsretry awsretry; printf '%s\n' "${COMPREPLY[@]}"`
	complete := func(words ...string) string {
		return inShell(t, env, "bash", append([]string{"-c", ask, "bash", path}, words...)...)
	}
	require.Equal(t, "explain\n", complete("awsretry", "ex"))
	require.Equal(t, "my\\ team\nprod\n", complete("awsretry", "explain", "--profile", ""))
	require.Equal(t, "prod\n", complete("awsretry", "explain", "--profile", "=", "p"))
	require.Equal(t, "\n", complete("awsretry", "replay", ""))
}

func TestFishCompletes(t *testing.T) {
	t.Parallel()
	path, env := script(t, "fish")
	complete := func(line string) string {
		return inShell(t, env, "fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", path, line)
	}
	require.Equal(t, "explain\n", complete("awsretry ex"))
	require.Equal(t, "my team\nprod\n", complete("awsretry explain --profile "))
	require.Equal(t, "--profile=prod\n", complete("awsretry explain --profile=p"))
	require.Contains(t, complete("awsretry replay "+filepath.Dir(path)+"/"), "config", "files")
}

// The widget of zsh needs a terminal, so the test puts a compadd of its own in the place of zsh's.
func TestZshCompletes(t *testing.T) {
	t.Parallel()
	path, env := script(t, "zsh")
	const ask = `compdef() { :; }; _files() { print -l files; }
compadd() { print -l -- "${(@P)2}"; }
source "$1"; shift; words=("$@"); CURRENT=$#; _awsretry`
	complete := func(words ...string) string {
		return inShell(t, env, "zsh", append([]string{"-f", "-c", ask, "zsh", path}, words...)...)
	}
	require.Equal(t, "explain\n", complete("awsretry", "ex"))
	require.Equal(t, "my team\nprod\n", complete("awsretry", "explain", "--profile", ""))
	require.Equal(t, "files\n", complete("awsretry", "replay", ""))
}
