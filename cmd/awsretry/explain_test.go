package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
)

func TestExplainPrintsWhatResolveReturns(t *testing.T) {
	t.Parallel()
	sources := world(map[string]string{"home/me/.aws/config": configText, "home/me/.aws/credentials": credentialsText},
		map[string]string{"AWS_RETRY_MODE": "standard"})
	want, err := config.Query{Sources: sources, Profile: "prod", Service: "dynamodb"}.Resolve()
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
