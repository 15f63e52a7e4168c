package outage_test

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
	"github.com/awsretry/awsretry/telemetry/outage"
)

// story is what the events and the snapshots of a run say.
type story struct {
	events, failures int
	sum              uint64 // of all events, in their order
	overflowed       []uint64
}

func play(t *testing.T) story {
	t.Helper()
	var told story
	hash, numbers := fnv.New64a(), []byte(nil)
	var watched []retry.Strategy
	require.NoError(t, outage.Run(outage.Config{
		Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			told.events++
			if e.Kind == retry.OperationEnded && e.Reason != nil {
				told.failures++
			}
			numbers = numbers[:0]
			for _, n := range [...]int64{
				e.Time.UnixNano(), int64(e.Kind), int64(e.Delay), int64(e.Elapsed), int64(e.SendWait), int64(e.Quota),
			} {
				numbers = binary.LittleEndian.AppendUint64(numbers, uint64(n))
			}
			_, _ = hash.Write(numbers)
		}),
		Watch: func(strategies ...retry.Strategy) error {
			watched = strategies
			return nil
		},
		Every: 10 * time.Minute,
		Sample: func(time.Duration) {
			sum := uint64(0)
			for _, s := range watched {
				sum += s.Snapshot().Overflowed
			}
			told.overflowed = append(told.overflowed, sum)
		},
	}))
	told.sum = hash.Sum64()
	return told
}

func TestEachRunIsTheSame(t *testing.T) {
	t.Parallel()
	first := play(t)
	require.Equal(t, first, play(t))
	require.Greater(t, first.events, 100_000)
	require.Greater(t, first.failures, 1_000)
	require.Len(t, first.overflowed, 13, "from the beginning to the end")
	require.Zero(t, first.overflowed[6], "after the good hour")
	require.Positive(t, first.overflowed[9])
}
