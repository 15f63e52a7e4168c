package classify

import "strings"

// ReachOf returns the reach of what AWS services call a limit, such as "ACCOUNT_THROTTLED", compared with the scope that
// package awssdk chooses. The words are in the models of the services, and each means the same in all of them. The reach
// of "" is ReachUnknown, and that of any other word ReachOther.
func ReachOf(word string) Reach {
	switch word {
	case "":
		return ReachUnknown

	// Model of Lambda, ThrottleReason; Developer Guide, Understanding Lambda function scaling: reserved
	// concurrency is that of the function, and so is a rate of ten times as many requests a second.
	case "ReservedFunctionConcurrentInvocationLimitExceeded", "ReservedFunctionInvocationRateLimitExceeded":
		return ReachScope
	// The same pages: without reserved concurrency functions share that of the account in the region,
	// with ten times as many requests a second.
	case "ConcurrentInvocationLimitExceeded", "FunctionInvocationRateLimitExceeded",
		"CallerRateLimitExceeded", "ConcurrentSnapshotCreateLimitExceeded":
		return ReachWider

	// Model of EBS, RequestThrottledExceptionReason. The scope is the service, a resource a snapshot.
	case "ACCOUNT_THROTTLED":
		return ReachScope
	case "RESOURCE_LEVEL_THROTTLE":
		return ReachPart

	// Model of Athena, ThrottleReason: the queries of the account in the region.
	case "CONCURRENT_QUERY_LIMIT_EXCEEDED":
		return ReachScope
	}
	return reachOfDynamoDB(word)
}

// reachOfDynamoDB follows the model of DynamoDB, ThrottlingReason: a word is Table or Index, Read or
// Write, and one of four limits. The quota of an account that it calls AccountLimit is one of each
// table. A word of another form, such as one for the quota of KMS, is about something else.
func reachOfDynamoDB(word string) Reach {
	limit, index := strings.CutPrefix(word, "Index")
	limit, table := strings.CutPrefix(limit, "Table")
	limit, read := strings.CutPrefix(limit, "Read")
	limit, write := strings.CutPrefix(limit, "Write")
	if index == table || read == write {
		return ReachOther
	}
	switch limit {
	case "KeyRangeThroughputExceeded":
		return ReachPart
	case "ProvisionedThroughputExceeded", "MaxOnDemandThroughputExceeded", "AccountLimitExceeded":
		if table {
			return ReachScope
		}
	}
	return ReachOther
}
