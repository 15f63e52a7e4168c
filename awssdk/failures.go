package awssdk

import (
	"reflect"
	"sync"
	"time"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/errtree"
)

// failures finds the call that an error belongs to, because neither IsErrorRetryable nor
// RetryDelay gets a context. With middlewares an error is in it from the end of its attempt to
// the end of the next one or of the call. Without them it is in it from the end of its attempt
// until the decision about it, and until the end of the retry if there is one. It is safe for
// concurrent use; take and withdraw give a call to their caller alone.
type failures struct {
	mu      sync.Mutex  // guards both
	lasting generations // of calls with middlewares, and of calls that a retry follows
	passing generations // of other calls: the loop looks them up at once or not at all
}

// generations are errors with the young ones apart. The old ones go when the young ones become old.
type generations struct {
	young, old map[error]failure
	began      time.Time // when the first of the young ones came
}

// put adds an error. It drops errors that are older than least, or of which there are too many.
func (g *generations) put(err error, known failure, now time.Time, least time.Duration) (dropped map[error]failure) {
	if g.young == nil || len(g.young) >= maxFailures || now.Sub(g.began) > least {
		dropped, g.old, g.young, g.began = g.old, g.young, map[error]failure{}, now
	}
	g.young[err] = known
	return dropped
}

// allLocked returns all errors. f.mu is held.
func (f *failures) allLocked() [4]map[error]failure {
	return [...]map[error]failure{f.lasting.young, f.lasting.old, f.passing.young, f.passing.old}
}

// failure is what is known of an error.
type failure struct {
	call *call
	// taken means that a caller of take has the call. The error stays reserved until the call
	// is forgotten, so that no lookup of the error can return another call.
	taken bool
	// due means that a retry follows after wait, or a rest before the call returns.
	due   bool
	wait  wait
	asked bool // whether RetryDelay has returned the wait
}

// Limits for errors that the loop does not ask about, because a retryer around this one has decided
// about them or the call has ended in its backoff. An error can keep the body of a request.
const (
	maxFailures = 10_000      // how many errors of a sort are young
	passingTime = time.Second // how long an error that no retry follows is young
)

// add keeps the call until it is taken. It reports false if the error cannot be told from that
// of another call.
func (f *failures) add(err error, c *call) bool { return f.keep(err, failure{call: c}) }

// await keeps the call for GetRetryToken after the decision. It keeps the wait for RetryDelay too,
// since a retryer around ours may not call GetRetryToken. It reports whether it did.
func (f *failures) await(err error, c *call) bool {
	w, due := c.due()
	return f.keep(err, failure{call: c, taken: c.observed, due: due, wait: w})
}

// grant keeps the wait for RetryDelay, under the error of an observed call that was taken or
// under an error of its own. It reports whether it did.
func (f *failures) grant(err error, c *call, w wait) bool {
	return f.keep(err, failure{call: c, taken: true, due: true, wait: w})
}

func (f *failures) keep(err error, known failure) bool {
	if err == nil || !reflect.ValueOf(err).Comparable() {
		return false
	}
	dropped, ok := f.insert(err, known)
	for _, forgotten := range dropped {
		if c := forgotten.call; !c.observed { // a middleware ends an observed one
			c.drop()
		}
	}
	return ok
}

func (f *failures) insert(err error, known failure) (dropped map[error]failure, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, all := range f.allLocked() {
		if found, there := all[err]; there {
			if ok = known.due && found.call == known.call; ok {
				all[err] = known
			}
			return nil, ok
		}
	}
	if known.call.observed || known.call.stop != nil {
		return f.lasting.put(err, known, time.Time{}, 0), true
	}
	return f.passing.put(err, known, clock.System{}.Now(), passingTime), true
}

// lookLocked calls found with err and then each error below it that is known, until found reports
// true. f.mu is held, so an error that wraps itself or panics must not keep it.
func (f *failures) lookLocked(err error, found func(all map[error]failure, key error) bool) {
	all := f.allLocked()
	if len(all[0])+len(all[1])+len(all[2])+len(all[3]) == 0 {
		return
	}
	for left := errtree.Max; err != nil && left > 0; err, left = errtree.Unwrap(err), left-1 {
		if !reflect.ValueOf(err).Comparable() {
			continue
		}
		for _, all := range all {
			if _, there := all[err]; there && found(all, err) {
				return
			}
		}
	}
}

// take returns the call that err or an error below it belongs to, and takes the call out; nil
// if there is none. It also returns the error under which the call was.
func (f *failures) take(err error) (c *call, key error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookLocked(err, func(all map[error]failure, found error) bool {
		known := all[found]
		switch {
		case known.taken:
			return true
		case known.call.observed:
			known.taken = true
			all[found] = known
		default:
			delete(all, found)
		}
		c, key = known.call, found
		return true
	})
	return c, key
}

// ask returns the wait after err, or after an error below it, for RetryDelay.
func (f *failures) ask(err error, now time.Time) (w wait, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookLocked(err, func(all map[error]failure, found error) bool {
		known := all[found]
		if !known.due {
			return false
		}
		known.asked, known.wait.until = true, now.Add(known.wait.left)
		all[found] = known
		w, ok = known.wait, true
		return true
	})
	return w, ok
}

// withdraw takes the call out if it is there under the key, and holds reports true of it.
func (f *failures) withdraw(key error, c *call, holds func(failure) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, all := range f.allLocked() {
		if known, there := all[key]; there && known.call == c && holds(known) {
			delete(all, key)
			return true
		}
	}
	return false
}

// forget takes an observed call out unless another call has the key since. It reports whether
// RetryDelay has returned the wait after the failure.
func (f *failures) forget(key error, c *call) (asked bool) {
	f.withdraw(key, c, func(known failure) bool {
		asked = known.asked
		return true
	})
	return asked
}

// toCompare returns err, or an error around it if err cannot be compared.
func toCompare(err error) error {
	if err == nil || reflect.ValueOf(err).Comparable() {
		return err
	}
	return &uniqueError{err}
}

// uniqueError makes an error that several calls share the error of one call.
type uniqueError struct{ error }

func (e *uniqueError) Unwrap() error { return e.error }
