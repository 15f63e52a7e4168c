// Package wire reads what came over the network: errors and what they wrap, the codes of services, lost connections, hints of
// how long to wait, and the errors of the entries of a batch.
//
// [Find], [Is] and [As] look through an error and the errors that it wraps, as errors.Is and
// errors.AsType do. Unlike these, they come to an end where an error wraps itself, and they
// survive errors that panic.
//
// An error that panics when it is asked, such as a nil pointer of a type whose methods read a
// field, has nothing more to say and wraps nothing. An error that cannot be compared is equal
// to no other one.
package wire

import (
	"errors"
	"fmt"
	"reflect"
)

// MaxErrors is how many errors a walk looks at, in the order of errors.Is: an error, then the errors
// that it wraps. Those after the first MaxErrors count as absent. A nil in a list of errors counts as
// one.
const MaxErrors = 1000

// Find calls found with err and the errors that it wraps, MaxErrors at most, until found returns true.
// It reports whether found did. A found that panics counts as an error that does.
func Find(err error, found func(err error) bool) bool {
	left := MaxErrors
	return FindWithin(&left, err, found)
}

// FindWithin is Find for a walk that is a part of another one: it subtracts the errors that it
// looks at from left.
func FindWithin(left *int, err error, found func(err error) bool) bool {
	defer func() { _ = recover() }() // the result is then false
	for err != nil && *left > 0 {
		*left--
		if found(err) {
			return true
		}
		switch e := err.(type) { //nolint:errorlint // this is the walk itself
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				if *left <= 0 {
					return false
				}
				if inner == nil {
					*left--
				} else if FindWithin(left, inner, found) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

// Is is errors.Is for the errors that Find looks at.
func Is(err, target error) bool {
	if err == nil || target == nil {
		return err == target //nolint:errorlint // one of them is nil
	}
	return Find(err, func(e error) bool {
		if equal(e, target) {
			return true
		}
		asked, ok := e.(interface{ Is(target error) bool })
		return ok && asked.Is(target)
	})
}

// equal reports whether two errors can be compared and are equal.
func equal(a, b error) (same bool) {
	defer func() { _ = recover() }()
	return a == b //nolint:errorlint // the comparison itself
}

// As is errors.AsType for the errors that Find looks at, but for nil pointers.
func As[T error](err error) (found T, ok bool) {
	ok = Find(err, func(e error) bool {
		if e, ok := e.(T); ok && !isNil(e) { //nolint:errorlint // one error of the walk
			found = e
			return true
		}
		if asked, ok := e.(interface{ As(target any) bool }); ok {
			if target := new(T); asked.As(target) && !isNil(*target) {
				found = *target
				return true
			}
		}
		return false
	})
	return found, ok
}

func isNil(err error) bool {
	v := reflect.ValueOf(err)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// Unwrap is errors.Unwrap.
func Unwrap(err error) (inner error) {
	defer func() { _ = recover() }() // the result is then nil
	return errors.Unwrap(err)
}

// Join returns an error that wraps both and has the text of the first, then that of the second. If one is nil, it is the
// other.
func Join(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	default:
		return fmt.Errorf("%w: %w", first, second)
	}
}

// Text returns the text of an error; something in angle brackets, or with PANIC in it, if it
// has none.
func Text(err error) string {
	return fmt.Sprint(err) // which survives a panic of the Error method
}
