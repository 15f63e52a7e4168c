package micro

import (
	"context"
	"fmt"
	"testing"
)

// retryGroups is what one retry costs, the attempts before and after it included.
// With failure=known the verdict is there already, which leaves what is not
// classification; aws-sdk-go-v2 looks for a throttle even then.
func retryGroups() []group {
	var groups []group
	for _, scopes := range []int{1, 1000, 0} {
		name := fmt.Sprintf("/scopes=%d", scopes)
		groups = append(groups,
			group{"mode=standard/failure=known" + name, []subject{
				{ours, retryOf(ourStandard(scopes), false)},
				{sdk, retryOf(sdkStandard, false)},
				{limit, twoAtomicsAndRandom},
			}},
			group{"mode=standard/failure=classified" + name, []subject{
				{ours, retryOf(ourStandard(scopes), true)},
				{sdk, retryOf(sdkStandard, true)},
				{limit, twoAtomicsAndRandom},
			}},
			group{"mode=adaptive/failure=classified" + name, []subject{
				{ours, retryOf(ourAdaptive(scopes), true)},
				{sdk, retryOf(sdkAdaptive, true)},
				{limit, twoAtomicsAndRandom},
			}})
	}
	return groups
}

func BenchmarkOneRetry(b *testing.B) { measure(b, retryGroups()) }

func retryOf(make func(testing.TB) retryer, classified bool) func(testing.TB) round {
	return func(tb testing.TB) round {
		tb.Helper()
		r := make(tb)
		return func(ctx context.Context) error { return r.retryOnce(ctx, classified) }
	}
}
