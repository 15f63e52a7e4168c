package micro

import (
	"context"
	"testing"
)

// retryGroups is what one retry costs, the attempts before and after it included.
// With failure=known the verdict is there already, which leaves what is not
// classification; aws-sdk-go-v2 looks for a timeout even then.
func retryGroups() []group {
	return []group{
		{"mode=standard/failure=known", []subject{
			{ours, retryOf(ourStandard, false)},
			{sdk, retryOf(sdkStandard, false)},
			{limit, twoAtomicsAndRandom},
		}},
		{"mode=standard/failure=classified", []subject{
			{ours, retryOf(ourStandard, true)},
			{sdk, retryOf(sdkStandard, true)},
			{limit, twoAtomicsAndRandom},
		}},
		{"mode=adaptive/failure=classified", []subject{
			{ours, retryOf(ourAdaptive, true)},
			{sdk, retryOf(sdkAdaptive, true)},
			{limit, twoAtomicsAndRandom},
		}},
	}
}

func BenchmarkOneRetry(b *testing.B) { measure(b, retryGroups()) }

func retryOf(make func(testing.TB) retryer, classified bool) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		r := make(tb)
		return func(ctx context.Context) error { return r.retryOnce(ctx, classified) }
	}
}
