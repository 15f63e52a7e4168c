package awssdk

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/middleware"
)

// around is what the retryers around ours do to a call.
type around struct {
	ours    bool // whether there is a retryer of ours at all
	changes bool // whether another one may change delays
}

// maxAround is how many retryers around one another aroundOurs looks at.
const maxAround = 20

// aroundOurs looks at the retryer of a retry loop, and at those that it leads to. Only a field that
// is not exported tells the retryer of a loop, so the field is read without using its value. A
// loop without such a field counts as that of another retryer.
func aroundOurs(loop middleware.FinalizeMiddleware, s *shared) around {
	v := reflect.Indirect(reflect.ValueOf(loop))
	if v.Kind() != reflect.Struct {
		return around{}
	}
	return lookAt(v.FieldByName("retryer"), reflect.ValueOf(s).Pointer(), maxAround)
}

func lookAt(v reflect.Value, shared uintptr, left int) around {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || left == 0 {
		return around{}
	}
	if v.Type() == reflect.TypeFor[Retryer]() {
		return around{ours: v.FieldByName("shared").Pointer() == shared}
	}
	for _, field := range v.Fields() {
		if !field.Type().Implements(reflect.TypeFor[aws.Retryer]()) {
			continue
		}
		if inner := lookAt(field, shared, left-1); inner.ours {
			inner.changes = inner.changes || mayChange(v.Type())
			return inner
		}
	}
	return around{}
}

// mayChange reports whether a type of retryers may change the delays of the one that it embeds:
// those of the SDK's package aws/retry do not, but for that of AddWithMaxBackoffDelay.
func mayChange(t reflect.Type) bool {
	return !strings.HasSuffix(t.PkgPath(), "aws-sdk-go-v2/aws/retry") || t.Name() == "withMaxBackoffDelay"
}

// endless hides the deadline of a context from a decision about a backoff that another retryer
// may make shorter. The SDK stops sleeping at the deadline.
type endless struct{ context.Context } //nolint:containedctx // it is a context

func (endless) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
