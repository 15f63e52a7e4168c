package classify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/classify"
)

func TestReachOfEachWordOfTheModels(t *testing.T) {
	t.Parallel()
	const each = " TableReadX TableWriteX IndexReadX IndexWriteX"
	for want, words := range map[classify.Reach]string{
		classify.ReachPart: strings.ReplaceAll(each, "X", "KeyRangeThroughputExceeded") + " RESOURCE_LEVEL_THROTTLE",
		classify.ReachScope: "TableReadProvisionedThroughputExceeded TableWriteProvisionedThroughputExceeded " +
			"TableReadMaxOnDemandThroughputExceeded TableWriteMaxOnDemandThroughputExceeded " +
			"TableReadAccountLimitExceeded TableWriteAccountLimitExceeded ACCOUNT_THROTTLED CONCURRENT_QUERY_LIMIT_EXCEEDED " +
			"ReservedFunctionConcurrentInvocationLimitExceeded ReservedFunctionInvocationRateLimitExceeded",
		classify.ReachOther: "IndexReadProvisionedThroughputExceeded IndexWriteProvisionedThroughputExceeded " +
			"IndexReadMaxOnDemandThroughputExceeded IndexWriteMaxOnDemandThroughputExceeded " +
			"IndexReadAccountLimitExceeded IndexWriteAccountLimitExceeded TableReadSomethingNew KeyRangeThroughputExceeded " +
			"TableKeyRangeThroughputExceeded DEPENDENCY_REQUEST_THROTTLED KMS_THROTTLING KMS_ThrottlingException",
		classify.ReachWider: "ConcurrentInvocationLimitExceeded FunctionInvocationRateLimitExceeded CallerRateLimitExceeded " +
			"ConcurrentSnapshotCreateLimitExceeded",
	} {
		for word := range strings.FieldsSeq(words) {
			require.Equal(t, want, classify.ReachOf(word), word)
		}
	}
	require.Equal(t, classify.ReachUnknown, classify.ReachOf(""))
}
