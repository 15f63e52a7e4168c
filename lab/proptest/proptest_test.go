package proptest_test

import (
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/retry"
)

// start is when every run begins. It lies off the grid of the windows of half a
// second.
func start() time.Time { return time.Date(2026, time.March, 1, 12, 0, 0, 123_456_789, time.UTC) }

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

// observable is a strategy whose quotas can be looked at.
type observable interface {
	retry.Strategy
	Snapshot() retry.Snapshot
}

var (
	errAgain = errors.New("again")
	errNever = errors.New("never")
	errPanic = errors.New("panic")
)

// fickle is a classifier with three moods.
type fickle struct{}

func (fickle) Name() string { return "fickle" }

func (fickle) Classify(o classify.Outcome) classify.Verdict {
	switch {
	case errors.Is(o.Err, errPanic):
		panic(errPanic)
	case errors.Is(o.Err, errAgain):
		return classify.RetryAs(classify.Throttling)
	default:
		return classify.Verdict{}
	}
}
