//go:build servers

package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet/internal/redistest"
)

var update = flag.Bool("update", false, "write testdata/output.golden, which docs/fleet.md shows")

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

func TestInterruptOfTheProgramLeavesNoProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	timer := clock.System{}.AfterFunc(2*time.Second, cancel)
	defer timer.Stop()
	var out, errs bytes.Buffer
	args := []string{"example", "-redis-server", redistest.Find(t)}
	require.Equal(t, 1, run(ctx, args, strings.NewReader(""), &out, &errs))
	require.Equal(t, "example: context canceled\n", errs.String())
	requireChildren(t, 0)
}
