package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

var update = flag.Bool("update", false, "write the golden files")

// environment is what the settings of the test come from.
func environment(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, name := range []string{
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS", "AWS_SHARED_CREDENTIALS_FILE",
	} {
		t.Setenv(name, variables[name])
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_CONFIG_FILE", filepath.Join("testdata", "config"))
}

func TestQuickStart(t *testing.T) {
	for name, variables := range map[string]map[string]string{
		"nothing-set": {"AWS_PROFILE": "empty"},
		"profile-x":   {"AWS_PROFILE": "x"},
		"environment": {"AWS_PROFILE": "x", "AWS_RETRY_MODE": "standard", "AWS_MAX_ATTEMPTS": "9"},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, variables)
			var out strings.Builder
			synctest.Test(t, func(t *testing.T) { require.NoError(t, run(t.Context(), &out)) })
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), out.String())
		})
	}
}

func TestQuickStartWithTwoAttemptsSaysWhyItGaveUp(t *testing.T) {
	environment(t, map[string]string{"AWS_PROFILE": "x", "AWS_MAX_ATTEMPTS": "2"})
	synctest.Test(t, func(t *testing.T) {
		require.ErrorIs(t, run(t.Context(), new(strings.Builder)), retry.ErrAttemptsExhausted)
	})
}

func TestQuickStartNamesThePlaceOfABadValue(t *testing.T) {
	environment(t, map[string]string{"AWS_PROFILE": "bad"})
	require.ErrorContains(t, run(t.Context(), new(strings.Builder)), filepath.Join("testdata", "config")+":8")
}
