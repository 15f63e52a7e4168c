package classify_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
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
		{"a longer name", "bedrock-agentcore-control", joinAnswer(409, conflict), none},
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

func TestKindsOfModeledErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		services, service string
		want              classify.Kind
	}{
		{"A|B*|C", "a", classify.Transient},
		{"A|B*|C", "b", classify.Throttling},
		{"A|B*|C", "c", classify.Transient},
		{"A|B*|C", "d", classify.KindNone},
		{"A|B*|C", "", classify.KindNone},
		{"A|B*|C", "-_ ", classify.KindNone},
		{"A b", "ab", classify.Transient},
		{"ab", "A-B ", classify.Transient},
	} {
		require.Equal(t, c.want, classify.KindIn(c.services, c.service), "%s in %s", c.service, c.services)
	}
}
