package clock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// deadlineSource is the parent of the inner context of a deadlineContext. Only package context
// calls its methods of context.Context. The source ends the inner context through the function that
// package context gives to AfterFunc, which takes over Err and the cause. Nothing else can end a
// context of the standard library from outside, at once, with the error DeadlineExceeded.
type deadlineSource struct {
	clock      *Fake
	parent     context.Context //nolint:containedctx // this type is a context
	parentDone <-chan struct{}
	deadline   time.Time
	entry      *entry
	done       chan struct{} // never closed: AfterFunc replaces it

	once    sync.Once
	err     error       // set in once, read by cancel
	expired atomic.Bool // the deadline ended it, not parent
	ended   atomic.Bool // the inner context and all below it are done
	cancel  func()      // ends the inner context

	mu         sync.Mutex  // taken before the clock's
	stopFollow func() bool // guarded by mu
}

func (s *deadlineSource) Deadline() (time.Time, bool) { return s.deadline, true }
func (s *deadlineSource) Done() <-chan struct{}       { return s.done }
func (s *deadlineSource) Err() error                  { return s.err }

// Value passes all questions on to parent until the deadline expires, and then none:
// cancel asks for the cause this way, and must not get the cause of a parent that is done
// a moment later. After that the deadlineContext asks parent itself.
func (s *deadlineSource) Value(key any) any {
	if s.expired.Load() {
		return nil
	}
	return s.parent.Value(key)
}

// AfterFunc is called once, by context.WithCancel, for the inner context. The
// function that it returns is called when that context is cancelled.
func (s *deadlineSource) AfterFunc(cancel func()) (stop func() bool) {
	s.cancel = cancel
	return s.release
}

// start follows parent and waits for the deadline. Both are set up under mu, so
// that release, if one of them fires meanwhile, finds both.
func (s *deadlineSource) start(t time.Time) {
	s.mu.Lock()
	s.stopFollow = context.AfterFunc(s.parent, s.follow)
	passed := !s.clock.addDeadline(s.entry, t)
	s.mu.Unlock()
	if passed {
		s.expire()
	}
}

// follow ends the context if parent is done. Every method of the context calls follow,
// because the goroutine that package context starts may be late. It asks parent
// to catch up once and then looks at the channel: both Done and Err of parent would
// ask all contexts above again, which doubles the cost with each level. It calls Err
// only on a parent that is done, which answers at once.
func (s *deadlineSource) follow() {
	if s.ended.Load() {
		return
	}
	_ = s.parent.Value(catchUpKey{})
	select {
	case <-s.parentDone:
	default:
		return
	}
	if err := s.parent.Err(); err != nil {
		s.finish(err, false)
	}
}

// expire ends the context at its deadline, unless parent was done before.
func (s *deadlineSource) expire() {
	s.follow()
	s.finish(context.DeadlineExceeded, true)
}

// finish ends the inner context with err unless it has ended. When any call of finish
// returns, the inner context has ended. cancel does not lead back to finish: it only asks
// s for its error and for a value of parent.
func (s *deadlineSource) finish(err error, expired bool) {
	s.once.Do(func() {
		s.err = err
		s.expired.Store(expired)
		s.unregister() // first, so that the clock has let go when the context is done
		s.cancel()
		s.ended.Store(true)
	})
}

// release is called after the inner context and all below it have been cancelled.
func (s *deadlineSource) release() bool {
	s.ended.Store(true)
	return s.unregister()
}

// unregister removes the deadline from the clock and stops following parent.
func (s *deadlineSource) unregister() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.removeDeadline(s.entry)
	return s.stopFollow()
}

// addDeadline registers a deadline and reports whether it is in the future. The instant will be a
// result of Now, so it gets the location of the clock and loses its monotonic reading.
func (c *Fake) addDeadline(e *entry, t time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.nowLocked()
	t = t.Round(0).In(now.Location())
	if !t.After(now) {
		return false
	}
	e.due = t
	c.registered++
	e.seq = c.registered
	c.deadlines.add(e)
	return true
}

func (c *Fake) removeDeadline(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlines.remove(e)
}
