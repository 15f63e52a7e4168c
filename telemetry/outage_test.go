package telemetry_test

import (
	"flag"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/telemetry/internal/prom"
	"github.com/awsretry/awsretry/telemetry/internal/record"
)

var update = flag.Bool("update", false, "write the golden files and the series of alerts_test.yml")

// played is the outage as all tests see it.
var played = sync.OnceValues(func() (*record.Recording, error) { return record.Play(30 * time.Second) })

func recording(t *testing.T) *record.Recording {
	t.Helper()
	r, err := played()
	require.NoError(t, err)
	return r
}

// tools skips a test where there is no Prometheus, but not in continuous integration.
func tools(t *testing.T) prom.Tools {
	t.Helper()
	found, err := prom.Find()
	if err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return found
}

// golden compares a text with a file.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644)) //nolint:gosec // as git has it
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	// The texts are long, so that the difference is left to git.
	require.True(t, text == string(want), "%s is different: look at git diff after go test -update", file)
}
