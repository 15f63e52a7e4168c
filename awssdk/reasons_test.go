package awssdk

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestReachOfEachWordOfTheModels(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]classify.Reach{
		"":                                        classify.ReachUnknown,
		"TableReadKeyRangeThroughputExceeded":     classify.ReachPart,
		"TableWriteKeyRangeThroughputExceeded":    classify.ReachPart,
		"IndexReadKeyRangeThroughputExceeded":     classify.ReachPart,
		"IndexWriteKeyRangeThroughputExceeded":    classify.ReachPart,
		"TableReadProvisionedThroughputExceeded":  classify.ReachScope,
		"TableWriteProvisionedThroughputExceeded": classify.ReachScope,
		"TableReadMaxOnDemandThroughputExceeded":  classify.ReachScope,
		"TableWriteMaxOnDemandThroughputExceeded": classify.ReachScope,
		"TableReadAccountLimitExceeded":           classify.ReachScope,
		"TableWriteAccountLimitExceeded":          classify.ReachScope,
		"IndexReadProvisionedThroughputExceeded":  classify.ReachOther,
		"IndexWriteProvisionedThroughputExceeded": classify.ReachOther,
		"IndexReadMaxOnDemandThroughputExceeded":  classify.ReachOther,
		"IndexWriteMaxOnDemandThroughputExceeded": classify.ReachOther,
		"IndexReadAccountLimitExceeded":           classify.ReachOther,
		"IndexWriteAccountLimitExceeded":          classify.ReachOther,
		"TableReadSomethingNew":                   classify.ReachOther,
		"KeyRangeThroughputExceeded":              classify.ReachOther,
		"TableKeyRangeThroughputExceeded":         classify.ReachOther,

		"ReservedFunctionConcurrentInvocationLimitExceeded": classify.ReachScope,
		"ReservedFunctionInvocationRateLimitExceeded":       classify.ReachScope,
		"ConcurrentInvocationLimitExceeded":                 classify.ReachWider,
		"FunctionInvocationRateLimitExceeded":               classify.ReachWider,
		"CallerRateLimitExceeded":                           classify.ReachWider,
		"ConcurrentSnapshotCreateLimitExceeded":             classify.ReachWider,

		"ACCOUNT_THROTTLED":               classify.ReachScope,
		"RESOURCE_LEVEL_THROTTLE":         classify.ReachPart,
		"DEPENDENCY_REQUEST_THROTTLED":    classify.ReachOther,
		"CONCURRENT_QUERY_LIMIT_EXCEEDED": classify.ReachScope,
		"KMS_THROTTLING":                  classify.ReachOther,
		"KMS_ThrottlingException":         classify.ReachOther,
	} {
		require.Equal(t, want, reachOf(word), word)
	}
}

func TestReasonsAreThoseOfTheModeledError(t *testing.T) {
	t.Parallel()
	reason := func(word string) types.ThrottlingReason { return types.ThrottlingReason{Reason: aws.String(word)} }
	const key, table = "TableReadKeyRangeThroughputExceeded", "TableReadProvisionedThroughputExceeded"
	hot := []classify.Reason{{Reach: classify.ReachPart, Word: key}}
	for _, c := range []struct {
		name string
		err  error
		want []classify.Reason
	}{
		{"throughput", &types.ProvisionedThroughputExceededException{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, hot},
		{"throttling", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, hot},
		{"account", &types.RequestLimitExceeded{ThrottlingReasons: []types.ThrottlingReason{reason(key)}}, hot},
		{
			"two", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{reason(key), reason(table)}},
			append(hot[:1:1], classify.Reason{Reach: classify.ReachScope, Word: table}),
		},
		{"empty", &types.ThrottlingException{ThrottlingReasons: []types.ThrottlingReason{{}}}, []classify.Reason{{}}},
		{"none", &types.ThrottlingException{}, nil},
		{"nil", (*types.ThrottlingException)(nil), nil},
		{"no throttle", &types.ResourceNotFoundException{}, nil},
		{"no type", errors.New("plain"), nil},
	} {
		require.Equal(t, c.want, modeledOf(c.err).reasons, c.name)
		require.Equal(t, c.want, modeledOf(fmt.Errorf("operation: %w", c.err)).reasons, c.name)
	}
	many := &types.ThrottlingException{ThrottlingReasons: make([]types.ThrottlingReason, maxReasons+1)}
	require.Len(t, modeledOf(many).reasons, maxReasons)
}

func TestRetryAfterIsAHintOfThrottlesOnly(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		status  int
		seconds string
		millis  string
		want    time.Duration
		none    bool
	}{
		{"throttle", 429, "2", "", 2 * time.Second, false},
		{"throttle with a date", 429, "Sun, 01 Nov 2026 12:00:09 GMT", "", 9 * time.Second, false},
		{"throttle with both", 429, "2", "150", 150 * time.Millisecond, false},
		{"throttle with neither", 429, "", "", 0, true},
		{"server", 503, "2", "", 0, true},
		{"server with milliseconds", 503, "2", "150", 150 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := &smithyhttp.ResponseError{
				Response: &smithyhttp.Response{Response: &http.Response{
					StatusCode: c.status, Header: http.Header{"Retry-After": {c.seconds}, retryAfterHeader: {c.millis}},
				}},
				Err: errors.New("refused"),
			}
			verdict := classify.Default().Classify(classify.Outcome{Err: failureOf(err, err, func() time.Time { return now })})
			after, hinted := verdict.Hint()
			require.Equal(t, !c.none, hinted)
			require.Equal(t, c.want, after)
		})
	}
}
