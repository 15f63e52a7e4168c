package classify_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

// modeledError is an error of a service.
type modeledError struct{ service, code string }

func (m modeledError) outcome(status int) classify.Outcome {
	return classify.Outcome{Err: fmt.Errorf("operation: %w", joinAnswer(status, m.code)), Service: m.service}
}

func TestHardQuotasAreNoRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, code string
		status        int
		want          classify.Verdict
		quota         bool
	}{
		{"CloudWatch Logs", "LimitExceededException", 400, throttle, true},
		{"cloudwatch-logs", "LimitExceededException", 400, throttle, true},
		{"OAM", "ServiceQuotaExceededException", 429, none, false},
		{"WorkDocs", "TooManyLabelsException", 429, none, false},
		{"OAM", "ServiceQuotaExceededException", 402, none, false},
		{"CodeGuruProfiler", "ServiceQuotaExceededException", 402, transient, false},
		{"API Gateway", "LimitExceededException", 429, throttle, false},
		{"Kinesis", "LimitExceededException", 400, throttle, false},
		{"Cost Explorer", "LimitExceededException", 400, throttle, false},
		{"Lambda", "TooManyRequestsException", 429, throttle, false},
		{"SNS", "Throttled", 429, throttle, false},
		{"OAM", "InternalServiceFault", 500, transient, false},
		{"OAM", "", 429, throttle, false},
	} {
		got := classify.Default().Classify(modeledError{service: c.service, code: c.code}.outcome(c.status))
		require.Equal(t, c.quota, got.HardQuota(), "%+v", c)
		require.Equal(t, c.want.Kind(), got.Kind(), "%+v", c)
		require.Equal(t, c.want.Retryable(), got.Retryable(), "%+v", c)
	}
}

func TestErrorThatSaysItIsAThrottleIsRetriedAlsoWithTheCodeOfAHardQuota(t *testing.T) {
	t.Parallel()
	o := modeledError{service: "OAM", code: "ServiceQuotaExceededException"}.outcome(429)
	o.Err = fmt.Errorf("%w: %w", o.Err, throttlingError(true))
	got := classify.Default().Classify(o)
	require.Equal(t, classify.Throttling, got.Kind())
	require.True(t, got.HardQuota())
	require.Equal(t, "retry(throttling, hard quota)", got.String())
}
