package conformance_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/conformance"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
	"github.com/awsretry/awsretry/testdata"
)

func once(ctx context.Context, attempt func(context.Context) error) error { return attempt(ctx) }

func newOnce(*conformance.Settings) (conformance.Do, error) { return once, nil }

func TestSubjectThatSaysSomethingImpossibleIsRefused(t *testing.T) {
	t.Parallel()
	for want, subject := range map[string]conformance.Subject{
		`a subject has no Name`:                                               {New: newOnce},
		`NotMeant of the subject "x" has no reason for S01`:                   {Name: "x", New: newOnce, NotMeant: map[string]string{"S01": ""}},
		`the subject "x" has no New`:                                          {Name: "x"},
		`the subject "x" has an unknown Behavior: "v3"`:                       {Name: "x", New: newOnce, Behavior: "v3"},
		`NotMeant of the subject "x" names a rule that does not exist: "S99"`: {Name: "x", New: newOnce, NotMeant: map[string]string{"S99": "why", "S01": "why"}},
		`the subject "x", case of the limit of attempts: New: no such file`: {Name: "x", New: func(*conformance.Settings) (conformance.Do, error) {
			return nil, errors.New("no such file")
		}},
		`the subject "x", case of the limit of attempts: New: a nil Do`: {Name: "x", New: func(*conformance.Settings) (conformance.Do, error) { return nil, nil }},
	} {
		_, err := conformance.CheckCases(t, subject, testdata.Cases)
		require.EqualError(t, err, "conformance: "+want)
	}
}

func TestRuleThatIsNotMeantIsCountedWithItsReason(t *testing.T) {
	t.Parallel()
	report := conformance.Check(t, conformance.Subject{
		Name: "once", New: newOnce, NotMeant: map[string]string{"C01": "it never retries"},
	})
	require.Equal(t, 1, report.Count(conformance.NotMeant))
	for _, rule := range report.Rules {
		if rule.ID == "C01" {
			require.Equal(t, conformance.NotMeant, rule.Result)
			require.Equal(t, "it never retries", rule.Reason)
			require.Empty(t, rule.Findings)
		}
	}
	require.Contains(t, report.String(), "1 not meant C01")
}

// TestStrategiesThatTakeNoSettingsBreakNoRule is about retryers whose jitter, quota and limits the
// suite cannot choose.
func TestStrategiesThatTakeNoSettingsBreakNoRule(t *testing.T) {
	t.Parallel()
	for _, behavior := range []retry.Behavior{retry.V20, retry.V21} {
		for _, subject := range []conformance.Subject{
			{Name: "standard", New: conformance.FromStrategy(func(*conformance.Settings) (retry.Strategy, error) {
				return standard.New(standard.Config{Behavior: behavior})
			})},
			{Name: "adaptive", Adaptive: true, New: conformance.FromStrategy(func(*conformance.Settings) (retry.Strategy, error) {
				return adaptive.New(adaptive.Config{
					Standard: standard.Config{Behavior: behavior}, Controller: ratelimit.CutPerThrottle,
				})
			})},
		} {
			subject.Behavior = behavior
			t.Run(subject.Name+"/"+string(behavior), func(t *testing.T) {
				t.Parallel()
				report := conformance.Check(t, subject)
				require.Greater(t, report.Count(conformance.Kept), 15)
				require.Greater(t, report.Count(conformance.NotAsked), 1)
				for _, rule := range report.Rules {
					require.NotEqual(t, conformance.Broken, rule.Result, "%s", rule)
				}
			})
		}
	}
}
