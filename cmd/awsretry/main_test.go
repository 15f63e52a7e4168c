package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
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

// world is what a run of the program sees.
func world(files map[string]string, env map[string]string) config.Sources {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return config.Sources{
		FS:       fsys,
		Platform: "linux",
		LookupEnv: func(name string) (string, bool) {
			value, ok := env[name]
			if name == "HOME" && !ok {
				return "/home/me", true
			}
			return value, ok
		},
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	both := map[string]string{"home/me/.aws/config": configText, "home/me/.aws/credentials": credentialsText}
	broken := map[string]string{"home/me/.aws/config": "[default]\nregion = x\n[profile y\n"}
	good := map[string]string{"home/me/.aws/config": "[default]\nmax_attempts = 4\n"}
	v21 := map[string]string{"AWS_NEW_RETRIES_2026": "TRUE", "AWS_MAX_ATTEMPTS": " +010 "}
	for _, c := range []struct {
		name, args string
		files, env map[string]string
	}{
		{name: "no-command"},
		{name: "help", args: "help"},
		{name: "unknown-command", args: "explode"},
		{name: "unknown-flag", args: "lint --profiles"},
		{name: "unexpected-argument", args: "lint file"},
		{name: "explain-help", args: "explain -h"},
		{name: "lint-help", args: "lint -h"},
		{name: "profiles-help", args: "profiles -h"},

		{name: "explain-nothing", args: "explain"},
		{name: "explain-default", args: "explain", files: both},
		{name: "explain-prod", args: "explain --profile prod", files: both, env: v21},
		{name: "explain-prod-json", args: "explain --profile prod --json", files: both, env: v21},
		{
			name: "explain-dynamodb", args: "explain --service dynamodb", files: good,
			env: map[string]string{"AWS_NEW_RETRIES_2026": "true", "AWS_RETRY_MODE": "adaptive"},
		},
		{name: "explain-dynamodb-default-json", args: "explain --service dynamodb --json", env: map[string]string{"AWS_NEW_RETRIES_2026": "true"}},
		{name: "explain-one-attempt", args: "explain", env: map[string]string{"AWS_MAX_ATTEMPTS": "1"}},
		{name: "explain-losing-value", args: "explain --profile old", files: both, env: map[string]string{"AWS_MAX_ATTEMPTS": "2"}},
		{name: "explain-bad-value", args: "explain --profile old", files: both},
		{name: "explain-bad-value-json", args: "explain --profile old --json", files: both},
		{name: "explain-bad-variable-json", args: "explain --json", env: map[string]string{"AWS_RETRY_MODE": "bogus"}},
		{name: "explain-no-profile-json", args: "explain --profile prd --json", files: both},
		{name: "explain-broken-json", args: "explain --json", files: broken},
		{name: "explain-directory-json", args: "explain --config-file /home/me --json", files: both},

		{name: "lint", args: "lint", files: both},
		{name: "lint-json", args: "lint --json", files: both},
		{name: "lint-good", args: "lint --strict", files: good},
		{name: "lint-warning", args: "lint", files: map[string]string{"home/me/.aws/config": "[default]\nretry-mode = x\n"}},
		{name: "lint-warning-strict", args: "lint --strict", files: map[string]string{"home/me/.aws/config": "[default]\nretry-mode = x\n"}},
		{name: "lint-broken", args: "lint", files: broken},

		{name: "profiles", args: "profiles", files: both},
		{name: "profiles-values", args: "profiles --show-values", files: both},
		{name: "profiles-json", args: "profiles --json", files: both},
		{name: "profiles-values-json", args: "profiles --show-values --json", files: both},
		{name: "profiles-broken-json", args: "profiles --json", files: broken},
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

func TestPathsAreShortened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ home, text, want string }{
		{"/home/me", "/home/me/.aws/config:3: x", "~/.aws/config:3: x"},
		{"/home/me/", "/home/me/.aws/config", "~/.aws/config"},
		{"/home/me", "/home/meme/x", "/home/meme/x"},
		{"/home/me", "/srv/home/me/x", "/srv/home/me/x"},
		{"/home/me", "a: /home/me/x or /home/me/y", "a: ~/x or ~/y"},
		{"/", "/etc/x", "/etc/x"},
	} {
		call := call{system: system{sources: world(nil, map[string]string{"HOME": c.home})}}
		require.Equal(t, c.want, call.short(c.text))
	}
}
