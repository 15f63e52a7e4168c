package awssdk

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
