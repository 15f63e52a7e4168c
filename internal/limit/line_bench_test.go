package limit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/limit"
	"github.com/awsretry/awsretry/ratelimit"
)

// In one round a caller comes and another is granted its token, with the given number in the
// queue. A round costs the same however long the queue is.
func BenchmarkGrant(b *testing.B) {
	for _, waiters := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			var clk clock.Fake
			account := new(till)
			queue := limit.NewLine(account, &clk)
			for range waiters - 1 {
				queue.Queue(ratelimit.Request{})
			}
			b.ReportAllocs()
			for b.Loop() {
				queue.Queue(ratelimit.Request{})
				account.tokens++
				queue.Changed(false)
			}
			waiting := queue.Waiting()
			require.Equal(b, waiters-1, waiting)
		})
	}
}

// In one round a caller comes and is granted its token, while others wait in lines that share its lock. A round costs the
// same however many lines there are and however long they are.
func BenchmarkGrantBesideOthers(b *testing.B) {
	for _, c := range []struct {
		lines, waiters int // beside a pool
		front          int // waiters in front
	}{{1, 10, 0}, {1, 10_000, 0}, {10_000, 1, 0}, {0, 0, 10}, {0, 0, 10_000}} {
		b.Run(fmt.Sprintf("lines=%d/waiters=%d/front=%d", c.lines, c.waiters, c.front), func(b *testing.B) {
			var clk clock.Fake
			account := new(purse)
			queue := limit.NewLine(account, &clk)
			if c.front > 0 {
				queue.Lock()
				front := queue.InFront(new(purse))
				queue.Unlock()
				for range c.front {
					front.Queue(ratelimit.Request{})
				}
			}
			if c.lines > 0 {
				pool := limit.NewLine(new(purse), &clk)
				queue = pool.Beside(account, 1)
				for range c.lines {
					other := pool.Beside(new(purse), 1)
					for range c.waiters {
						other.Queue(ratelimit.Request{})
					}
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				queue.Queue(ratelimit.Request{})
				account.tokens++
				queue.Changed(false)
			}
			waiting := queue.Waiting()
			require.Zero(b, waiting)
		})
	}
}

// In one round the rate is cut, and all callers that wait, none of which leaves, are looked at with the lock held.
func BenchmarkCut(b *testing.B) {
	for _, waiters := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			var clk clock.Fake
			queue := limit.NewLine(new(till), &clk)
			for range waiters {
				queue.Queue(ratelimit.Request{MaxWait: 1e6 * time.Second})
			}
			b.ReportAllocs()
			for b.Loop() {
				queue.Changed(true)
			}
			waiting := queue.Waiting()
			require.Equal(b, waiters, waiting)
		})
	}
}

// till is an account whose tokens come one a second, as far as it says.
type till struct{ purse }

func (*till) Until(_ time.Time, cost float64) time.Duration {
	return time.Duration(cost * float64(time.Second))
}
