// Package errtree looks through an error and the errors that it wraps, as errors.Is and
// errors.AsType do. It comes to an end also where an error wraps itself.
package errtree

import (
	"iter"
	"reflect"
)

// Max is how many errors a walk looks at, in the order of errors.Is: an error, then the errors
// that it wraps. Those after the first Max count as absent. A nil in a list of errors counts as
// one.
const Max = 1000

// All yields err and the errors that it wraps, Max at most.
func All(err error) iter.Seq[error] {
	return func(yield func(error) bool) {
		left := Max
		walk(&left, err, yield)
	}
}

// Within is All for a walk that is a part of another one: it subtracts the errors that it
// looks at from left.
func Within(left *int, err error) iter.Seq[error] {
	return func(yield func(error) bool) { walk(left, err, yield) }
}

func walk(left *int, err error, yield func(error) bool) (goOn bool) {
	for err != nil && *left > 0 {
		*left--
		if !yield(err) {
			return false
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
				} else if !walk(left, inner, yield) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}

// Is is errors.Is for the errors that All yields.
func Is(err, target error) bool {
	if err == nil || target == nil {
		return err == target //nolint:errorlint // one of them is nil
	}
	comparable := reflect.TypeOf(target).Comparable()
	for e := range All(err) {
		if comparable && e == target { //nolint:errorlint // one error of the walk
			return true
		}
		if asked, ok := e.(interface{ Is(target error) bool }); ok && asked.Is(target) {
			return true
		}
	}
	return false
}

// As is errors.AsType for the errors that All yields.
func As[T error](err error) (found T, ok bool) {
	for e := range All(err) {
		if found, ok := e.(T); ok { //nolint:errorlint // one error of the walk
			return found, true
		}
		if asked, ok := e.(interface{ As(target any) bool }); ok {
			if target := new(T); asked.As(target) {
				return *target, true
			}
		}
	}
	return found, false
}
