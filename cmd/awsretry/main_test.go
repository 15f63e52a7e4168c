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
	"github.com/awsretry/awsretry/internal/machine"
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
		FS: machine.FS{FS: fsys, Platform: "linux"},
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

func goodFile() map[string]string {
	return map[string]string{"home/me/.aws/config": "[default]\nmax_attempts = 4\n"}
}

func brokenFile() map[string]string {
	return map[string]string{"home/me/.aws/config": "[default]\nregion = x\n[profile y\n"}
}

// unusualFiles have control characters, and what some tools read in another way.
func unusualFiles() map[string]string {
	return map[string]string{
		"home/me/.aws/config": "\ufeff[profile a\x1b[31m]\nregion = e\x07u\n  \u202eline\nretry_mode: Adaptive\n" +
			"[default]\nmax_attempts = 010 # ten\nx\n",
		"home/me/.aws/credentials": "[tool]\nlogin =\n  password = 1\ncommand = run\n  --client_secret = notarealsecret\n",
	}
}

// runSimulate runs the command with a profile that has settings.
func runSimulate(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), append([]string{"simulate"}, args...), system{
		in: strings.NewReader(""), out: &o, errs: &e, build: build{Version: "v0.0.0-test"}, sources: world(bothFiles(), nil),
	})
	return o.String(), e.String(), status
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

// requireOutput runs a command. Its golden file has what it prints and its exit status.
func requireOutput(t *testing.T, name, args string, sources config.Sources) {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(t.Context(), strings.Fields(args), system{out: &out, errs: &errs, sources: sources})
	for _, secret := range []string{"AKIAEXAMPLE", "notareal"} {
		require.NotContains(t, out.String()+errs.String(), secret)
	}
	requireGolden(t, name, fmt.Sprintf("$ awsretry %s\n%s--- stderr\n%s--- exit %d\n", args, &out, &errs, status))
}

func TestOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args string }{
		{name: "no-command"},
		{name: "help", args: "help"},
		{name: "help-command", args: "help lint"},
		{name: "unknown-command", args: "explode"},
		{name: "unknown-flag", args: "lint --profiles"},
		{name: "unexpected-argument", args: "lint file"},
		{name: "help-unknown-command", args: "help lnt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireOutput(t, c.name, c.args, world(nil, nil))
		})
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
