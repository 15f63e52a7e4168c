package clock

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Fake is a clock for tests: its time stands still until Advance or
// AdvanceToNext moves it. The zero value is ready to use and shows
// 2000-01-01 00:00:00 UTC; NewFake starts at another instant. A Fake is safe
// for concurrent use and must not be copied after its first use.
//
// A waiter is a Sleep that has not ended, a timer of AfterFunc whose call is still to
// come, or a caller that AddWaiters has counted. The way to test code that waits is to let BlockUntil see the
// waiter before moving the time: without it, Advance may come before the Sleep
// that it is meant to end, and the test hangs.
//
//	go func() { done <- worker(clk) }()
//	err := clk.BlockUntil(ctx, 1) // the worker sleeps now
//	clk.Advance(time.Second)      // its Sleep is over
//
// When Advance or AdvanceToNext returns, the sleepers that were due have been
// released and are no longer waiters, but their goroutines may not have run
// yet; receive what they produce, or see them wait again with BlockUntil.
type Fake struct {
	mu sync.Mutex // guards all below; never held while a function is called or a channel waited for

	started    bool      // now and target are set
	now        time.Time // never goes backwards
	target     time.Time // where now will be when all calls of Advance have returned
	registered uint64    // entries ever queued; orders those due at the same instant
	waiters    queue
	deadlines  queue // of contexts; these wait for nobody, so they are not waiters
	others     int   // waiters without an entry in the queue, see AddWaiters
	watchers   []*watcher
	waits      []time.Duration
}

var _ Clock = (*Fake)(nil)

// NewFake returns a Fake that shows start, in its location and without its
// monotonic reading. The zero time is taken as it is.
func NewFake(start time.Time) *Fake {
	start = start.Round(0)
	return &Fake{started: true, now: start, target: start}
}

// Now returns the time of the clock. While a waiter or a deadline fires, that
// is the instant at which it was due.
func (c *Fake) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

// Sleep waits until the clock has been moved by d or ctx is done, whichever is
// first. Where both have happened by the time the sleeper runs, it returns
// ctx.Err(): a test that cancels and then moves the time gets the same result
// every time, and so does a Sleep that would end at the deadline of its context
// (see WithDeadline), which expires first. A ctx that is done beforehand is reported at once, a d of zero or
// less does not sleep, and neither is recorded in Waits.
func (c *Fake) Sleep(ctx context.Context, d time.Duration) error {
	if err := settledErr(ctx); err != nil || d <= 0 {
		return err
	}
	woken := make(chan struct{})
	e := newEntry(func() { close(woken) })
	c.mu.Lock()
	c.waits = append(c.waits, d)
	c.addWaiterLocked(e, d)
	c.mu.Unlock()
	select {
	case <-woken:
	case <-ctx.Done():
		c.mu.Lock()
		c.waiters.remove(e)
		c.mu.Unlock()
	}
	return settledErr(ctx)
}

// AfterFunc calls f when the clock has been moved by d. It runs in the goroutine
// that moves the clock, with no lock of the clock held, so f may use the clock
// again, and may move it; a Sleep of f, however, waits for somebody else to
// move it. With a d of zero or less, f starts at once in a goroutine of its own,
// and there is no waiter. A nil f panics when it is due.
func (c *Fake) AfterFunc(d time.Duration, f func()) Timer {
	t := &fakeTimer{clock: c, entry: newEntry(f)}
	t.Reset(d)
	return t
}

// Waiters returns the number of waiters; BlockUntil says what counts.
func (c *Fake) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waitingLocked()
}

// AddWaiters counts n more waiters that have no timer of their own: those who stand in
// a queue behind the first, for whom the timer is. A negative n counts so many of them
// no more; fewer than none panics. A caller may hold locks that the function of its
// timer takes.
func (c *Fake) AddWaiters(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.others+n < 0 {
		panic(fmt.Sprintf("clock: Fake.AddWaiters of %d with %d counted", n, c.others))
	}
	c.others += n
	c.tellLocked()
}

// Waits returns the duration of every Sleep that had to wait, whether it has
// ended or not, in the order in which they began; nil if there was none. The
// slice is a copy. The record grows as long as the clock is used.
func (c *Fake) Waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}

// nowLocked returns the time, after setting that of a zero Fake.
func (c *Fake) nowLocked() time.Time {
	if !c.started {
		c.started = true
		c.now = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
		c.target = c.now
	}
	return c.now
}
