package conformance_test

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/conformance"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
	"github.com/awsretry/awsretry/testdata"
)

// configOf returns the Config that a case asks for.
func configOf(s *conformance.Settings) standard.Config {
	return standard.Config{
		Behavior: s.Behavior(), MaxAttempts: s.MaxAttempts(), QuotaCapacity: new(s.QuotaCapacity()),
		MaxBackoff: s.MaxBackoff(), Random: s.Random(),
	}
}

func newStandard(s *conformance.Settings) (retry.Strategy, error) { return standard.New(configOf(s)) }

// newAdaptive returns adaptive mode as the AWS SDKs have it: each throttle cuts the rate.
func newAdaptive(s *conformance.Settings) (retry.Strategy, error) {
	return adaptive.New(adaptive.Config{Standard: configOf(s), Controller: ratelimit.CutPerThrottle})
}

// folders are where there are cases: those of the module, and those of a folder that the environment
// may name.
func folders(t *testing.T) map[string]fs.ReadFileFS {
	t.Helper()
	all := map[string]fs.ReadFileFS{"own": testdata.Cases}
	if extra := os.Getenv("AWSRETRY_CONFORMANCE"); extra != "" {
		shared, ok := os.DirFS(extra).(fs.ReadFileFS)
		require.True(t, ok)
		all["shared"] = shared
	}
	return all
}

func TestStrategiesKeepEveryRule(t *testing.T) {
	t.Parallel()
	for title, cases := range folders(t) {
		for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
			for _, subject := range []conformance.Subject{
				{Name: "standard", New: conformance.FromStrategy(newStandard)},
				{Name: "adaptive", New: conformance.FromStrategy(newAdaptive), Adaptive: true},
			} {
				subject.Behavior = behavior
				t.Run(title+"/"+subject.Name+"/"+string(behavior), func(t *testing.T) {
					t.Parallel()
					report, err := conformance.CheckCases(t, subject, cases)
					require.NoError(t, err)
					require.Greater(t, len(report.Rules), 20)
					for _, rule := range report.Rules {
						if !subject.Adaptive || rule.Result != conformance.NotAsked {
							require.Equal(t, conformance.Kept, rule.Result, "%s", rule)
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
