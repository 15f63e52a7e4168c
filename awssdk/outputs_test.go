package awssdk

import (
	"context"
	"testing"

	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/retry"
)

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
	ofFive, ofRecords := &entries{Entries: five}, func(n int) *entries { return &entries{Records: make([]int, n)} }
	at := func(entries, results, code string) wire.Batch {
		return wire.Batch{Entries: entries, Results: results, Code: code}
	}
	failures := at("Entries", "Failed", "Code")
	for _, c := range []struct {
		name          string
		row           wire.Batch
		input, output any
		throttled, of int
	}{
		{"results of all", at("Records", "Records", "ErrorCode"), ofRecords(3), &results{Records: code(nil, &throttled, &failed)}, 1, 3},
		{"results of failures", failures, ofFive, &results{Failed: code(&throttled, &throttled, &failed)}, 2, 5},
		{"other failures", failures, ofFive, &results{Failed: code(&failed)}, 0, 5},
		{"nothing failed", failures, ofFive, &results{}, 0, 5},
		{"no entries in the input", at("", "Errors", "ErrorCode"), &entries{}, &results{Errors: code(&throttled)}, 1, 1},
		{"no input", at("Entries", "Errors", "ErrorCode"), nil, &results{Errors: code(&throttled)}, 1, 1},
		{
			"code of one operation", at("Records", "RequestResponses", "ErrorCode"), ofRecords(5),
			&results{RequestResponses: code(&unavailable, nil, &throttled, nil, nil)}, 2, 5,
		},
		{
			"entries inside", at("Delete.Objects", "Errors", "Code"), &entries{Delete: &struct{ Objects []int }{five}},
			&results{Errors: code(&throttled)}, 1, 5,
		},
		{
			"code inside", at("Entries", "Nested", "Error.Code"), ofFive,
			&results{Nested: []nested{{&code(&throttled)[0]}, {}}}, 1, 5,
		},
		{
			"several codes of one entry", at("Entries", "Listed", "Errors.ErrorCode"), ofFive,
			&results{Listed: []listed{{code(&failed, &throttled, &throttled)}, {code(&failed)}}}, 1, 5,
		},
		{"pointers", at("Entries", "Pointers", "Code"), ofFive, &results{Pointers: []*codeOf{nil, &code(&throttled)[0]}}, 1, 5},
		{
			"unprocessed", at("RequestItems", "Unprocessed", ""), &entries{RequestItems: map[string][]int{"a": five, "b": five}},
			&results{Unprocessed: map[string][]int{"a": five[:2], "b": five[:1]}}, 3, 10,
		},
		{
			"unprocessed keys", at("Keyed", "UnprocessedKeys", ""), &entries{Keyed: map[string]struct{ Keys []int }{"a": {five}}},
			&results{UnprocessedKeys: map[string]struct{ Keys []int }{"a": {five[:4]}}}, 4, 5,
		},
		{"no such field", at("None", "None", "None"), &entries{}, &results{}, 0, 0},
		{"nil output", failures, &entries{}, (*results)(nil), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			result := read("Firehose", c.row, c.input, c.output)
			require.Equal(t, retry.Result{Throttled: c.throttled, Entries: c.of}, result)
		})
	}
}

// Embedded is what a middleware of a program may put around an output.
type Embedded struct{ UnprocessedItems []int }

func TestOutputsOfOtherOperationsAreNotRead(t *testing.T) {
	t.Parallel()
	type output struct{ UnprocessedItems []int }
	for name, c := range map[string]struct {
		service, operation string
		output             any
		throttled          int
	}{
		"the operation":                        {"DynamoDB", "BatchWriteItem", &output{[]int{1}}, 1},
		"a value":                              {"DynamoDB", "BatchWriteItem", output{[]int{1}}, 1},
		"an operation of another service":      {"Firehose", "BatchWriteItem", &output{[]int{1}}, 0},
		"another operation":                    {"DynamoDB", "GetItem", &output{[]int{1}}, 0},
		"no name":                              {"", "", &output{[]int{1}}, 0},
		"no output":                            {"DynamoDB", "BatchWriteItem", nil, 0},
		"a nil pointer":                        {"DynamoDB", "BatchWriteItem", (*output)(nil), 0},
		"an output that a middleware replaced": {"DynamoDB", "BatchWriteItem", "text", 0},
		"one with the field in a nil pointer":  {"DynamoDB", "BatchWriteItem", struct{ *Embedded }{}, 0},
		"one with a field of another type":     {"DynamoDB", "BatchWriteItem", &struct{ UnprocessedItems string }{"text"}, 0},
	} {
		inCall(c.service, "", c.operation, func(ctx context.Context) {
			require.Equal(t, c.throttled, resultOf(ctx, nil, c.output, middleware.Metadata{}).Throttled, name)
		})
	}
}
