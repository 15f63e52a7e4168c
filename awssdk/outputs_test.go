package awssdk

import (
	"context"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
)

func TestCodesOfThrottledEntries(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"ThrottlingException", "Throttling", "Throttled", "THROTTLED", "THROTTLING", "RequestThrottled", "REQUEST_THROTTLED",
		"AccountThrottled", "ACCOUNT_THROTTLED", "ThrottlingError", "KMSThrottlingException", "KmsThrottled",
		"ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded", "RequestLimitExceeded", "SlowDown",
		"TooManyRequestsException", "com.amazonaws.kinesis#ThrottlingException", "EC2RequestLimitExceeded",
	} {
		require.True(t, isThrottleCode(code), code)
	}
	for _, code := range []string{
		"", "InternalFailure", "ServiceUnavailableException", "ValidationError", "InsufficientInstanceCapacity", "AccessDenied",
		"LimitExceededException", "OverLimit", "ACCOUNT_DAILY_QUOTA_EXCEEDED", "InternalError", "Success",
	} {
		require.False(t, isThrottleCode(code), code)
	}
}

// answer is the output of a batch, in the forms that the rows have.
type (
	codeOf  struct{ Code, ErrorCode, Status, FailureCode *string }
	nested  struct{ Error *codeOf }
	listed  struct{ Errors []codeOf }
	entries struct {
		Entries, Records []int
		Delete           *struct{ Objects []int }
		RequestItems     map[string][]int
		Keyed            map[string]struct{ Keys []int }
	}
	results struct {
		Records, RequestResponses, Failed, Errors, Status []codeOf
		Nested                                            []nested
		Listed                                            []listed
		Pointers                                          []*codeOf
		Unprocessed                                       map[string][]int
		UnprocessedKeys                                   map[string]struct{ Keys []int }
	}
)

func TestThrottledEntriesAreCounted(t *testing.T) {
	t.Parallel()
	throttled, failed := "ThrottlingException", "InternalFailure"
	code := func(texts ...*string) (all []codeOf) {
		for _, text := range texts {
			all = append(all, codeOf{Code: text, ErrorCode: text, Status: text, FailureCode: text})
		}
		return all
	}
	unavailable := "ServiceUnavailableException"
	five := make([]int, 5)
	for _, c := range []struct {
		name          string
		row           batch
		input, output any
		throttled, of int
	}{
		{
			"results of all",
			batch{entries: "Records", results: "Records", code: "ErrorCode"},
			&entries{Records: make([]int, 3)}, &results{Records: code(nil, &throttled, &failed)}, 1, 3,
		},
		{
			"results of failures",
			batch{entries: "Entries", results: "Failed", code: "Code"},
			&entries{Entries: five}, &results{Failed: code(&throttled, &throttled, &failed)}, 2, 5,
		},
		{
			"other failures",
			batch{entries: "Entries", results: "Failed", code: "Code"},
			&entries{Entries: five}, &results{Failed: code(&failed)}, 0, 0,
		},
		{"nothing failed", batch{entries: "Entries", results: "Failed", code: "Code"}, &entries{Entries: five}, &results{}, 0, 0},
		{
			"no entries in the input",
			batch{results: "Errors", code: "ErrorCode"},
			&entries{}, &results{Errors: code(&throttled)}, 1, 1,
		},
		{
			"no input",
			batch{entries: "Entries", results: "Errors", code: "ErrorCode"},
			nil, &results{Errors: code(&throttled)}, 1, 1,
		},
		{
			"code of one operation",
			batch{entries: "Records", results: "RequestResponses", code: "ErrorCode", also: unavailable},
			&entries{Records: five}, &results{RequestResponses: code(&unavailable, nil, &throttled, nil, nil)}, 2, 5,
		},
		{
			"entries inside",
			batch{entries: "Delete.Objects", results: "Errors", code: "Code"},
			&entries{Delete: &struct{ Objects []int }{five}}, &results{Errors: code(&throttled)}, 1, 5,
		},
		{
			"code inside",
			batch{entries: "Entries", results: "Nested", code: "Error.Code"},
			&entries{Entries: five}, &results{Nested: []nested{{&code(&throttled)[0]}, {}}}, 1, 5,
		},
		{
			"several codes of one entry",
			batch{entries: "Entries", results: "Listed", code: "Errors.ErrorCode"},
			&entries{Entries: five}, &results{Listed: []listed{{code(&failed, &throttled, &throttled)}, {code(&failed)}}}, 1, 5,
		},
		{
			"pointers",
			batch{entries: "Entries", results: "Pointers", code: "Code"},
			&entries{Entries: five}, &results{Pointers: []*codeOf{nil, &code(&throttled)[0]}}, 1, 5,
		},
		{
			"unprocessed",
			batch{entries: "RequestItems", results: "Unprocessed"},
			&entries{RequestItems: map[string][]int{"a": five, "b": five}},
			&results{Unprocessed: map[string][]int{"a": five[:2], "b": five[:1]}}, 3, 10,
		},
		{
			"unprocessed keys",
			batch{entries: "Keyed", results: "UnprocessedKeys"},
			&entries{Keyed: map[string]struct{ Keys []int }{"a": {five}}},
			&results{UnprocessedKeys: map[string]struct{ Keys []int }{"a": {five[:4]}}}, 4, 5,
		},
		{"no such field", batch{entries: "None", results: "None", code: "None"}, &entries{}, &results{}, 0, 0},
		{"nil output", batch{entries: "Entries", results: "Failed", code: "Code"}, &entries{}, (*results)(nil), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			throttled, of := c.row.throttled(c.input, c.output, middleware.Metadata{})
			require.Equal(t, c.throttled, throttled)
			require.Equal(t, c.of, of)
		})
	}
}

