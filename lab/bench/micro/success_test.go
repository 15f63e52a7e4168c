package micro

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// plenty is a rate that no benchmark comes near.
const plenty = 1_000_000_000

// successGroups is what a request without a failure pays: an operation with service,
// region and resource, a thousand of them, and the zero operation. aws-sdk-go-v2 knows
// no scopes. The rate limiters of others stand beside adaptive mode after a throttle:
// they only let an attempt pass and learn nothing from its answer.
func successGroups() []group {
	var groups []group
	for _, scopes := range []int{1, 1000, 0} {
		name := fmt.Sprintf("/scopes=%d", scopes)
		groups = append(groups,
			group{"mode=standard" + name, []subject{
				{ours, succeedOf(ourStandard(scopes))},
				{sdk, succeedOf(sdkStandard)},
				{limit, ready(emptyCall)},
			}},
			group{"mode=adaptive/throttled=never" + name, []subject{
				{ours, succeedOf(ourAdaptive(scopes))},
				{sdk, succeedOf(sdkAdaptive)},
				{limit, twoEvents},
			}},
			group{"mode=adaptive/throttled=once" + name, []subject{
				{ours, throttled(ourAdaptive(scopes))},
				{sdk, throttled(sdkAdaptive)},
				{limit, twoEvents},
			}})
	}
	groups[0].subjects = append(groups[0].subjects, subject{"token-used-once", usedOnce})
	groups[2].subjects = append(groups[2].subjects,
		subject{"x-time-rate", timeRate}, subject{"uber-ratelimit", uberLimit}, subject{"failsafe-go", failsafeLimit})
	return groups
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
