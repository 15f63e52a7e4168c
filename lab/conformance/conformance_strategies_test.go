//go:build !race

package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestStrategiesKeepEveryRule(t *testing.T) {
	t.Parallel()
	for title, cases := range folders(t) {
		for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
			for _, subject := range []Subject{
				{Name: "standard", New: FromStrategy(newStandard)},
				{Name: "adaptive", New: FromStrategy(newAdaptive), Adaptive: true},
			} {
				subject.Behavior = behavior
				t.Run(title+"/"+subject.Name+"/"+string(behavior), func(t *testing.T) {
					t.Parallel()
					report, err := checkCases(t, subject, cases)
					require.NoError(t, err)
					require.Greater(t, len(report.Rules), 20)
					for _, rule := range report.Rules {
						if !subject.Adaptive || rule.Result != NotAsked {
							require.Equal(t, Kept, rule.Result, "%s", rule)
							continue
						}
						require.Contains(t, []string{
							"there is no such case of v2.0", "after a throttle the wait for the send rate hides the backoff",
						}, rule.Reason, "%s", rule)
					}
				})
			}
		}
	}
}

// TestStrategiesThatTakeNoSettingsBreakNoRule is about retryers whose jitter, quota and limits the
// suite cannot choose.
func TestStrategiesThatTakeNoSettingsBreakNoRule(t *testing.T) {
	t.Parallel()
	for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
		for _, subject := range []Subject{
			{Name: "standard", New: FromStrategy(func(*Settings) (retry.Strategy, error) {
				return standard.New(standard.Config{Behavior: behavior})
			})},
			{Name: "adaptive", Adaptive: true, New: FromStrategy(func(*Settings) (retry.Strategy, error) {
				return adaptive.New(adaptive.Config{
					Standard: standard.Config{Behavior: behavior}, Controller: ratelimit.CutPerThrottle,
				})
			})},
		} {
			subject.Behavior = behavior
			t.Run(subject.Name+"/"+string(behavior), func(t *testing.T) {
				t.Parallel()
				report := Check(t, subject)
				require.Greater(t, report.Count(Kept), 15)
				require.Greater(t, report.Count(NotAsked), 1)
				for _, rule := range report.Rules {
					require.NotEqual(t, Broken, rule.Result, "%s", rule)
				}
			})
		}
	}
}
