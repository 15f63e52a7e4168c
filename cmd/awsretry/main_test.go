package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	configText = `# what the team shares
[default]
region = eu-central-1
retry_mode = standard

[profile prod]
retry_mode = Adaptive
max_attempts = 7
max-attempts = 9
s3 =
  max_concurrent_requests = 20
  addressing_style = path

[profile old]
retry_mode = legacy
max_attempts = ten
`
	credentialsText = `[prod]
aws_access_key_id = AKIAEXAMPLEEXAMPLE00
aws_secret_access_key = notarealsecretnotarealsecretnotareals
aws_session_token = notarealtoken
max_attempts = 5
`
)

// world returns sources with these files and this environment.
func world(files map[string]string, env map[string]string) config.Sources {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return config.Sources{
		FS: sharedfile.Machine{FS: fsys, Platform: "linux"},
		LookupEnv: func(name string) (string, bool) {
			value, ok := env[name]
			if name == "HOME" && !ok {
				return "/home/me", true
			}
			return value, ok
		},
	}
}

// bothFiles are the shared files of a team.
func bothFiles() map[string]string {
	return map[string]string{"home/me/.aws/config": configText, "home/me/.aws/credentials": credentialsText}
}

// configFile are the shared files of a machine with a config file alone.
func configFile(text string) map[string]string {
	return map[string]string{"home/me/.aws/config": text}
}

// unusualFiles have control characters, and what some tools read in another way.
func unusualFiles() map[string]string {
	return map[string]string{
		"home/me/.aws/config": "\ufeff[profile a\x1b[31m]\nregion = e\x07u\n  \u202eline\nretry_mode: Adaptive\n" +
			"[default]\nmax_attempts = 010 # ten\nx\n",
		"home/me/.aws/credentials": "[tool]\nlogin =\n  password = 1\ncommand = run\n  --client_secret = notarealsecret\n",
	}
}

// invoke runs the command with these sources, and returns its output and its exit status.
func invoke(t *testing.T, sources config.Sources, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), args, system{
		in: strings.NewReader(""), out: &o, errs: &e, build: build{Version: "v0.0.0-test"}, sources: sources,
	})
	return o.String(), e.String(), status
}

// runSimulate runs simulate with a profile that has settings.
func runSimulate(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	return invoke(t, world(bothFiles(), nil), append([]string{"simulate"}, args...)...)
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	want, err := os.ReadFile(path)
	if *update && string(want) != got { // others may read what stays as it is
		want, err = []byte(got), os.WriteFile(path, []byte(got), 0o600)
	}
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// requireOutput compares what a command prints, and its exit status, with a golden file.
func requireOutput(t *testing.T, name, args string, sources config.Sources) {
	t.Helper()
	out, errs, status := invoke(t, sources, strings.Fields(args)...)
	for _, secret := range []string{"AKIAEXAMPLE", "notareal"} {
		require.NotContains(t, out+errs, secret)
	}
	requireGolden(t, name, fmt.Sprintf("$ awsretry %s\n%s--- stderr\n%s--- exit %d\n", args, out, errs, status))
}

func TestOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		files, env map[string]string
	}{
		{name: "help", args: "help"},
		{name: "classify-help", args: "classify -h"},
		{name: "explain-prod", args: "explain --profile prod", files: bothFiles(), env: map[string]string{"AWS_MAX_ATTEMPTS": " +010 "}},
		{name: "explain-prod-json", args: "explain --profile prod --json", files: bothFiles(), env: map[string]string{"AWS_MAX_ATTEMPTS": " +010 "}},
		{name: "explain-tools", args: "explain --profile prod --tools", files: bothFiles()},
		{name: "explain-tools-json", args: "explain --tools --json", files: unusualFiles()},
		{name: "explain-dynamodb", args: "explain --service dynamodb", files: configFile("[default]\nmax_attempts = 4\n"), env: map[string]string{"AWS_RETRY_MODE": "adaptive"}},
		{name: "explain-v20", args: "explain --behavior v2.0 --service dynamodb"},
		{name: "explain-escapes", args: "explain", files: unusualFiles()},
		{name: "explain-one-attempt", args: "explain", env: map[string]string{"AWS_MAX_ATTEMPTS": "1"}},
		{name: "explain-many-attempts", args: "explain", env: map[string]string{"AWS_MAX_ATTEMPTS": "1000"}},
		{name: "explain-bad-value", args: "explain --profile old", files: bothFiles()},
		{name: "explain-bad-value-json", args: "explain --profile old --json", files: bothFiles()},
		{name: "explain-no-profile-json", args: "explain --profile prd --json", files: bothFiles()},
		{name: "lint", args: "lint", files: bothFiles()},
		{name: "lint-json", args: "lint --json", files: bothFiles()},
		{name: "lint-escapes", args: "lint", files: unusualFiles()},
		{name: "profiles-values", args: "profiles --show-values", files: bothFiles()},
		{name: "profiles-escapes", args: "profiles --show-values", files: unusualFiles()},
		{name: "profiles-escapes-json", args: "profiles --show-values --json", files: unusualFiles()},
		{name: "classify-throttle", args: "classify --status 503 --code SlowDown --header x-amz-retry-after=1500"},
		{name: "classify-forbidden", args: "classify --status 503 --modeled not_retryable"},
		{name: "classify-throttle-json", args: "classify --status 503 --code SlowDown --header x-amz-retry-after=1500 --json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireOutput(t, c.name, c.args, world(c.files, c.env))
		})
	}
}

