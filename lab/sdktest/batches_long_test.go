//go:build long

package sdktest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
)

// TestBatchesLargerThanTheBurstGetTheRate prints a table with -v, for which the clients beside adaptive mode play too:
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
		for _, name := range named() {
			adaptive := name == "awsretry, adaptive"
			if !adaptive && !testing.Verbose() { // a minute of a processor
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				service := &stream{
					limitOf: limitOf{rate: c.limit, burst: c.burst}, written: map[string]int{}, random: rand.New(rand.NewPCG(1, 2)),
				}
				perSecond, share := service.putWithoutEnd(t, name, c.callers, c.entries)
				goodput := perSecond / c.limit
				t.Logf("| %s | %v | %v | %d | %d | %.2f | %.0f %% |", name, c.limit, c.burst, c.entries, c.callers, goodput, 100*share)
				if adaptive {
					require.GreaterOrEqual(t, goodput, c.goodput)
					require.LessOrEqual(t, share, c.throttled)
				}
			})
		}
	}
}

// putWithoutEnd puts records with so many goroutines for a minute and a half. It returns how many are written in a second of the
// last minute, and which share is throttled in it. The SDK has the loop of its documentation.
func (s *stream) putWithoutEnd(t *testing.T, name string, callers, entries int) (perSecond, throttledShare float64) {
	t.Helper()
	const learned, length = 30 * time.Second, time.Minute
	cfg := clientsOf(t, s)[name]
	client := kinesis.NewFromConfig(cfg)
	strategy, ours := awssdk.StrategyOf(cfg)
	// This is no deadline, because a call that cannot end before one is refused at once.
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for g := range callers {
		all.Go(func() {
			for turn := 0; ctx.Err() == nil; turn++ {
				var records []types.PutRecordsRequestEntry
				for i := range 200 * entries {
					key := fmt.Sprint(g, "-", turn, "-", i)
					records = append(records, types.PutRecordsRequestEntry{PartitionKey: &key, Data: []byte("x")})
				}
				if ours {
					_, _ = putRecords(ctx, strategy, client, "clicks", records, entries)
				} else {
					_ = putByLoop(ctx, client, "clicks", records, entries)
				}
			}
		})
	}
	counted := func() (written, throttled int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.written), s.throttled
	}
	pause(learned)
	writtenBefore, throttledBefore := counted()
	pause(length)
	written, throttled := counted()
	cancel()
	all.Wait()
	written, throttled = written-writtenBefore, throttled-throttledBefore
	return float64(written) / length.Seconds(), float64(throttled) / float64(throttled+written)
}