func TestOutputsOfAClientAreRead(t *testing.T) {
	t.Parallel()
	const table = "orders"
	writes := make([]types.WriteRequest, 25)
	wrote := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: writes}}
	keys := make([]map[string]types.AttributeValue, 100)
	got := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}}}
	answered := func(size int64) (about middleware.Metadata) {
		stack := &smithyhttp.Response{Response: &http.Response{ContentLength: size}}
		next := middleware.DeserializeHandlerFunc(func(context.Context, middleware.DeserializeInput) (
			out middleware.DeserializeOutput, metadata middleware.Metadata, err error,
		) {
			return middleware.DeserializeOutput{RawResponse: stack}, metadata, nil
		})
		_, about, err := awsmiddleware.AddRawResponse{}.HandleDeserialize(t.Context(), middleware.DeserializeInput{}, next)
		require.NoError(t, err)
		return about
	}
	left := &dynamodb.BatchGetItemOutput{UnprocessedKeys: map[string]types.KeysAndAttributes{table: {Keys: keys[:7]}}}
	for _, c := range []struct {
		name          string
		input, output any
		about         middleware.Metadata
		throttled, of int
	}{
		{"writes", wrote, &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{table: writes[:3]}}, answered(100), 3, 25},
		{"all written", wrote, &dynamodb.BatchWriteItemOutput{}, answered(100), 0, 0},
		{"keys", got, left, answered(1 << 20), 7, 100},
		{"keys, of a response whose size is not known", got, left, middleware.Metadata{}, 7, 100},
		{"keys that did not fit into the response", got, left, answered(16 << 20), 0, 0},
		{"statements", &dynamodb.BatchExecuteStatementInput{Statements: make([]types.BatchStatementRequest, 2)}, &dynamodb.BatchExecuteStatementOutput{
			Responses: []types.BatchStatementResponse{{}, {Error: &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumThrottlingError}}},
		}, answered(100), 1, 2},
		{"no batch", &dynamodb.GetItemInput{}, &dynamodb.GetItemOutput{}, answered(100), 0, 0},
		{"no output", wrote, nil, answered(0), 0, 0},
		{"another type", wrote, "text", answered(0), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			read := outputs{}
			for range 2 { // the second time from what it has learned
				throttled, of := read.throttled(c.input, c.output, c.about)
				require.Equal(t, c.throttled, throttled)
				require.Equal(t, c.of, of)
			}
		})
	}
}
