package clock

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// Run calls the functions one after the other, moves the time whenever all of them wait, and
// returns when all have returned. With one function, which is the usual case:
//
//	clk.Run(func() { err = retry.DoErr(ctx, strategy, op, call) })
//
// A function waits while it is in [Fake.Sleep], in [Fake.Await], or in an operation of this module
// that waits for a send token or for retry quota. While one of the functions does anything else,
// the time stands still. Each function begins when the one before it waits or has returned. When
// all of them wait, the next sleep, timer or deadline of a context fires, at its instant; at one
// instant they fire in order of registration. A function that is released, by what fires or by
// another function, goes on when no other one runs; of several, the one that began to wait first.
// Only when all wait again does the next one fire. So the result does not depend on which goroutine
// is faster.
//
// Run sees waits, not goroutines, so it needs these rules:
//
//   - Each function is one sequence of waits: it may start goroutines, but it and they wait one at
//     a time. Pass parts that wait at the same time as separate functions.
//   - A function uses Await to wait for a timer function, for another function of Run or for the
//     end of a context. While it waits for a channel, a lock or real time instead, the time stands
//     still, no other function begins or goes on, and Run panics after [Fake.MaxBlocked], which ends
//     the program.
//   - Goroutines that run beside the functions do not wait on the clock.
//
// Run panics if a goroutine waits on the clock when Run begins. It also panics, after the functions
// have returned, if it has seen more waits at once than functions. If your code cannot keep the
// rules, because its goroutines come and go, test it on [System] in a bubble of testing/synctest,
// which does see goroutines.
//
// The first function runs in the goroutine of the caller, where it may panic or call t.FailNow: Run
// waits for the other functions before that goes on. The others run in their own goroutines, where
// a panic ends the program, as does one in a timer function. Run leaves no goroutine behind.
//
// The functions may move the time themselves, for example with [Fake.Advance] for the time that a
// call takes. A clock allows one Run at a time: a second one panics, inside a function or outside.
// Without functions Run does nothing, and a nil function panics.
func (c *Fake) Run(functions ...func()) {
	if len(functions) == 0 {
		return
	}
	r := c.startRun(functions)
	returned := false
	defer func() {
		<-r.stopped
		more := c.endRun()
		if returned && more > 0 {
			panic(fmt.Sprintf("clock: more waits at once than functions in Fake.Run: %d more than %d", more, len(functions)))
		}
	}()
	go c.drive(r)
	c.call(r, functions[0])
	returned = true
}

// run is a Run that is under way.
type run struct {
	later   []func()      // functions that have not begun; guarded by the lock of the clock
	due     []func()      // of timers that were due at once, and have not begun; likewise
	waits   []*wait       // of functions that have not gone on, in the order in which they began; likewise
	active  int           // functions that have not returned, those of due included; likewise
	more    int           // the most waits at once above that; likewise
	changed chan struct{} // signals that all functions may wait; closed when all have returned
	stopped chan struct{} // closed when the time does not move any more
}

// signal says that a wait began or was released, or that a function has returned. A nil run does nothing.
func (r *run) signal() {
	if r == nil || r.active == 0 {
		return
	}
	select {
	case r.changed <- struct{}{}:
	default: // said already
	}
}

func (c *Fake) startRun(functions []func()) *run {
	waits := c.countWaits()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != nil {
		panic("clock: Fake.Run on a clock on which another Run is under way")
	}
	if waits > 0 {
		panic(fmt.Sprintf("clock: Fake.Run on a clock on which goroutines wait already: %d", waits))
	}
	c.run = &run{active: len(functions), later: functions[1:], changed: make(chan struct{}, 1), stopped: make(chan struct{})}
	return c.run
}

// endRun returns by how many the waits at one time exceeded the functions.
func (c *Fake) endRun() (more int) {
	left := c.countWaits()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.run
	c.run = nil
	for _, w := range r.waits {
		close(w.turn)
	}
	return max(r.more, left)
}

