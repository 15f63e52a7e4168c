package proptest_test

import (
	"errors"
	"time"

	"pgregory.net/rapid"
)

func drawInt(t *rapid.T, low, high int, label string) int {
	return rapid.IntRange(low, high).Draw(t, label)
}

func drawBool(t *rapid.T, label string) bool { return rapid.Bool().Draw(t, label) }

// drawDuration draws a duration from low to high.
func drawDuration(t *rapid.T, low, high time.Duration, label string) time.Duration {
	return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, label))
}

// drawFrom draws one of the values.
func drawFrom[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

var (
	errAgain = errors.New("again")
	errNever = errors.New("never")
	errPanic = errors.New("panic")
)
