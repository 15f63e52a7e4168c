package awssdk

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// maxWraps is how many retryers around one another wraps looks at.
const maxWraps = 20

// wraps reports whether the retryer of a retry loop is one of s with others around it. It is for
// those that embed an [aws.Retryer]: the loop asks them for no attempt token. Only a field that is
// not exported tells the retryer of a loop, so it is looked at without being used. A loop that has
// no such field counts as that of another retryer.
func wraps(loop middleware.FinalizeMiddleware, s *shared) bool {
	v := reflect.Indirect(reflect.ValueOf(loop))
	if v.Kind() != reflect.Struct {
		return false
	}
	return leadsTo(v.FieldByName("retryer"), reflect.ValueOf(s).Pointer(), maxWraps)
}

// leadsTo reports whether v, or a retryer in one of its fields, is a Retryer with that shared.
func leadsTo(v reflect.Value, shared uintptr, left int) bool {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || left == 0 {
		return false
	}
	if v.Type() == reflect.TypeFor[Retryer]() {
		return v.FieldByName("shared").Pointer() == shared
	}
	for _, field := range v.Fields() {
		if field.Type().Implements(reflect.TypeFor[aws.Retryer]()) && leadsTo(field, shared, left-1) {
			return true
		}
	}
	return false
}