// call runs one of the functions, however it ends.
func (c *Fake) call(r *run, f func()) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if r.active--; r.active == 0 {
			close(r.changed)
		}
		r.signal()
	}()
	f()
}

// drive moves the time until all functions have returned.
func (c *Fake) drive(r *run) {
	watch := c.watch()
	stopped := false
	defer func() {
		watch.stop()
		if !stopped { // the function of a timer has called runtime.Goexit
			go c.drive(r)
		}
	}()
	for {
		for fire := c.step(r); fire != nil; fire = c.step(r) {
			watch.reset()
			fire()
		}
		if _, ok := <-r.changed; !ok {
			stopped = true
			close(r.stopped)
			return
		}
	}
}

// step returns what is to happen next, if all functions that have begun wait: one that was released goes on, or the next
// function begins, or else what is due next is removed and the time moves to it. Nothing changes between its looks at the
// clock: a waiting function does nothing.
func (c *Fake) step(r *run) (fire func()) {
	if c.busy(r) {
		return nil
	}
	c.countWaits()
	c.mu.Lock()
	defer c.mu.Unlock()
	r.more = max(r.more, len(r.waits)-c.functionsLocked(r))
	if i := slices.IndexFunc(r.waits, (*wait).released); i >= 0 {
		w := r.waits[i]
		r.waits = slices.Delete(r.waits, i, i+1)
		return func() { close(w.turn) }
	}
	for _, list := range [...]*[]func(){&r.due, &r.later} {
		if len(*list) > 0 {
			next := (*list)[0]
			*list = (*list)[1:]
			return func() { go c.call(r, next) }
		}
	}
	q, e := c.headLocked()
	if e == nil {
		return nil
	}
	q.remove(e)
	c.now, c.target = e.due, later(c.target, e.due)
	return e.fire
}

// busy reports whether a function is not waiting, or none is left.
func (c *Fake) busy(r *run) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.active == 0 || len(r.waits) < c.functionsLocked(r)
}

// functionsLocked returns how many functions have begun and not returned.
func (c *Fake) functionsLocked(r *run) int { return r.active - len(r.due) - len(r.later) + c.starting }

// countWaits returns how many calls wait. It forgets the waits whose context is done, because their goroutines continue.
func (c *Fake) countWaits() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var following []*ctxEnd
	for _, e := range slices.Backward(c.ends) { // one that has ended leaves, and the last takes its place
		switch {
		case isClosed(e.done):
			c.endedLocked(e)
		case e.follow:
			following = append(following, e)
		}
	}
	if len(following) > 0 {
		c.mu.Unlock()
		following = slices.DeleteFunc(following, func(e *ctxEnd) bool { return currentErr(e.ctx) == nil })
		c.mu.Lock()
		for _, e := range following {
			c.endedLocked(e)
		}
	}
	return c.waitsLocked()
}

// watch ends the program when nothing has reset it for too long.
type watch struct {
	timer *time.Timer // nil for none
	limit time.Duration
}

// watch begins a watch over the functions of Run.
func (c *Fake) watch() watch {
	limit := c.MaxBlocked
	if limit == 0 {
		limit = 5 * time.Second
	}
	if limit < 0 || !isReal(time.Now()) {
		return watch{}
	}
	return watch{limit: limit, timer: time.AfterFunc(limit, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("clock: for %v of real time a function of Fake.Run has neither waited on the clock nor returned: "+
			"it is blocked outside of the clock. Usual causes are http.Client.Timeout, the sleeps of an SDK "+
			"client between its attempts, and context.WithTimeout, which follow the real time: test such code on "+
			"clock.System in a bubble of testing/synctest. Fake.MaxBlocked sets the limit", limit))
	})}
}

func (w watch) reset() {
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

func (w watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// isReal reports whether now is a real time. A bubble of testing/synctest begins in the year 2000,
// before the version of Go that this module needs.
func isReal(now time.Time) bool { return now.Year() >= 2026 }
