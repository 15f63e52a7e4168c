package main

import (
	"bytes"
	"context"
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

// TestMain runs the command in place of the tests where the scripts of the shells call it.
func TestMain(m *testing.M) {
	if os.Getenv("AWSRETRY_TEST_COMMAND") != "" { //nolint:forbidigo // It says what this process is.
		os.Exit(run(context.Background(), os.Args[1:], system{in: os.Stdin, out: os.Stdout, errs: os.Stderr}))
	}
	os.Exit(m.Run())
}

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

// runSimulate runs the command with a profile that has settings.
func runSimulate(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	files := map[string]string{"home/me/.aws/config": configText, "home/me/.aws/credentials": credentialsText}
	status = run(t.Context(), append([]string{"simulate"}, args...), system{
		in: strings.NewReader(""), out: &o, errs: &e, build: build{Version: "v0.0.0-test"}, sources: world(files, nil),
	})
	return o.String(), e.String(), status
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestOutput(t *testing.T) {
	t.Parallel()
	both := map[string]string{"home/me/.aws/config": configText, "home/me/.aws/credentials": credentialsText}
	broken := map[string]string{"home/me/.aws/config": "[default]\nregion = x\n[profile y\n"}
	good := map[string]string{"home/me/.aws/config": "[default]\nmax_attempts = 4\n"}
	ten := map[string]string{"AWS_MAX_ATTEMPTS": " +010 "}
	removed := map[string]string{"AWS_NEW_RETRIES_2026": "false", "AWS_SDK_LOAD_CONFIG": "1"}
	odd := map[string]string{
		"home/me/.aws/config": "\ufeff[profile a\x1b[31m]\nregion = e\x07u\n  \u202eline\nretry_mode: Adaptive\n" +
			"[default]\nmax_attempts = 010 # ten\nx\n",
		"home/me/.aws/credentials": "[tool]\nlogin =\n  password = 1\ncommand = run\n  --client_secret = notarealsecret\n",
	}
	for _, c := range []struct {
		name, args string
		files, env map[string]string
	}{
		{name: "no-command"},
		{name: "help", args: "help"},
		{name: "help-command", args: "help lint"},
		{name: "help-unknown-command", args: "help explode"},
		{name: "completion-help", args: "completion -h"},
		{name: "completion-unknown-shell", args: "completion csh"},
		{name: "unknown-command", args: "explode"},
		{name: "unknown-flag", args: "lint --profiles"},
		{name: "unexpected-argument", args: "lint file"},
		{name: "explain-help", args: "explain -h"},
		{name: "lint-help", args: "lint -h"},
		{name: "profiles-help", args: "profiles -h"},

		{name: "explain-nothing", args: "explain"},
		{name: "explain-default", args: "explain", files: both},
		{name: "explain-prod", args: "explain --profile prod", files: both, env: ten},
		{name: "explain-prod-json", args: "explain --profile prod --json", files: both, env: ten},
		{
			name: "explain-dynamodb", args: "explain --service dynamodb", files: good,
			env: map[string]string{"AWS_RETRY_MODE": "adaptive"},
		},
		{name: "explain-dynamodb-default-json", args: "explain --service dynamodb --json"},
		{name: "explain-v20", args: "explain --behavior v2.0 --service dynamodb"},
		{name: "explain-v20-json", args: "explain --behavior v2.0 --json", files: good},
		{name: "explain-bad-behavior", args: "explain --behavior v3"},
		{name: "explain-removed-variable", args: "explain", env: removed},
		{
			name: "explain-default-profile", args: "explain", files: both,
			env: map[string]string{"AWS_DEFAULT_PROFILE": "prod", "AWS_PROFILE": "default"},
		},
		{name: "explain-odd", args: "explain", files: odd},
		{name: "explain-odd-json", args: "explain --json", files: odd},
		{name: "explain-broken", args: "explain", files: broken},
		{name: "explain-strict", args: "explain --strict", files: broken},
		{
			name: "explain-strict-credentials-json", args: "explain --strict --json",
			files: map[string]string{"home/me/.aws/credentials": "[default]\nx\n"},
		},
		{name: "explain-one-attempt", args: "explain", env: map[string]string{"AWS_MAX_ATTEMPTS": "1"}},
		{name: "explain-losing-value", args: "explain --profile old", files: both, env: map[string]string{"AWS_MAX_ATTEMPTS": "2"}},
		{name: "explain-bad-value", args: "explain --profile old", files: both},
		{name: "explain-bad-value-json", args: "explain --profile old --json", files: both},
		{name: "explain-bad-variable-json", args: "explain --json", env: map[string]string{"AWS_RETRY_MODE": "bogus"}},
		{name: "explain-no-profile-json", args: "explain --profile prd --json", files: both},
		{name: "explain-strict-json", args: "explain --strict --json --profile nowhere", files: broken},
		{name: "explain-directory-json", args: "explain --config-file /home/me --json", files: both},

		{name: "lint", args: "lint", files: both},
		{name: "lint-json", args: "lint --json", files: both},
		{name: "lint-good", args: "lint --strict", files: good},
		{name: "lint-warning", args: "lint", files: map[string]string{"home/me/.aws/config": "[default]\nretry-mode = x\n"}},
		{name: "lint-warning-strict", args: "lint --strict", files: map[string]string{"home/me/.aws/config": "[default]\nretry-mode = x\n"}},
		{name: "lint-broken", args: "lint", files: broken},
		{name: "lint-broken-strict", args: "lint --strict --json", files: broken},
		{name: "lint-profile", args: "lint --profile x"},
		{name: "lint-odd", args: "lint", files: odd},
		{name: "lint-odd-json", args: "lint --json", files: odd},

		{name: "profiles", args: "profiles", files: both},
		{name: "profiles-values", args: "profiles --show-values", files: both},
		{name: "profiles-json", args: "profiles --json", files: both},
		{name: "profiles-values-json", args: "profiles --show-values --json", files: both},
		{name: "profiles-broken-json", args: "profiles --json", files: broken},
		{name: "profiles-strict-json", args: "profiles --strict --json", files: broken},
		{name: "profiles-odd", args: "profiles --show-values", files: odd},
		{name: "profiles-odd-json", args: "profiles --show-values --json", files: odd},
		{name: "classify-strict", args: "classify --strict"},
		{name: "replay-profile", args: "replay --profile x trace.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			status := run(t.Context(), strings.Fields(c.args), system{out: &out, errs: &errs, sources: world(c.files, c.env)})
			for _, secret := range []string{"AKIAEXAMPLE", "notareal"} {
				require.NotContains(t, out.String()+errs.String(), secret)
			}
			requireGolden(t, c.name, fmt.Sprintf("$ awsretry %s\n%s--- stderr\n%s--- exit %d\n", c.args, &out, &errs, status))
		})
	}
}

func TestWidthOfTheTerminal(t *testing.T) {
	t.Parallel()
	for columns, want := range map[string]int{"": 80, "100": 100, "0": 80, "-5": 80, "x": 80} {
		require.Equal(t, want, widthOf(columns))
	}
}

// full is a writer on a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	files := map[string]string{"home/me/.aws/config": configText}
	for _, args := range []string{"help", "explain", "explain --json", "explain -h", "lint", "profiles", "profiles --json", "classify --status 500", "version", "completion bash", "help lint"} {
		var errs bytes.Buffer
		status := run(t.Context(), strings.Fields(args), system{out: full{}, errs: &errs, sources: world(files, nil)})
		require.Equal(t, exitBad, status, args)
		require.Equal(t, "awsretry: the output cannot be written: no space left on device\n", errs.String(), args)
	}
}
