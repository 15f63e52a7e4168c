package classify_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

// operationError has the methods of smithy-go's error around a call.
type operationError struct {
	service string
	err     error
}

func (e *operationError) Error() string   { return "operation error " + e.service }
func (e *operationError) Unwrap() error   { return e.err }
func (e *operationError) Service() string { return e.service }

func TestModeledErrorsAreThoseOfTheirService(t *testing.T) {
	t.Parallel()
	const conflict = "RetryableConflictException"
	for _, c := range []struct {
		name, service string
		err           error
		want          classify.Verdict
	}{
		{"its service", "Bedrock AgentCore", joinAnswer(409, conflict), transient},
		{"with dashes", "bedrock-agentcore", joinAnswer(409, conflict), transient},
		{"in one word, in upper case", "BEDROCKAGENTCORE", joinAnswer(409, conflict), transient},
		{"with underscores", "_bedrock_agentcore_", joinAnswer(409, conflict), transient},
		{"with a namespace", "bedrock-agentcore", joinAnswer(409, "x#"+conflict+":y"), transient},
		{"another service", "s3", joinAnswer(409, conflict), none},
		{"a longer name", "bedrock-agentcore-other", joinAnswer(409, conflict), none},
		{"a shorter name", "bedrock", joinAnswer(409, conflict), none},
		{"no service", "", joinAnswer(409, conflict), none},
		{"only the error knows", "", &operationError{"Bedrock AgentCore", joinAnswer(409, conflict)}, transient},
		{"the error knows of another", "", &operationError{"S3", joinAnswer(409, conflict)}, none},
		{"the caller knows better", "bedrock-agentcore", &operationError{"S3", joinAnswer(409, conflict)}, transient},
		{"an inner error knows", "", &operationError{"", &operationError{"Bedrock AgentCore", joinAnswer(409, conflict)}}, transient},
		{"of several words", "directory-service-data", joinAnswer(400, "DirectoryUnavailableException"), transient},
		{"as its address has it", "ds-data", joinAnswer(400, "DirectoryUnavailableException"), none},
		{"one of several services", "mediaconnect", joinAnswer(409, "ConflictException"), transient},
		{"the last of several services", "odb", joinAnswer(0, "InternalServerException"), transient},
		{"none of several services", "lambda", joinAnswer(409, "ConflictException"), none},
		{"another code", "bedrock-agentcore", joinAnswer(409, "ConflictException"), none},
		{"a throttle stays one", "bedrock-agentcore", joinAnswer(429, conflict), throttle},
		{"forbidden", "bedrock-agentcore", errors.Join(joinAnswer(409, conflict), no), forbidden},
	} {
		for how, err := range wrappings(c.err) {
			o := classify.Outcome{Err: fmt.Errorf("call: %w", err), Service: c.service}
			require.Equal(t, c.want, classify.Default().Classify(o), "%s, %s", c.name, how)
			if c.want == transient {
				require.Equal(t, none, changed(t)(classify.Default().Without("modeled")).Classify(o), "the classifier can be left out")
			}
		}
	}
}

func TestMarksOfModeledErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		services, service string
		want              byte
	}{
		{"A|B*|C", "a", ' '},
		{"A|B*|C", "b", '*'},
		{"A|B*|C", "c", ' '},
		{"A|B*|C", "d", 0},
		{"A|B*|C", "", 0},
		{"A|B*|C", "-_ ", 0},
		{"A~|:", "a", '~'},
		{"A~|:", "b", ':'},
		{"A~|:", "", ':'},
		{"A b#", "ab", '#'},
		{"ab", "A-B ", ' '},
	} {
		require.Equal(t, c.want, classify.MarkIn(c.services, c.service), "%s in %s", c.service, c.services)
	}
}

// TestCodesOfAnswersAndEntries: a throttle is one in both, also one of another service behind it. A fault of the service has a
// status in an answer, so its code alone counts only for an entry.
func TestCodesOfAnswersAndEntries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, codes string
		answer, entry  classify.Kind
		reach          classify.Reach
	}{
		{"", "ThrottlingError Throttled REQUEST_THROTTLED ProvisionedThroughputExceeded TooManyRequests x#ThrottlingException SlowDown", classify.Throttling, classify.Throttling, classify.ReachUnknown},
		{"", "KMSThrottlingException KmsThrottled KMS.ThrottlingException KMSThrottling KmsThrottlingException UpstreamTooManyRequests", classify.Throttling, classify.Throttling, classify.ReachOther},
		{"", "InternalServerError INTERNAL_ERROR ServiceFailure ServiceUnavailableException TransientFailure", classify.KindNone, classify.Transient, classify.ReachUnknown},
		{"", "ValidationError OverLimit InsufficientInstanceCapacity AccountDailyQuotaExceeded #", classify.KindNone, classify.KindNone, classify.ReachUnknown},
		{"firehose", "ServiceUnavailableException", classify.Throttling, classify.Throttling, classify.ReachUnknown},
		{"iotsitewise", "ServiceUnavailableException", classify.KindNone, classify.Transient, classify.ReachUnknown},
		{"Kinesis Video Media", "ClientLimitExceededException", classify.Throttling, classify.Throttling, classify.ReachUnknown},
		{"Kinesis", "ClientLimitExceededException", classify.KindNone, classify.KindNone, classify.ReachUnknown},
	} {
		for code := range strings.FieldsSeq(c.codes) {
			for _, chain := range []*classify.Chain{classify.Default(), classify.AWSCompatible()} {
				answer := chain.Classify(classify.Outcome{Err: codeError(code), Service: c.service})
				require.Equal(t, c.answer, answer.Kind(), code)
				require.Equal(t, c.reach, answer.Reach(), code)
				for _, err := range []error{wire.EntryCodeError(code), wire.EntryError{Err: codeError(code)}} {
					require.Equal(t, c.entry, chain.Classify(classify.Outcome{Err: err, Service: c.service}).Kind(), code)
				}
			}
		}
	}
	marked := &classify.JudgedError{Verdict: forbidden, Err: wire.EntryCodeError("ThrottlingException")}
	require.Equal(t, forbidden, classify.Outcome{Err: wire.EntryError{Err: marked}}.Judge(classify.Default(), nil))
	always := classify.Func(func(error) bool { return true })
	require.Equal(t, classify.Throttling, always.Classify(classify.Outcome{Err: codeError("KmsThrottled")}).Kind())
}
