//go:build !race

// The race detector lets pools forget at random, so allocations are counted without.

package otelretry_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

func TestASuccessAllocatesNothingMoreWithTelemetry(t *testing.T) {
	_, config := newReader()
	allocations := func(observer retry.Observer) float64 {
		strategy, err := standard.New(standard.Config{Observer: observer})
		require.NoError(t, err)
		ctx := t.Context()
		return testing.AllocsPerRun(1000, func() { _ = retry.DoErr(ctx, strategy, getItem, succeed) })
	}
	require.Equal(t, allocations(nil), allocations(newTelemetry(t, config))) //nolint:testifylint // whole numbers
}

// The code of an error and the name of an operation may be parts of texts that are much longer.
func TestNoLongTextsAreKept(t *testing.T) {
	const calls, length = 30, 1 << 20
	reader, config := newReader()
	telemetry := newTelemetry(t, config)
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	for i := range calls {
		for _, code := range []string{"Busy", "throttling", "_OTHER"} {
			name := strconv.Itoa(i) + strings.Repeat("x", length)
			telemetry.Observe(t.Context(), retry.Event{
				Kind: retry.AttemptEnded, Operation: retry.Operation{Name: name[:2]},
				Err: serviceError(code + ":" + strings.Repeat("x", length)), Verdict: classify.RetryAs(classify.Throttling),
			})
		}
	}
	require.Less(t, heap(), before+calls*length/2)
	require.NotEmpty(t, collect(t, reader))
}
