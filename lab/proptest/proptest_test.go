package proptest_test

import (
	"time"

	"pgregory.net/rapid"
)

// start is when every run begins. It lies off the grid of the windows of half a
// second.
func start() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 123_456_789, time.UTC) }

func drawInt(t *rapid.T, low, high int, label string) int {
	return rapid.IntRange(low, high).Draw(t, label)
}

// drawFloat draws a number from 0 to high.
func drawFloat(t *rapid.T, high float64, label string) float64 {
	return rapid.Float64Range(0, high).Draw(t, label)
}

func drawBool(t *rapid.T, label string) bool { return rapid.Bool().Draw(t, label) }

// drawDuration draws a duration from low to high.
func drawDuration(t *rapid.T, low, high time.Duration, label string) time.Duration {
	return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, label))
}

// drawPause draws how long nothing happens: often not at all, often just short of
// the edge of a window or beyond it.
func drawPause(t *rapid.T, label string) time.Duration {
	return rapid.OneOf(
		rapid.Just(time.Duration(0)),
		multiplesOf(time.Nanosecond, 1_000_000),
		multiplesOf(time.Nanosecond, 1_000_000_000),
		multiplesOf(time.Nanosecond, 8_000_000_000),
		multiplesOf(time.Second/4, 6),
	).Draw(t, label)
}

func multiplesOf(unit time.Duration, most int64) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64Range(1, most), func(n int64) time.Duration { return time.Duration(n * int64(unit)) })
}

// drawFrom draws one of the values.
func drawFrom[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}
