package main

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/clock"
)

// replayClock is a clock that shows the time of a trace. It stands still unless the
// replay waits on it in Run: then it jumps to the end of the wait. One goroutine replays
// a trace, so the time does not depend on which goroutine is faster.
type replayClock struct {
	*clock.Fake
	zero time.Time // when the trace's seconds are 0
}

// newReplayClock returns a clock that shows start. Its zero is a whole second, so the windows of
// the measured rate begin at the same times as in the trace.
func newReplayClock(start time.Duration) *replayClock {
	zero := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	return &replayClock{Fake: clock.NewFake(zero.Add(start)), zero: zero}
}

// elapsed returns the time of the trace.
func (c *replayClock) elapsed() time.Duration { return c.Now().Sub(c.zero) }

// Sleep is that of the Fake without the record of all sleeps, which would grow with the trace.
func (c *replayClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	woken := make(chan struct{})
	timer := c.AfterFunc(d, func() { close(woken) })
	defer timer.Stop()
	return c.Await(ctx, woken)
}
