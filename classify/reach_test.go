package classify_test

import (
	"testing"

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
		require.Equal(t, want, classify.ReachOf(word), word)
	}
}
