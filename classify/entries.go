package classify

import "strings"

// kindOfEntry returns what the code of an entry of a batch means, in an answer that is a success. The codes are those of answers,
// and spellings of throttles and faults of the server that the models and pages of AWS have for entries: ThrottlingError,
// REQUEST_THROTTLED, KMSThrottlingException, InternalServerError. The sources are in the test of
// the outputs of awssdk.
func kindOfEntry(service, code string) Kind {
	if kind := kindOfCode(code); kind != KindNone {
		return kind
	}
	plain := strings.ToLower(strings.ReplaceAll(code, "_", ""))
	starts := func(known ...string) bool {
		for _, prefix := range known {
			if strings.HasPrefix(plain, prefix) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.Contains(plain, "throttl"), strings.HasSuffix(plain, "requestlimitexceeded"),
		starts("provisionedthroughputexceeded", "toomanyrequests", "bufferlimitexceeded"),
		// API Reference of Firehose, PutRecordBatch: the throughput limits are exceeded.
		starts("serviceunavailable") && sameService(service, "firehose"):
		return Throttling
	case starts("internal", "serviceunavailable", "servicefailure", "transientfailure"):
		return Transient
	default:
		return KindNone
	}
}
