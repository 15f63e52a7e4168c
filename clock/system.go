package clock

import (
	"context"
	"time"
)

// System is the clock of the machine. The zero value is ready to use, has no
// state and may be copied and shared freely.
//
// System measures on the monotonic clock: a wall clock that is set forward or back
// neither shortens nor prolongs a wait, and the difference between two results
// of [System.Now] is the time that really passed. Inside a testing/synctest bubble
// System follows the time of the bubble.
type System struct{}

var _ Clock = System{}

// Now returns [time.Now], which holds a monotonic reading besides the wall
// time. Sub, Before, After and Compare use that reading as long as neither side
// has lost it: do not pass the result through Round(0), UnixNano or an encoder
// and then measure with it. Now does not allocate.
func (System) Now() time.Time { return time.Now() }

// Sleep waits until d has passed or ctx is done, whichever is first. If both have happened when the
// goroutine continues, it returns ctx.Err(). A ctx that is already done returns its error at once,
// and a d of zero or less does not sleep. Sleep leaves no timer behind.
func (System) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// AfterFunc is [time.AfterFunc]: f runs in its own goroutine, at once if d is zero or less.
func (System) AfterFunc(d time.Duration, f func()) Timer {
	return time.AfterFunc(d, f)
}
