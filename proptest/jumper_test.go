package proptest_test

import (
	"context"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/retry"
)

// jumper is a clock for a single goroutine: what would wait moves the time
// instead. It does so for a send token too if it is the observer of the strategy.
type jumper struct{ *clock.Fake }

func newJumper() jumper { return jumper{clock.NewFake(start())} }

func (j jumper) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.Advance(max(d, 0))
	return nil
}

// Observe is told before the wait for a send token begins, when the timer for it
// runs. What comes after the last timer is that the token has been granted.
func (j jumper) Observe(_ context.Context, e retry.Event) {
	for e.Kind == retry.SendWaitBegan && j.Waiters() > 0 {
		j.AdvanceToNext()
	}
}
