package classify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/entry"
)

func TestCodesOfEntriesAreSpelledInManyWays(t *testing.T) {
	t.Parallel()
	for code, kind := range map[string]classify.Kind{
		"ThrottlingError": classify.Throttling, "Throttled": classify.Throttling, "REQUEST_THROTTLED": classify.Throttling,
		"KMSThrottlingException": classify.Throttling, "ProvisionedThroughputExceeded": classify.Throttling,
		"EC2RequestLimitExceeded": classify.Throttling, "TooManyRequests": classify.Throttling,
		"com.amazonaws.kinesis#ThrottlingException": classify.Throttling, "SlowDown": classify.Throttling,
		"InternalServerError": classify.Transient, "INTERNAL_ERROR": classify.Transient, "ServiceFailure": classify.Transient,
		"ServiceUnavailableException": classify.Transient, "TransientFailure": classify.Transient,
		"ValidationError": classify.KindNone, "OverLimit": classify.KindNone, "InsufficientInstanceCapacity": classify.KindNone,
		"AccountDailyQuotaExceeded": classify.KindNone, "": classify.KindNone,
	} {
		for name, chain := range map[string]*classify.Chain{"default": classify.Default(), "compatible": classify.AWSCompatible()} {
			require.Equal(t, kind, chain.Classify(classify.Outcome{Err: entry.CodeError(code)}).Kind(), "%s %s", name, code)
		}
	}
}

func TestSpellingsOfEntriesAreNoneOfAnswers(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"ThrottlingError", "InternalServerError"} {
		require.False(t, classify.Default().Classify(classify.Outcome{Err: &serviceError{code: code}}).Retryable(), code)
		require.True(t, classify.Default().Classify(classify.Outcome{Err: entry.Error{Err: &serviceError{code: code}}}).Retryable(), code)
	}
}

func TestUnavailableServiceIsAThrottleForFirehose(t *testing.T) {
	t.Parallel()
	for service, kind := range map[string]classify.Kind{
		"firehose": classify.Throttling, "Firehose": classify.Throttling, "iotsitewise": classify.Transient, "": classify.Transient,
	} {
		outcome := classify.Outcome{Err: entry.CodeError("ServiceUnavailableException"), Service: service}
		require.Equal(t, kind, classify.Default().Classify(outcome).Kind(), service)
	}
}

func TestMarkOfAnEntryCounts(t *testing.T) {
	t.Parallel()
	marked := &classify.JudgedError{Verdict: forbidden, Err: entry.CodeError("ThrottlingException")}
	require.True(t, classify.Outcome{Err: entry.Error{Err: marked}}.Judge(classify.Default(), nil).Forbids())
}
