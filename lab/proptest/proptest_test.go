package proptest_test

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
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

// drawAnyDuration draws from the range that is in use half of the time, from all
// that there are otherwise.
func drawAnyDuration(t *rapid.T, label string) time.Duration {
	return time.Duration(rapid.OneOf(
		rapid.Int64Range(0, int64(30*time.Second)),
		rapid.Int64(),
	).Draw(t, label))
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

// failureKind is what the rules tell apart.
type failureKind string

const (
	ordinary  failureKind = "ordinary"
	timeout   failureKind = "timeout"
	throttle  failureKind = "throttle"
	clockSkew failureKind = "clock skew"
	final     failureKind = "final"
)

// failure is how an attempt ends without success. It is the error of the attempt,
// in a form that the default classifiers have to judge.
type failure struct {
	kind   failureKind
	status int
	code   string
	hint   time.Duration
	hinted bool
}

func (f *failure) Error() string {
	return fmt.Sprintf("%s, status %d %s, hint %v %v", f.kind, f.status, f.code, f.hint, f.hinted)
}

func (f *failure) ErrorCode() string                 { return f.code }
func (f *failure) HTTPStatusCode() int               { return f.status }
func (f *failure) Timeout() bool                     { return f.kind == timeout }
func (f *failure) RetryAfter() (time.Duration, bool) { return f.hint, f.hinted }

// hintOf returns the hint that counts: a negative one does not.
func (f *failure) hintOf() (time.Duration, bool) { return f.hint, f.hinted && f.hint >= 0 }

// err is the failure as it is, or with its verdict where only that can say so.
func (f *failure) err() error {
	if f.kind == clockSkew {
		return &classify.JudgedError{Verdict: classify.RetryAs(classify.ClockSkew), Err: f}
	}
	return f
}

func drawFailure(t *rapid.T) *failure {
	f := &failure{kind: drawFrom(t, "failure", ordinary, timeout, throttle, clockSkew, final)}
	switch f.kind {
	case ordinary:
		f.status = drawFrom(t, "status", 500, 502, 503, 504)
	case throttle:
		f.status = drawFrom(t, "status", 429, 400, 503)
		f.code = drawFrom(t, "code", "ThrottlingException", "SlowDown")
	case final:
		f.status, f.code = 400, "ValidationException"
	case timeout, clockSkew:
	}
	if f.hinted = drawBool(t, "hinted"); f.hinted {
		f.hint = time.Duration(rapid.OneOf(
			rapid.Int64Range(-1, int64(30*time.Second)),
			rapid.SampledFrom([]int64{math.MinInt64, int64(time.Hour), math.MaxInt64}),
		).Draw(t, "hint"))
	}
	return f
}

// drawConfig draws a configuration, many fields of it left to their defaults, and
// the number that its random source returns, in parts of jitterParts.
func drawConfig(t *rapid.T) (config standard.Config, jitter int) {
	jitter = drawInt(t, 0, jitterParts, "jitter")
	config = standard.Config{
		Behavior:         drawFrom(t, "behavior", "", retry.V20, retry.V21),
		Service:          drawFrom(t, "service", "", "s3", "dynamodb"),
		MaxAttempts:      drawInt(t, 0, 6, "max attempts"),
		BackoffWhenEmpty: drawBool(t, "backoff when empty"),
		RetryCost:        drawFrom(t, "retry cost", 0, 1, 7),
		TimeoutCost:      drawFrom(t, "timeout cost", 0, 2, 9),
		ThrottlingCost:   drawFrom(t, "throttling cost", 0, 1, 8),
		Base:             drawFrom(t, "base", 0, time.Nanosecond, 30*time.Millisecond, 7*time.Second),
		ThrottlingBase:   drawFrom(t, "throttling base", 0, 333*time.Millisecond, time.Minute),
		MaxBackoff:       drawFrom(t, "max backoff", 0, time.Millisecond, 3*time.Second, 5*time.Minute),
		MaxHint:          drawFrom(t, "max hint", 0, 0, time.Millisecond, 4*time.Second, 2*time.Hour),
		Jitter:           drawFrom(t, "jitter kind", standard.Full, standard.NoJitter),
		Random:           func() float64 { return float64(jitter) / jitterParts },
		ScopeIdle:        forEver, // the models forget nothing
	}
	if drawBool(t, "shortest delay") {
		longest := or(config.MaxBackoff, 20*time.Second)
		config.MinDelay = drawFrom(t, "min delay", time.Nanosecond, longest/3, longest)
	}
	if drawFrom(t, "own backoff", false, false, false, true) {
		config.Base, config.ThrottlingBase, config.Jitter, config.Backoff = 0, 0, standard.Full, ownBackoff
	}
	if drawBool(t, "small quota") {
		config.QuotaCapacity = new(drawInt(t, 0, 40, "capacity"))
	}
	if drawBool(t, "partly filled") {
		config.QuotaInitial = new(drawInt(t, 0, 40, "initial"))
	}
	if drawBool(t, "refills") {
		config.QuotaRefill = ratelimit.Rate(drawInt(t, 0, 40, "eighths of a token a second")) / 8
	}
	if drawFrom(t, "no quota", false, false, false, true) {
		config.RetryCost, config.TimeoutCost, config.ThrottlingCost, config.BackoffWhenEmpty = 0, 0, 0, false
		config.NoQuota, config.QuotaCapacity, config.QuotaInitial, config.QuotaRefill = true, nil, nil, 0
	}
	return config, jitter
}

// ownBackoff goes beyond all limits, in both directions.
func ownBackoff(attempt int, err error) time.Duration {
	return [...]time.Duration{math.MinInt64, 20 * time.Millisecond, 4 * time.Second, math.MaxInt64}[(attempt+len(err.Error()))%4]
}

// drawOperation draws from few scopes, so that operations share them.
func drawOperation(t *rapid.T) retry.Operation {
	return retry.Operation{
		Service:     drawFrom(t, "service", "", "", "sqs", "dynamodb-streams"),
		Scope:       drawFrom(t, "scope", "", "", "one", "two"),
		LongPolling: drawBool(t, "long polling"),
		MaxAttempts: drawFrom(t, "max attempts of the operation", 0, 0, 0, 1, 5, -3),
	}
}

// or returns the first value that is not zero.
func or[T comparable](values ...T) T {
	var zero T
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}

const forEver = time.Duration(1<<63 - 1)

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

// requireClose allows for the rounding of float64 arithmetic and of waits to the
// nanosecond, at some tokens a second.
func requireClose(t *rapid.T, want, got float64, what string) {
	t.Helper()
	require.InDelta(t, want, got, 1e-8+1e-7*max(want, -want), what)
}