// What else the commands say of a file and a variable, and their exit status.
func TestFindingsAndErrors(t *testing.T) {
	t.Parallel()
	const misspelt, broken = "[default]\nretry-mode = x\n", "[default]\nregion = x\n[profile y\n"
	const skipped = `/home/me/.aws/config:3:1: warning: "[profile y": a section header must end with ']'; the line is skipped [malformed-line]`
	const refused = `/home/me/.aws/config:3: "[profile y": a section header must end with ']'`
	const inJSON = `{"error":{"code":"parse-error","message":"/home/me/.aws/config:3: \"[profile y\": a section header must end with ']'","origin":{"kind":"shared-config","file":"/home/me/.aws/config","line":3}}}`
	for _, c := range []struct {
		args, config string
		env          string // a variable with its value
		status       int
		out, errs    string // a part of it; empty for no output
	}{
		{"explain", "", "AWS_SDK_LOAD_CONFIG=1", exitFine, "Diagnostics\n  warning: AWS_SDK_LOAD_CONFIG is set and has no effect", ""},
		{"explain", broken, "", exitFine, skipped, ""},
		{"explain --strict", broken, "", exitBad, "", "awsretry explain: " + refused + "\n"},
		{"explain --strict --json --profile x", broken, "", exitBad, inJSON, "awsretry explain: " + refused + "\n"},
		{"explain", "", "AWS_MAX_ATTEMPTS=0", exitFine, `error: AWS_MAX_ATTEMPTS: "0": must be a decimal integer`, ""},
		{"explain --json", "", "AWS_MAX_ATTEMPTS=0", exitFine, `"overridden":[{"raw":"0","valid":false,`, ""},
		{"explain --json", "", "AWS_RETRY_MODE=bogus", exitBad, `"error":{"code":"invalid-value",`, `awsretry explain: AWS_RETRY_MODE: "bogus": must be`},
		{
			"explain --config-file /home/me --json", misspelt, "", exitBad,
			`{"error":{"code":"unreadable-file","message":"/home/me: cannot be read: not a regular file but a directory","origin":{"kind":"shared-config","file":"/home/me"}}}`,
			"awsretry explain: /home/me: cannot be read",
		},
		{"lint", misspelt, "", exitFine, `/home/me/.aws/config:2:1: warning: "retry-mode" is not`, ""},
		{"lint --strict", misspelt, "", exitBad, `/home/me/.aws/config:2:1: warning: "retry-mode" is not`, ""},
		{"lint", broken, "", exitFine, skipped, ""},
		{"lint --strict --json", broken, "", exitBad, `{"severity":"error","code":"parse-error",`, ""},
		{"lint --strict", "[default]\nmax_attempts = 4\n", "", exitFine, "", ""},
		{"lint --config-file /nowhere", "", "", exitBad, "/nowhere: error: the config file that an option names does not exist", ""},
		{"lint", "", "AWS_MAX_ATTEMPTS=ten", exitBad, `error: AWS_MAX_ATTEMPTS: "ten": must be`, ""},
		{"profiles --json", broken, "", exitFine, `{"profiles":{"default":{"region":"***"}}}`, skipped},
		{"profiles --strict --json", broken, "", exitBad, inJSON, "awsretry profiles: " + refused + "\n"},
		{"simulate", broken, "AWS_MAX_ATTEMPTS=x", exitBad, "", `awsretry simulate: AWS_MAX_ATTEMPTS: "x": must be`},
	} {
		name, value, _ := strings.Cut(c.env, "=")
		out, errs, status := invoke(t, world(configFile(c.config), map[string]string{name: value}), strings.Fields(c.args)...)
		require.Equal(t, c.status, status, c.args)
		require.Contains(t, out, c.out, c.args)
		require.Contains(t, errs, c.errs, c.args)
		require.Equal(t, []bool{c.out == "", c.errs == ""}, []bool{out == "", errs == ""}, c.args)
	}
}

func TestOnlyATerminalHasAWidth(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, null.Close()) }()
	require.Zero(t, widthOf(null))
}

// full is a writer on a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	files := map[string]string{"home/me/.aws/config": configText}
	for _, args := range []string{"explain", "explain --json", "lint", "profiles", "profiles --json", "classify --status 500", "version"} {
		var errs bytes.Buffer
		status := run(t.Context(), strings.Fields(args), system{out: full{}, errs: &errs, sources: world(files, nil)})
		require.Equal(t, exitBad, status, args)
		require.Equal(t, "awsretry: the output cannot be written: no space left on device\n", errs.String(), args)
	}
}
