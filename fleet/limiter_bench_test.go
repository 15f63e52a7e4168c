package fleet_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

// withSlots returns a member with more slots in hand than a test can use.
func withSlots(tb testing.TB, clk clock.Clock) adaptive.Limiter {
	tb.Helper()
	store := answers(fleet.Reply{Epoch: 2, Rate: 1e9, Slots: 1e9, State: "-"})
	l := newFleet(tb, fleet.Config{Store: store}).NewLimiter(orders, clk)
	_, err := l.Acquire(context.Background(), ratelimit.Request{})
	require.NoError(tb, err)
	return l
}

func BenchmarkAcquireAndReport(b *testing.B) {
	run := func(b *testing.B, l adaptive.Limiter) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			sent, err := l.Acquire(context.Background(), ratelimit.Request{})
			if err != nil {
				b.Fatal(err)
			}
			l.Report(ratelimit.Response{Sent: sent})
		}
	}
	b.Run("with slots in hand", func(b *testing.B) {
		clk := clock.NewFake(time.Unix(0, 0))
		var l adaptive.Limiter
		clk.Run(func() { l = withSlots(b, clk) })
		run(b, l)
	})
	b.Run("open", func(b *testing.B) {
		run(b, newFleet(b, fleet.Config{}).NewLimiter(orders, nil))
	})
	b.Run("without a fleet", func(b *testing.B) {
		run(b, sendrate.NewLimiter(sendrate.Config{}, clock.System{}))
	})
}

// What a reply costs while many callers wait.
func BenchmarkReplyWhileManyWait(b *testing.B) {
	const most, least = 10_000, 9_000
	clk := clock.NewFake(time.Unix(1e9, 0))
	store := answers(fleet.Reply{Epoch: 2, Rate: 1000, Slots: 1, Start: 50 * ms, State: "-"})
	l := newFleet(b, fleet.Config{Store: store, Clock: clk, JoinWait: -1}).NewLimiter(orders, nil)
	calls := func() uint64 { return l.State().StoreCalls }
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	waiting := func() int { return l.State().Waiting }
	fill := func() {
		for range most - waiting() {
			go func() { _, _ = l.Acquire(ctx, ratelimit.Request{}) }()
		}
		for waiting() < most-1 { // the slot of the first may be there already
			runtime.Gosched()
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if waiting() < least { // each reply serves one
			b.StopTimer()
			fill()
			b.StartTimer()
		}
		for before := calls(); calls() == before; {
			clk.AdvanceToNext()
		}
	}
	require.Equal(b, "fleet", source(l), "no call has failed")
}
