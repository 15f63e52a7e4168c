package sendrate_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/sendrate"
	"github.com/awsretry/awsretry/ratelimit"
)

// stridingClock moves on by a millisecond whenever it is read, so that a caller that reads it
// twice a round makes 500 rounds a second.
type stridingClock struct {
	clock.System
	milliseconds atomic.Int64
}

func (c *stridingClock) Now() time.Time {
	return at(0).Add(time.Duration(c.milliseconds.Add(1)) * time.Millisecond)
}

// flowing returns a limiter that was throttled and has since climbed to about twice the rate of
// a caller that reads the clock twice a round.
func flowing() *sendrate.Limiter {
	clk := new(stridingClock)
	limiter := sendrate.NewLimiter(sendrate.Config{}, clk)
	limiter.Report(ratelimit.Response{Throttled: true})
	for range 60_000 {
		limiter.Report(ratelimit.Response{})
	}
	return limiter
}

func free() *sendrate.Limiter {
	return sendrate.NewLimiter(sendrate.Config{}, clock.System{})
}

// send is one round. It fails where a caller would have to wait.
func send(ctx context.Context, limiter *sendrate.Limiter) error {
	sent, err := limiter.Acquire(ctx, ratelimit.Request{NoWait: true})
	limiter.Report(ratelimit.Response{Sent: sent})
	return err
}

func TestLimiterAllocatesNothingUnlessACallerWaits(t *testing.T) {
	for name, limiter := range map[string]*sendrate.Limiter{"free": free(), "flowing": flowing()} {
		t.Run(name, func(t *testing.T) {
			var failed error
			allocations := testing.AllocsPerRun(2000, func() {
				if err := send(t.Context(), limiter); err != nil {
					failed = err
				}
			})
			require.NoError(t, failed)
			require.Zero(t, allocations)
		})
	}
}

func BenchmarkLimiter(b *testing.B) {
	cases := []struct {
		name    string
		limiter func() *sendrate.Limiter
	}{
		{"case=before-the-first-throttle", free},
		{"case=tokens-available", flowing},
	}
	for _, c := range cases {
		b.Run(c.name+"/run=serial", func(b *testing.B) {
			limiter := c.limiter()
			b.ReportAllocs()
			for b.Loop() {
				if err := send(b.Context(), limiter); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/run=parallel", func(b *testing.B) {
			limiter := c.limiter()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := send(b.Context(), limiter); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// Acquire alone shares nothing between callers before the first throttle.
func BenchmarkLimiterAcquire(b *testing.B) {
	limiter := free()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := limiter.Acquire(b.Context(), ratelimit.Request{}); err != nil {
				b.Error(err)
			}
		}
	})
}

// In one round a caller comes and another is granted its token, with the given number in the
// queue. A round costs the same however long the queue is.
func BenchmarkLimiterGrant(b *testing.B) {
	for _, waiters := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			var clk clock.Fake
			limiter := throttled(&clk)
			for range waiters - 1 {
				limiter.Queue(ratelimit.Request{})
			}
			b.ReportAllocs()
			for b.Loop() {
				limiter.Queue(ratelimit.Request{})
				clk.AdvanceToNext()
			}
			waiting := limiter.State().Waiting
			require.Equal(b, waiters-1, waiting)
		})
	}
}

// In one round the rate is cut, and all callers that wait, none of which leaves, are looked at. The
// lock is held for a batch of them at a time, which is a hold.
func BenchmarkLimiterCut(b *testing.B) {
	for _, waiters := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			var clk clock.Fake
			limiter := throttled(&clk)
			for range waiters {
				limiter.Queue(ratelimit.Request{MaxWait: 1e6 * time.Second})
			}
			holds := 0
			b.ReportAllocs()
			for b.Loop() {
				for more := limiter.BeginSweep(); more; holds++ {
					more = limiter.SweepOn()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(holds), "ns/hold")
			waiting := limiter.State().Waiting
			require.Equal(b, waiters, waiting)
		})
	}
}
