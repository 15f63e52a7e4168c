package awssdk

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
)

// modeled is what the fields of a modeled error say.
type modeled struct {
	reasons []classify.Reason
	seconds string // to wait; empty if the error does not say
}

// modeledOf reads the outermost modeled error. The types of all services have the fields alike: they
// are generated from models. An error without a type of its own has none, see smithy.GenericAPIError.
func modeledOf(err error) (m modeled) {
	wire.Find(err, func(err error) bool {
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
		m.reasons = append(m.reasons, classify.Reason{Reach: classify.ReachOf(word), Word: word, Quota: quota})
	}
	if list := v.FieldByName("ThrottlingReasons"); list.Kind() == reflect.Slice {
		for i := range min(list.Len(), 100) { // more are not looked at
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

// canceledBy returns the error of a transaction that was canceled, with how many of its entries were throttled, and any other
// error as it is.
func canceledBy(err error) error {
	canceled := wire.CanceledError{Err: err, Alone: true}
	wire.Find(err, func(err error) bool {
		if known, ok := err.(interface{ ErrorCode() string }); !ok || wire.BareCode(known.ErrorCode()) != "TransactionCanceledException" {
			return false
		}
		reasons := within(reflect.ValueOf(err), "CancellationReasons")
		if reasons.Kind() != reflect.Slice {
			return false
		}
		canceled.Entries = reasons.Len()
		for i := range canceled.Entries {
			reason := reasons.Index(i)
			switch code := textOf(within(reason, "Code")); {
			case isThrottle("DynamoDB", reason, "Code"):
				canceled.Throttled++
			case code != "" && code != "None": // that of the other entries
				canceled.Alone = false
			}
		}
		return true
	})
	if canceled.Throttled == 0 {
		return err
	}
	return canceled
}

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
