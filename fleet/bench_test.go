package fleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/fleet"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
)

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
		f, err := fleet.New(fleet.Config{Store: &fleet.Memory{}, Namespace: "test"})
		require.NoError(b, err)
		b.Cleanup(f.Close)
		run(b, f.NewLimiter(orders, clock.System{}))
	})
	b.Run("without a fleet", func(b *testing.B) {
		run(b, ratelimit.NewLimiter(ratelimit.SendRateConfig{}, clock.System{}))
	})
}

// What a reply costs while many callers wait.
func BenchmarkReplyWhileManyWait(b *testing.B) {
	const callers = 10_000
	clk := clock.NewFake(time.Unix(1e9, 0))
	store := &replies{call: func(context.Context, int, fleet.Ask) (fleet.Reply, error) {
		return fleet.Reply{Epoch: 2, Rate: 1000, Slots: 1, Start: 50 * time.Millisecond, State: "-"}, nil
	}}
	l := newFleet(b, fleet.Config{Store: store, Clock: clk}).NewLimiter(orders, nil)
	ctx, cancel := context.WithCancel(context.Background())
	b.Cleanup(cancel)
	for range callers {
		go func() { _, _ = l.Acquire(ctx, ratelimit.Request{}) }()
	}
	require.NoError(b, clk.BlockUntil(ctx, callers))
	clk.Advance(5 * time.Second) // JoinWait, and then some
	before := len(store.Asks())
	b.ResetTimer()
	for len(store.Asks()) < before+b.N {
		clk.AdvanceToNext()
	}
}

func BenchmarkStep(b *testing.B) {
	b.ReportAllocs()
	now := time.Unix(1e9, 0)
	state, _ := fleet.Step("", now, fleet.Ask{Starting: 500})
	for b.Loop() {
		now = now.Add(5 * time.Millisecond)
		state, _ = fleet.Step(state, now, fleet.Ask{Epoch: 3, OK: 2, Want: 5})
	}
}
