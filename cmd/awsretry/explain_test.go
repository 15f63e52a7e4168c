package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/lint"
)

func TestExplainOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		files, env map[string]string
	}{
		{name: "explain-help", args: "explain -h"},
		{name: "explain-nothing", args: "explain"},
		{name: "explain-default", args: "explain", files: bothFiles()},
		{name: "explain-prod", args: "explain --profile prod", files: bothFiles(), env: map[string]string{"AWS_MAX_ATTEMPTS": " +010 "}},
		{name: "explain-prod-json", args: "explain --profile prod --json", files: bothFiles(), env: map[string]string{"AWS_MAX_ATTEMPTS": " +010 "}},
		{
			name: "explain-dynamodb", args: "explain --service dynamodb", files: goodFile(),
			env: map[string]string{"AWS_RETRY_MODE": "adaptive"},
		},
		{name: "explain-dynamodb-default-json", args: "explain --service dynamodb --json"},
		{name: "explain-v20", args: "explain --behavior v2.0 --service dynamodb"},
		{name: "explain-v20-json", args: "explain --behavior v2.0 --json", files: goodFile()},
		{name: "explain-bad-behavior", args: "explain --behavior v3"},
		{name: "explain-removed-variable", args: "explain", env: map[string]string{"AWS_NEW_RETRIES_2026": "false", "AWS_SDK_LOAD_CONFIG": "1"}},
		{
			name: "explain-default-profile", args: "explain", files: bothFiles(),
			env: map[string]string{"AWS_DEFAULT_PROFILE": "prod", "AWS_PROFILE": "default"},
		},
		{name: "explain-escapes", args: "explain", files: unusualFiles()},
		{name: "explain-escapes-json", args: "explain --json", files: unusualFiles()},
		{name: "explain-broken", args: "explain", files: brokenFile()},
		{name: "explain-strict", args: "explain --strict", files: brokenFile()},
		{
			name: "explain-strict-credentials-json", args: "explain --strict --json",
			files: map[string]string{"home/me/.aws/credentials": "[default]\nx\n"},
		},
		{name: "explain-one-attempt", args: "explain", env: map[string]string{"AWS_MAX_ATTEMPTS": "1"}},
		{name: "explain-losing-value", args: "explain --profile old", files: bothFiles(), env: map[string]string{"AWS_MAX_ATTEMPTS": "2"}},
		{name: "explain-bad-value", args: "explain --profile old", files: bothFiles()},
		{name: "explain-bad-value-json", args: "explain --profile old --json", files: bothFiles()},
		{name: "explain-bad-variable-json", args: "explain --json", env: map[string]string{"AWS_RETRY_MODE": "bogus"}},
		{name: "explain-no-attempts", args: "explain", env: map[string]string{"AWS_MAX_ATTEMPTS": "0"}},
		{name: "explain-no-attempts-json", args: "explain --json", env: map[string]string{"AWS_MAX_ATTEMPTS": "0"}},
		{name: "explain-many-attempts", args: "explain", env: map[string]string{"AWS_MAX_ATTEMPTS": "1000"}},
		{
			name: "explain-refused-file", args: "explain --profile web",
			files: map[string]string{"home/me/.aws/config": "[profile web]\nmax_attempts = 6\n[profile other]\nregion = a\nregion = b\n[profile other]\n"},
		},
		{name: "explain-no-profile-json", args: "explain --profile prd --json", files: bothFiles()},
		{name: "explain-strict-json", args: "explain --strict --json --profile nowhere", files: brokenFile()},
		{name: "explain-directory-json", args: "explain --config-file /home/me --json", files: bothFiles()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireOutput(t, c.name, c.args, world(c.files, c.env))
		})
	}
}

func TestExplainPrintsWhatResolveReturns(t *testing.T) {
	t.Parallel()
	sources := world(bothFiles(), map[string]string{"AWS_RETRY_MODE": "standard"})
	want, err := lint.Resolve(config.Query{Sources: sources, Profile: "prod", Service: "dynamodb"})
	require.NoError(t, err)
	require.NotEmpty(t, want.Diagnostics)
	var out, errs bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"explain", "--profile", "prod", "--service", "dynamodb", "--json"}, system{out: &out, errs: &errs, sources: sources}), &errs)
	var got explanation
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, want.RetryMode, got.RetryMode)
	require.Equal(t, want.MaxAttempts, got.MaxAttempts)
	require.Equal(t, want.Behavior, got.Behavior)
	require.Equal(t, want.Files, got.Files)
	require.Equal(t, want.Diagnostics, got.Diagnostics)
}
