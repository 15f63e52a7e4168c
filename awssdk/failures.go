package awssdk

import (
	"reflect"
	"sync"
	"time"

	"github.com/awsretry/awsretry/internal/errtree"
)

// failures finds the call that an error belongs to, because neither IsErrorRetryable nor
// RetryDelay gets a context. With middlewares an error is in it from the end of its attempt to
// the end of the next one or of the call. Without them it is in it from the end of its attempt
// until GetRetryToken, and until the end of the retry if there is one. It is safe for
// concurrent use. After take or withdraw, only the caller uses a call without middlewares.
type failures struct {
	mu         sync.Mutex // guards both
	young, old map[error]failure
}

// failure is what is known of an error.
type failure struct {
	call *call
	due  bool          // whether RetryDelay returns what is left
	left time.Duration // of the sleep
	busy bool          // whether no other method may take the call: its retry is due or is being made
}

// maxFailures is how many errors are young. When more come, the young ones become old and the old ones go.
// That matters for errors that the loop does not ask about, because a retryer around this one has decided
// about them or the call has ended in its backoff. An error can keep the body of a request.
const maxFailures = 10_000

// put keeps a failure. It reports false if the error cannot be told from that of another call.
func (f *failures) put(err error, known failure) bool {
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
	for _, all := range []map[error]failure{f.young, f.old} {
		if found, there := all[err]; there {
			if ok = found.call == known.call; ok {
				all[err] = known
			}
			return nil, ok
		}
	}
	if f.young == nil || len(f.young) >= maxFailures {
		dropped, f.old, f.young = f.old, f.young, map[error]failure{}
	}
	f.young[err] = known
	return dropped, true
}

// take returns the call that err or an error below it belongs to; nil if there is none. A call
// without middlewares is the caller's then, and no longer here.
func (f *failures) take(err error) (c *call) {
	f.find(err, func(all map[error]failure, key error, known failure) bool {
		if known.busy {
			return true
		}
		if c = known.call; !c.observed {
			delete(all, key)
		}
		return true
	})
	return c
}

// ask returns what is left to sleep after err, or after an error below it, for RetryDelay.
func (f *failures) ask(err error) (left time.Duration, due bool) {
	f.find(err, func(_ map[error]failure, _ error, known failure) bool {
		left, due = known.left, known.due
		return due
	})
	return left, due
}

// withdraw takes the call out if it is there under the key.
func (f *failures) withdraw(key error, c *call) (withdrawn bool) {
	f.find(key, func(all map[error]failure, key error, known failure) bool {
		if withdrawn = known.call == c; withdrawn {
			delete(all, key)
		}
		return true
	})
	return withdrawn
}

// find calls use with each failure that is known, of err or of an error below it, until use
// returns true. use is called under the lock, and the methods of errors are not.
func (f *failures) find(err error, use func(all map[error]failure, key error, known failure) bool) {
	errtree.Find(err, func(err error) bool {
		if !reflect.ValueOf(err).Comparable() {
			return false
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, all := range []map[error]failure{f.young, f.old} {
			if known, there := all[err]; there {
				return use(all, err, known)
			}
		}
		return false
	})
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
