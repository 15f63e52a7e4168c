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

// canceledBy returns an error that throttles may have caused with how many of its entries were throttled, and any other error as
// it is.
func canceledBy(err error) error {
	canceled := wire.CanceledError{Err: err}
	count := func(v reflect.Value, at string) {
		canceled.Entries++
		switch code := textOf(within(v, at)); {
		case code == "" || code == "None": // that of an entry without a part in the failure
		case isThrottle("", v, at):
			canceled.Throttled++
			canceled.Causes++
		default:
			canceled.Causes++
		}
	}
	wire.Find(err, func(err error) bool {
		known, ok := err.(interface{ ErrorCode() string })
		if !ok {
			return false
		}
		at := wire.CanceledIn(wire.BareCode(known.ErrorCode()))
		list, code, nested := strings.Cut(at, ".")
		if !nested && at != "" {
			count(reflect.ValueOf(err), at)
		} else if reasons := within(reflect.ValueOf(err), list); nested && reasons.Kind() == reflect.Slice {
			for i := range reasons.Len() {
				count(reasons.Index(i), code)
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
