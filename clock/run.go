package clock

import "fmt"

// Run calls the functions and moves the time to the next instant at which anything is
// due whenever all of them wait on the clock. It returns when all have returned. So a
// test states what the code does and not when the time moves:
//
//	clk.Run(func() { err = retry.Do(ctx, strategy, op, call) })
//
// The first function runs in the goroutine of the caller, where it may call t.FailNow
// and panic; the others run in goroutines of their own, at the same time. With no
// function Run does nothing, and a nil one panics.
//
// Run counts waits, because it cannot see what else a goroutine does. A function waits
// while it is in [Fake.Sleep], in [Fake.Await], or in an operation of this module that
// waits for a send token or for retry quota. While one of the functions computes, or
// is blocked by something else, the time stands still. What is due fires one at a
// time: sleeps, timers and deadlines of contexts, in the order of [Fake.Advance]. A
// function that one of them releases runs until it waits again or returns before the
// next of them fires. The result is therefore the same each time, on a loaded machine
// too, under these rules:
//
//   - A function may start goroutines, but no more than one of them, or the function
//     itself, waits at a time. Code of which several parts wait at the same time is
//     given to Run as several functions. If Run has seen more waits at once than there
//     were functions, it panics when the functions have returned; it also panics if a
//     goroutine waits on the clock already when Run is called.
//   - A timer does not wait, it is only due: a function that sets one with AfterFunc and
//     then receives from a channel has to do so with Await, or the time stands still for
//     ever. The same holds for a function that waits for another one by a channel or a
//     lock, and for the body of an operation that hangs until its context is done:
//     Await(ctx, nil) waits for the context on the clock.
//   - Code that cannot keep to this, because its goroutines come and go, runs on
//     [System] in a bubble of testing/synctest, which sees when all of them are blocked.
//     Run may be used inside a bubble, under the same rules.
//
// The functions may move the time themselves, with Advance for instance, to let a call
// take some of it. Run on a clock on which it is under way panics, also inside of one of
// the functions.
//
// A panic of the first function, or its call of runtime.Goexit, goes on after the other
// functions have returned. A panic in another function, or in the function of a timer,
// ends the program. No goroutine of Run is left when it returns or panics.
func (c *Fake) Run(functions ...func()) {
	if len(functions) == 0 {
		return
	}
	r := c.startRun(len(functions))
	returned := false
	defer func() {
		<-r.stopped
		more := c.endRun()
		if returned && more > 0 {
			panic(fmt.Sprintf("clock: more waits at once than functions in Fake.Run: %d more than %d", more, len(functions)))
		}
	}()
	go c.drive(r)
	for _, f := range functions[1:] {
		go c.call(r, f)
	}
	c.call(r, functions[0])
	returned = true
}

// run is a Run that is under way.
type run struct {
	active  int           // functions that have not returned; guarded by the lock of the clock
	more    int           // the most waits at once above that; likewise
	changed chan struct{} // says that the functions may all wait; closed when all have returned
	stopped chan struct{} // closed when the time does not move any more
}

// tell says that there is a wait more or a function fewer; nil is no run.
func (r *run) tell() {
	if r == nil || r.active == 0 {
		return
	}
	select {
	case r.changed <- struct{}{}:
	default: // said already
	}
}

func (c *Fake) startRun(functions int) *run {
	waits, _ := c.settle()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != nil {
		panic("clock: Fake.Run on a clock on which another Run is under way")
	}
	if waits > 0 {
		panic(fmt.Sprintf("clock: Fake.Run on a clock on which goroutines wait already: %d", waits))
	}
	c.run = &run{active: functions, changed: make(chan struct{}, 1), stopped: make(chan struct{})}
	return c.run
}

// endRun returns how many waits there were at once beyond those of the functions.
func (c *Fake) endRun() (more int) {
	left, _ := c.settle()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.run
	c.run = nil
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
		r.tell()
	}()
	f()
}

// drive moves the time until all functions have returned.
func (c *Fake) drive(r *run) {
	stopped := false
	defer func() {
		if !stopped { // the function of a timer has called runtime.Goexit
			go c.drive(r)
		}
	}()
	for {
		for e := c.step(r); e != nil; e = c.step(r) {
			e.fire()
		}
		if _, ok := <-r.changed; !ok {
			stopped = true
			close(r.stopped)
			return
		}
	}
}

// step takes out what is due next and moves the time to it, if all functions wait.
// Between the two looks at the clock nothing changes then: a function that waits does
// nothing, and none of them has a context that is done.
func (c *Fake) step(r *run) *entry {
	waits, running := c.settle()
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.active == 0 || waits < running {
		return nil
	}
	r.more = max(r.more, waits-running)
	q, e := c.headLocked()
	if e != nil {
		q.remove(e)
		c.now, c.target = e.due, later(c.target, e.due)
	}
	return e
}

// settle returns how many calls wait and how many functions run or wait. It forgets
// the waits whose context is done: their goroutines go on.
func (c *Fake) settle() (waits, functions int) {
	c.mu.Lock()
	registered := c.waitsLocked()
	if functions = c.starting; c.run != nil {
		functions += c.run.active
	}
	c.mu.Unlock()
	for _, w := range registered {
		if settledErr(w.ctx) == nil {
			waits++
			continue
		}
		c.mu.Lock()
		delete(c.waiting, w)
		c.mu.Unlock()
	}
	return waits, functions
}
