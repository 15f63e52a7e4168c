package awssdk

import (
	"errors"
	"reflect"
	"sync"
)

// failures finds the call that an error belongs to, because IsErrorRetryable gets no context.
// An error is in it from the end of an attempt until the decision about the attempt, which
// follows soon in the same goroutine. It is safe for concurrent use; take gives a call to its
// caller alone.
type failures struct {
	mu         sync.Mutex // guards both
	young, old map[error]*call

	// decided replaces an observed call that was taken. It reserves the error until the call
	// is forgotten, so that no lookup of that error can return another call.
	decided call
}

// maxFailures is how many errors are young. An older error goes when as many others have come
// after it: a retryer around this one has decided about it.
const maxFailures = 1000

// maxWrapped is how many errors take looks at, so that an error which wraps itself does not
// keep the lock.
const maxWrapped = 1000

// add keeps the call until it is taken. It reports false if the error cannot be told from that
// of another call.
func (f *failures) add(err error, c *call) bool {
	if !reflect.ValueOf(err).Comparable() {
		return false
	}
	dropped, ok := f.insert(err, c)
	for _, forgotten := range dropped {
		if forgotten != &f.decided && !forgotten.observed { // a middleware ends an observed one
			forgotten.finish()
		}
	}
	return ok
}

func (f *failures) insert(err error, c *call) (dropped map[error]*call, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.young[err] != nil || f.old[err] != nil {
		return nil, false
	}
	if f.young == nil || len(f.young) >= maxFailures {
		dropped, f.old, f.young = f.old, f.young, map[error]*call{}
	}
	f.young[err] = c
	return dropped, true
}

// take returns the call that err or an error below it belongs to, and takes the call out; nil
// if there is none. It also returns the error under which the call was.
func (f *failures) take(err error) (*call, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.young)+len(f.old) == 0 {
		return nil, nil
	}
	for left := maxWrapped; err != nil && left > 0; err, left = errors.Unwrap(err), left-1 {
		if !reflect.ValueOf(err).Comparable() {
			continue
		}
		for _, known := range [...]map[error]*call{f.young, f.old} {
			switch c := known[err]; {
			case c == nil:
			case c == &f.decided:
				return nil, nil
			case c.observed:
				known[err] = &f.decided
				return c, err
			default:
				delete(known, err)
				return c, err
			}
		}
	}
	return nil, nil
}

// forget takes the call out unless another call has the key since.
func (f *failures) forget(key error, c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, known := range [...]map[error]*call{f.young, f.old} {
		if found := known[key]; found == c || found == &f.decided {
			delete(known, key)
		}
	}
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
