package awssdk

import (
	"errors"
	"reflect"
	"sync"
)

// failures finds the call that an error belongs to: not every method of a retryer
// is given a context. An error is in here only between the end of an attempt and
// the decision about it, which are a few calls apart in one goroutine. It is safe
// for concurrent use; a call that was taken out belongs to its taker.
type failures struct {
	mu         sync.Mutex // guards both
	young, old map[error]*call

	// decided is in the place of a call that a middleware observes, from when it was
	// taken out until it is forgotten: no other call gets its error, and a second
	// question about that error does not get another call.
	decided call
}

// maxFailures is how many errors are young. Older ones go when as many have come
// after them: no question came about those, because another retryer around this one
// has answered instead.
const maxFailures = 1000

// maxWrapped is how many errors are looked at, so that one which wraps itself does not
// keep the lock.
const maxWrapped = 1000

// add remembers the call until it is taken. It reports false if the error cannot be
// told from that of another call.
func (f *failures) add(err error, c *call) bool {
	if !reflect.ValueOf(err).Comparable() {
		return false
	}
	dropped, ok := f.insert(err, c)
	for _, forgotten := range dropped {
		if forgotten != &f.decided && !forgotten.observed { // a middleware ends those that are
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

// take returns the call that err, or an error that it wraps, belongs to, and
// forgets it; nil if there is none. It also returns the error that was found.
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

// forget frees the key of the call, unless another call is there meanwhile.
func (f *failures) forget(key error, c *call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, known := range [...]map[error]*call{f.young, f.old} {
		if found := known[key]; found == c || found == &f.decided {
			delete(known, key)
		}
	}
}

// toCompare returns an error that can be compared, and says the same as err.
func toCompare(err error) error {
	if err == nil || reflect.ValueOf(err).Comparable() {
		return err
	}
	return &uniqueError{err}
}

// uniqueError makes an error that several calls share one call's own.
type uniqueError struct{ error }

func (e *uniqueError) Unwrap() error { return e.error }
