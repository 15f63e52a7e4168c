//go:build servers

package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/fleet/internal/redistest"
)

var update = flag.Bool("update", false, "write testdata/output.golden")

func TestFleetOfFortyProcessesIsThrottledFarLessThanProcessesAlone(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"example", "-redis-server", redistest.Find(t)}
	require.Zero(t, run(t.Context(), args, strings.NewReader(""), &out, &errs), errs.String())
	requireChildren(t, 0)
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", "output.golden"), out.Bytes(), 0o600))
	}
	requireTable(t, out.String(), 40)
	require.Contains(t, out.String(), "40 worker processes with a redis-server.")
}
