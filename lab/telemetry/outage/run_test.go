//go:build long

package outage_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/telemetry/outage"
	"github.com/awsretry/awsretry/retry"
)

// That each run is the same, to the byte, is what the golden files of package telemetry are about.
func TestSimulatedServicesFailAndRecover(t *testing.T) {
	t.Parallel()
	var watched []retry.Strategy
	var calls, failures, overflowed []int // after each sample
	var ended, failed int
	require.NoError(t, outage.Run(outage.Config{
		Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			if e.Kind != retry.OperationEnded {
				return
			}
			ended++
			if e.Reason != nil && e.Outcome() != "not_retryable" {
				failed++
			}
		}),
		Watch: func(strategies ...retry.Strategy) error {
			watched = strategies
			return nil
		},
		Every: 5 * time.Minute,
		Sample: func(at time.Duration) {
			require.Equal(t, time.Duration(len(calls))*5*time.Minute, at)
			sum := 0
			for _, s := range watched {
				sum += int(s.Snapshot().Overflowed)
			}
			calls, failures, overflowed = append(calls, ended), append(failures, failed), append(overflowed, sum)
		},
	}))
	require.Len(t, calls, 25, "from the beginning to the end")
	require.Greater(t, calls[24], 100_000)
	const good, end, soon = 12, 19, 20 // the good hour, the outage, and five minutes more
	require.Less(t, failures[good], 10)
	require.Zero(t, overflowed[good])
	require.Greater(t, failures[end], 5_000)
	require.Positive(t, overflowed[end])
	require.Less(t, failures[24]-failures[soon], 10)
}
