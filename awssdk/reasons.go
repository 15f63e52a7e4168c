package awssdk

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/errtree"
)

// modeled is what the fields of a modeled error say.
type modeled struct {
	reasons []classify.Reason
	seconds string // to wait; empty if the error does not say
}

// modeledOf reads the outermost modeled error. The types of all services have the fields alike: they
// are generated from models. An error without a type of its own has none, see smithy.GenericAPIError.
func modeledOf(err error) (m modeled) {
	errtree.Find(err, func(err error) bool {
		v := reflect.ValueOf(err)
		if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct ||
			!strings.Contains(v.Type().Elem().PkgPath(), "/service/") {
			return false
		}
		m = modeledIn(v.Elem())
		return true
	})
	return m
}

func modeledIn(v reflect.Value) (m modeled) {
	m.seconds = textOf(v.FieldByName("RetryAfterSeconds"))
	quota := textOf(v.FieldByName("QuotaCode"))
	if service := textOf(v.FieldByName("ServiceCode")); quota != "" && service != "" {
		quota = service + "/" + quota
	}
	add := func(word string) {
		m.reasons = append(m.reasons, classify.Reason{Reach: reachOf(word), Word: word, Quota: quota})
	}
	if list := v.FieldByName("ThrottlingReasons"); list.Kind() == reflect.Slice {
		for i := range min(list.Len(), maxReasons) {
			if one := reflect.Indirect(list.Index(i)); one.Kind() == reflect.Struct {
				add(textOf(one.FieldByName("Reason")))
			}
		}
	} else if word := textOf(v.FieldByName("Reason")); word != "" {
		add(word)
	}
	if len(m.reasons) == 0 && quota != "" {
		m.reasons = []classify.Reason{{Quota: quota}}
	}
	return m
}

// maxReasons is how many reasons of one error count.
const maxReasons = 100

// textOf returns the text of a field, or its number in digits; empty for a field that is not there.
func textOf(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	default:
		return ""
	}
}

// reachOf returns the reach of a word for a limit, compared with the scope that scopedBy chooses. What
// services call a limit is in their models, and means the same in all of them.
func reachOf(word string) classify.Reach {
	switch word {
	case "":
		return classify.ReachUnknown

	// Model of Lambda, ThrottleReason; Developer Guide, Understanding Lambda function scaling: reserved
	// concurrency is that of the function, and so is a rate of ten times as many requests a second.
	case "ReservedFunctionConcurrentInvocationLimitExceeded", "ReservedFunctionInvocationRateLimitExceeded":
		return classify.ReachScope
	// The same pages: without reserved concurrency functions share that of the account in the region,
	// with ten times as many requests a second.
	case "ConcurrentInvocationLimitExceeded", "FunctionInvocationRateLimitExceeded",
		"CallerRateLimitExceeded", "ConcurrentSnapshotCreateLimitExceeded":
		return classify.ReachWider

	// Model of EBS, RequestThrottledExceptionReason. The scope is the service, a resource a snapshot.
	case "ACCOUNT_THROTTLED":
		return classify.ReachScope
	case "RESOURCE_LEVEL_THROTTLE":
		return classify.ReachPart

	// Model of Athena, ThrottleReason: the queries of the account in the region.
	case "CONCURRENT_QUERY_LIMIT_EXCEEDED":
		return classify.ReachScope
	}
	return reachOfDynamoDB(word)
}

// reachOfDynamoDB follows the model of DynamoDB, ThrottlingReason: a word is Table or Index, Read or
// Write, and one of four limits. The quota of an account that it calls AccountLimit is one of each
// table. A word of another form, such as one for the quota of KMS, is about something else.
func reachOfDynamoDB(word string) classify.Reach {
	limit, index := strings.CutPrefix(word, "Index")
	limit, table := strings.CutPrefix(limit, "Table")
	limit, read := strings.CutPrefix(limit, "Read")
	limit, write := strings.CutPrefix(limit, "Write")
	if index == table || read == write {
		return classify.ReachOther
	}
	switch limit {
	case "KeyRangeThroughputExceeded":
		return classify.ReachPart
	case "ProvisionedThroughputExceeded", "MaxOnDemandThroughputExceeded", "AccountLimitExceeded":
		if table {
			return classify.ReachScope
		}
	}
	return classify.ReachOther
}
