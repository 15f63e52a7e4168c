package clock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Fake is a clock for tests: its time stands still until [Fake.Run], [Fake.Advance]
// or [Fake.AdvanceToNext] moves it. The zero value is ready to use and shows
// 2000-01-01 00:00:00 UTC; [NewFake] starts at another instant. A Fake is safe for
// concurrent use and must not be copied after its first use.
//
// Most tests use Run. A test that moves the time by hand must call [Fake.BlockUntil] first:
// otherwise Advance may come before the Sleep that it should end, and the test hangs. When Advance
// or AdvanceToNext returns, the sleepers that were due are no longer waiters, but their goroutines
// may not have run yet; receive what they produce, or use BlockUntil to see them wait again.
type Fake struct {
	// MaxBlocked is how long, in real time, a function of Run may go without waiting on the clock.
	// Then Run ends the program with a panic that says where each goroutine is, because the
	// function is blocked outside the clock and the time would stand still. Zero means 5 s, and a
	// negative duration no limit. Set it before Run. A testing/synctest bubble has no real time, so
	// there is no limit there.
	MaxBlocked time.Duration

	mu sync.Mutex // guards all below; never held while a function is called or a channel waited for

	started    bool      // now and target are set
	now        time.Time // never goes backwards
	target     time.Time // where now will be when all calls of Advance have returned
	registered uint64    // entries ever queued; orders those due at the same instant
	queue      queue     // sleeps and timers
	deadlines  queue     // of contexts; apart, because they are not waiters
	live       int       // waits that are not over, as far as known
	awaits     map[*wait]struct{}
	ends       []*ctxEnd // of the contexts of waits
	endOf      map[<-chan struct{}]*ctxEnd
	starting   int // functions of timers that were due at once and have not returned
	watchers   []*watcher
	run        *run // the Run under way, or nil
	waits      []time.Duration
}

var _ Clock = (*Fake)(nil)

// NewFake returns a Fake that shows start, in its location and without its
// monotonic reading. The zero time is taken as it is.
func NewFake(start time.Time) *Fake {
	start = start.Round(0)
	return &Fake{started: true, now: start, target: start}
}

// Now returns the time of the clock. While a sleep, a timer or a deadline fires, that
// is the instant at which it was due.
func (c *Fake) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

// Sleep waits until the clock has been moved by d or ctx is done, whichever is first. If both have
// happened by the time the sleeper runs, it returns ctx.Err(), so a test that cancels and then
// moves the time gets the same result every time. So does a Sleep that would end at the deadline of
// its context (see [Fake.WithDeadline]): the deadline expires first. A ctx that is already done
// returns its error at once, and a d of zero or less does not sleep; [Fake.Waits] records neither.
func (c *Fake) Sleep(ctx context.Context, d time.Duration) error {
	if err := currentErr(ctx); err != nil || d <= 0 {
		return err
	}
	w, woken := new(wait), make(chan struct{})
	e := newEntry(func() {
		c.mu.Lock()
		c.overLocked(w)
		c.mu.Unlock()
		close(woken)
	})
	return c.wait(ctx, w, woken, func() {
		c.waits = append(c.waits, d)
		c.enqueueLocked(e, d)
	}, func() { c.queue.remove(e) })
}

// Await waits until done is closed or ctx is done, and counts as a waiter meanwhile. Use it in code
// that a timer function wakes: the clock cannot see that a goroutine receives from a channel. Await
// returns ctx.Err() if ctx is done, even if done is closed too, otherwise nil. With a nil done it
// waits for ctx, like an operation that hangs.
func (c *Fake) Await(ctx context.Context, done <-chan struct{}) error {
	if err := currentErr(ctx); err != nil {
		return err
	}
	w := &wait{done: done}
	return c.wait(ctx, w, done, func() {
		if c.awaits == nil {
			c.awaits = make(map[*wait]struct{})
		}
		c.awaits[w] = struct{}{}
	}, func() { delete(c.awaits, w) })
}

// AfterFunc calls f when the clock has been moved by d, in the goroutine that moves the clock
// ([Fake.Run] has its own) and with no lock of the clock held. So f may use the clock and may move
// it, but must not wait on it: the time would stand still. With a d of zero or less, f starts at
// once, in its own goroutine, where it may wait; during a Run, as soon as no function runs. A nil f
// panics when it is due.
func (c *Fake) AfterFunc(d time.Duration, f func()) Timer {
	t := &fakeTimer{clock: c, entry: newEntry(f)}
	t.Reset(d)
	return t
}

// Waits returns the duration of every Sleep that had to wait, whether it has
// ended or not, in the order in which they began; nil if there was none. The
// slice is a copy. The record grows as long as the clock is used; see [Fake.ResetWaits].
func (c *Fake) Waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}

// ResetWaits clears the record: Waits then returns only later sleeps.
func (c *Fake) ResetWaits() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = nil
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

// enqueueLocked registers a sleep or a timer due d from now.
func (c *Fake) enqueueLocked(e *entry, d time.Duration) {
	e.due = c.nowLocked().Add(d)
	c.registered++
	e.seq = c.registered
	c.queue.add(e)
}
