//go:build !race

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateShowsABarOnATerminal(t *testing.T) {
	t.Parallel()
	var out, errs, bar bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"simulate", "--vs", "adaptive", "--offered", "10"}, system{out: &out, errs: &errs, progress: &bar, sources: world(nil, nil)}))
	require.Empty(t, errs.String())
	shown := bar.String()
	require.True(t, strings.HasPrefix(shown, "[.........................]   0 % settings\r"), shown)
	require.Contains(t, shown, "[############.............]  51 % adaptive\r")
	require.True(t, strings.HasSuffix(shown, " \r"), "it is taken away")
	require.Less(t, strings.Count(shown, "%"), 102)
}
