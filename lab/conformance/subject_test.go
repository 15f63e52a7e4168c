package conformance

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/testdata"
)

func TestSubjectThatSaysSomethingImpossibleIsRefused(t *testing.T) {
	t.Parallel()
	for want, subject := range map[string]Subject{
		`a subject has no Name`:                                               {New: newOnce},
		`NotMeant of the subject "x" has no reason for S01`:                   {Name: "x", New: newOnce, NotMeant: map[string]string{"S01": ""}},
		`the subject "x" has no New`:                                          {Name: "x"},
		`the subject "x" has an unknown Behavior: "v3"`:                       {Name: "x", New: newOnce, Behavior: "v3"},
		`NotMeant of the subject "x" names a rule that does not exist: "S99"`: {Name: "x", New: newOnce, NotMeant: map[string]string{"S99": "why", "S01": "why"}},
		`the subject "x", case of the limit of attempts: New: no such file`: {Name: "x", New: func(*Settings) (Do, error) {
			return nil, errors.New("no such file")
		}},
		`the subject "x", case of the limit of attempts: New: a nil Do`: {Name: "x", New: func(*Settings) (Do, error) { return nil, nil }},
	} {
		_, err := checkCases(t, subject, testdata.Cases)
		require.EqualError(t, err, "conformance: "+want)
	}
}

func TestRuleThatIsNotMeantIsCountedWithItsReason(t *testing.T) {
	t.Parallel()
	report := Check(t, Subject{
		Name: "once", New: newOnce, NotMeant: map[string]string{"C01": "it never retries"},
	})
	require.Equal(t, 1, report.Count(NotMeant))
	for _, rule := range report.Rules {
		if rule.ID == "C01" {
			require.Equal(t, NotMeant, rule.Result)
			require.Equal(t, "it never retries", rule.Reason)
			require.Empty(t, rule.Findings)
		}
	}
	require.Contains(t, report.String(), "1 not meant C01")
}
