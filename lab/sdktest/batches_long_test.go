//go:build long

package sdktest

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBatchesLargerThanTheBurstGetTheRate prints a table with -v, for which the clients beside adaptive mode play too, and
// the largest batches:
// goroutines send records without an end. Where a batch is larger than what a service serves at once, it throttles some
// records at any rate. The rate of few callers is limited by the answers that a batch then takes.
func TestBatchesLargerThanTheBurstGetTheRate(t *testing.T) {
	t.Log("| | records/s | burst | in a call | callers | goodput | records throttled |")
	for _, c := range []struct {
		limit, burst       float64
		entries, callers   int
		goodput, throttled float64 // at least, at most
	}{
		{20, 20, 25, 16, 0.75, 0.65},
		{50, 10, 25, 16, 0.75, 0.7},
		{100, 20, 25, 16, 0.75, 0.4},
		{1000, 300, 500, 16, 0.75, 0.6},
		{100, 100, 25, 16, 0.75, 0.2},
		{500, 100, 25, 16, 0.75, 0.05},
		{500, 20, 25, 1, 0.3, 0.25},
		{500, 20, 25, 2, 0.45, 0.25},
		{500, 20, 25, 4, 0.6, 0.3},
		{500, 20, 25, 16, 0.65, 0.3},
		{100, 20, 25, 1, 0.85, 0.3},
		{100, 20, 25, 2, 0.75, 0.3},
		{100, 20, 25, 4, 0.75, 0.3},
		{100, 20, 100, 1, 0.85, 0.9},
		{500, 20, 500, 1, 0.6, 0.98},
		{500, 20, 500, 4, 0.85, 0.98},
	} {
		for _, rival := range rivals {
			if !testing.Verbose() && (!rival.adapts() || c.entries > 100) { // a minute and a half of a processor
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				service := newStream(c.limit, c.burst)
				put, turn := service.putting(t, rival), atomic.Int64{}
				written := 0
				const learned, length = 30 * time.Second, time.Minute
				work(t, learned, length, func() {
					service.mu.Lock()
					defer service.mu.Unlock()
					written, service.refused = len(service.written), 0
				}, &crew{workers: c.callers, call: func(ctx context.Context) error {
					put(ctx, strconv.FormatInt(turn.Add(1), 10), 200*c.entries, c.entries)
					return nil
				}})
				written = len(service.written) - written
				goodput := float64(written) / length.Seconds() / c.limit
				share := float64(service.refused) / float64(service.refused+written)
				t.Logf("| %s | %v | %v | %d | %d | %.2f | %.0f %% |", rival.name, c.limit, c.burst, c.entries, c.callers, goodput, 100*share)
				if rival.adapts() {
					require.GreaterOrEqual(t, goodput, c.goodput)
					require.LessOrEqual(t, share, c.throttled)
				}
			})
		}
	}
}
