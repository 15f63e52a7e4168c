//go:build !race

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTicksAreFewRoundNumbers(t *testing.T) {
	t.Parallel()
	for _, high := range []float64{0.7, 1.7, 20.9, 47, 110} {
		labels := []string{}
		for _, tick := range steps(0, high) {
			labels = append(labels, tick.Label)
		}
		require.Equal(t, "0", labels[0])
		require.GreaterOrEqual(t, len(labels), 3, "%v", labels)
		require.LessOrEqual(t, len(labels), 8, "%v", labels)
	}
}
