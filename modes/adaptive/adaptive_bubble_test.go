package adaptive_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/testonly/play"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// The time of a bubble begins in the year 2000, long before the strategy was built.
func TestStrategyFromOutsideOfABubbleWorksInsideIt(t *testing.T) {
	t.Parallel()
	limits := map[string]adaptive.SendLimit{
		"without a known limit":  {},
		"with a starting rate":   {Starting: 2},
		"with a ceiling as well": {Starting: 2, Ceiling: 3},
	}
	for name, limit := range limits {
		for _, throttledBefore := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, err := adaptive.New(adaptive.Config{
					Standard:  standard.Config{MaxAttempts: 2, Random: func() float64 { return 0 }},
					SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return limit },
				})
				require.NoError(t, err)
				if throttledBefore {
					_, err = retry.Do(t.Context(), s, retry.Operation{MaxAttempts: 1}, play.Answers(errThrottle))
					require.ErrorIs(t, err, errThrottle)
				}
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					_, err := retry.Do(t.Context(), s, retry.Operation{}, play.Answers())
					require.NoError(t, err)
					require.Zero(t, time.Since(start), "it begins anew")

					_, err = retry.Do(t.Context(), s, retry.Operation{}, play.Answers(errThrottle))
					require.NoError(t, err)
					require.Positive(t, time.Since(start), "a throttle limits here too")
					require.Less(t, time.Since(start), 10*time.Second)
				})
			})
		}
	}
}

// A scope is kept for ten minutes after a throttle. The ten minutes after a throttle in the
// future of the bubble have no end.
func TestScopesFromOutsideOfABubbleAreEvictedInsideIt(t *testing.T) {
	t.Parallel()
	s, err := adaptive.New(adaptive.Config{Standard: standard.Config{MaxAttempts: 1, ScopeIdle: time.Minute}})
	require.NoError(t, err)
	_, err = retry.Do(t.Context(), s, retry.Operation{Scope: "outside"}, play.Answers(errThrottle))
	require.ErrorIs(t, err, errThrottle)
	synctest.Test(t, func(t *testing.T) {
		for i := range 4 {
			_, err := retry.Do(t.Context(), s, retry.Operation{Scope: strconv.Itoa(i)}, play.Answers())
			require.NoError(t, err)
			require.NoError(t, clock.System{}.Sleep(t.Context(), time.Minute))
		}
		for _, scope := range s.Snapshot().Scopes {
			require.NotEqual(t, "outside", scope.Key.Scope)
		}
	})
}
