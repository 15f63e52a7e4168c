package awssdk

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

// wrapping is the retryer of ours that a loop has, and what those around it do to a call.
type wrapping struct {
	ours    *sdkRetryer // nil if there is none
	around  bool        // whether there is another retryer around it
	changes bool        // whether that one may change delays
	decides bool        // whether that one may refuse retries
}

// wrappingOf looks at the retryer of a retry loop, and at those that it leads to. Only a field that is not exported tells the
// retryer of a loop. A loop without such a field counts as that of another retryer.
//
// A retryer that has a lock may exchange the one in a field of its own at any time, so such a field is not read.
func wrappingOf(loop middleware.FinalizeMiddleware, retryerField []int) wrapping {
	v := reflect.Indirect(reflect.ValueOf(loop))
	if v.Kind() != reflect.Struct {
		return wrapping{}
	}
	if v.Type() == reflect.TypeFor[sdkretry.Attempt]() && len(retryerField) > 0 {
		v = v.FieldByIndex(retryerField)
	} else {
		v = v.FieldByName("retryer")
	}
	return lookAt(v, longestChain)
}

// longestChain of retryers is looked at. A chain may lead back to itself.
const longestChain = 20

func lookAt(v reflect.Value, left int) wrapping {
	for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
		if v.Type() == reflect.TypeFor[*sdkRetryer]() {
			return wrapping{ours: (*sdkRetryer)(v.UnsafePointer())}
		}
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || left == 0 {
		return wrapping{}
	}
	return lookInside(v, left)
}

// lookInside looks at the fields of a retryer that is not ours. Its loop over them allocates, so it is not in lookAt.
func lookInside(v reflect.Value, left int) wrapping {
	locks := hasLock(v.Type())
	for declared, field := range v.Fields() {
		if !field.Type().Implements(reflect.TypeFor[aws.Retryer]()) || locks && !declared.Anonymous {
			continue
		}
		if inner := lookAt(field, left-1); inner.ours != nil {
			inner.around, inner.changes = true, inner.changes || mayChange(v.Type())
			inner.decides = inner.decides || !ofSDK(v.Type())
			return inner
		}
	}
	return wrapping{}
}

// hasLock reports whether a struct has a field of a type of package sync.
func hasLock(t reflect.Type) bool {
	for field := range t.Fields() {
		of := field.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.PkgPath() == "sync" {
			return true
		}
	}
	return false
}

// mayChange reports whether a type of retryers may change the delays of the one that it embeds:
// those of the SDK's package aws/retry do not, but for that of AddWithMaxBackoffDelay.
func mayChange(t reflect.Type) bool { return !ofSDK(t) || t.Name() == "withMaxBackoffDelay" }

// ofSDK reports whether a type is one of the SDK's package aws/retry, whose retryers around another add to what that one
// retries, and limit its attempts.
func ofSDK(t reflect.Type) bool { return strings.HasSuffix(t.PkgPath(), "aws-sdk-go-v2/aws/retry") }

// endless hides the deadline of a context from a decision about a backoff that another retryer
// may make shorter. The SDK stops sleeping at the deadline.
type endless struct{ context.Context } //nolint:containedctx // it is a context

func (endless) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }
