package micro

import (
	"context"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// plenty is a rate that nobody here comes near.
const plenty = 1_000_000_000

// successGroups is what a request without a failure pays. The rate limiters of
// others stand beside adaptive mode after a throttle: they only let an attempt pass
// and learn nothing from its answer.
func successGroups() []group {
	return []group{
		{"mode=standard", []subject{
			{ours, succeedOf(ourStandard)},
			{sdk, succeedOf(sdkStandard)},
			{"token-used-once", usedOnce},
			{limit, ready(emptyCall)},
		}},
		{"mode=adaptive/throttled=never", []subject{
			{ours, succeedOf(ourAdaptive)},
			{sdk, succeedOf(sdkAdaptive)},
			{limit, twoEvents},
		}},
		{"mode=adaptive/throttled=once", []subject{
			{ours, throttled(ourAdaptive)},
			{sdk, throttled(sdkAdaptive)},
			{"x-time-rate", timeRate},
			{"uber-ratelimit", uberLimit},
			{"failsafe-go", failsafeLimit},
			{limit, twoEvents},
		}},
	}
}

func BenchmarkSuccess(b *testing.B) { measure(b, successGroups()) }

func succeedOf(make func(testing.TB) retryer) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		return make(tb).succeed
	}
}

func timeRate(testing.TB) round {
	return rate.NewLimiter(plenty, plenty).Wait
}

func uberLimit(testing.TB) round {
	limiter := uber.New(plenty)
	return func(context.Context) error {
		limiter.Take()
		return nil
	}
}

func failsafeLimit(testing.TB) round {
	limiter := ratelimiter.NewBursty[any](plenty, time.Second)
	return func(context.Context) error {
		if !limiter.TryAcquirePermit() {
			return ratelimiter.ErrExceeded
		}
		return nil
	}
}
