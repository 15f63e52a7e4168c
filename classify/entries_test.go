package classify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

func TestCodesOfEntriesAreSpelledInManyWays(t *testing.T) {
	t.Parallel()
	for want, codes := range map[classify.Kind]string{
		classify.Throttling: "ThrottlingError Throttled REQUEST_THROTTLED KMSThrottlingException ProvisionedThroughputExceeded " +
			"EC2RequestLimitExceeded TooManyRequests com.amazonaws.kinesis#ThrottlingException SlowDown",
		classify.Transient: "InternalServerError INTERNAL_ERROR ServiceFailure ServiceUnavailableException TransientFailure",
		classify.KindNone:  "ValidationError OverLimit InsufficientInstanceCapacity AccountDailyQuotaExceeded #",
	} {
		for code := range strings.FieldsSeq(codes) {
			for _, chain := range []*classify.Chain{classify.Default(), classify.AWSCompatible()} {
				require.Equal(t, want, chain.Classify(classify.Outcome{Err: wire.EntryCodeError(code)}).Kind(), code)
			}
		}
	}
	for _, code := range []codeError{"ThrottlingError", "InternalServerError"} {
		require.Equal(t, none, verdictOf(code), "of an answer")
		require.True(t, verdictOf(wire.EntryError{Err: code}).Retryable(), code)
	}
	marked := &classify.JudgedError{Verdict: forbidden, Err: wire.EntryCodeError("ThrottlingException")}
	require.Equal(t, forbidden, classify.Outcome{Err: wire.EntryError{Err: marked}}.Judge(classify.Default(), nil))
}

func TestUnavailableServiceIsAThrottleForFirehose(t *testing.T) {
	t.Parallel()
	for service, want := range map[string]classify.Verdict{
		"firehose": throttle, "Firehose": throttle, "iotsitewise": transient, "": transient,
	} {
		outcome := classify.Outcome{Err: wire.EntryCodeError("ServiceUnavailableException"), Service: service}
		require.Equal(t, want, classify.Default().Classify(outcome), service)
	}
}
