//go:build !race

package main

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulatePrintsCSV(t *testing.T) {
	t.Parallel()
	out, _, status := runSimulate(t, "--csv", "--vs", "adaptive,max_attempts=2", "--offered", "10")
	require.Zero(t, status)
	lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 3)
	require.Equal(t, "adaptive,max_attempts=2", lines[2][0])
	require.Len(t, lines[0], 20)
}
