package awssdk

import (
	"context"
	"reflect"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/retry"
)

// resultOf returns how many of how many entries an output that is a success says that the service throttled.
func resultOf(ctx context.Context, input, output any, about middleware.Metadata) retry.Result {
	service, operation := awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx)
	row := wire.BatchIn(service, operation)
	if row == (wire.Batch{}) || operation == "BatchGetItem" && sizeOf(about) >= largestGet {
		return retry.Result{}
	}
	return read(service, row, input, output)
}

// largestGet is the size of a response with as much as BatchGetItem returns at once, which is 16 MB (API Reference). The keys
// for which there was no room are not throttled.
const largestGet = 15 << 20

func read(service string, row wire.Batch, input, output any) (result retry.Result) {
	results := within(reflect.ValueOf(output), row.Results)
	if row.Code == "" {
		result.Throttled = leaves(results)
	} else if results.Kind() == reflect.Slice {
		for i := range results.Len() {
			if isThrottle(service, results.Index(i), row.Code) {
				result.Throttled++
			}
		}
	}
	result.Entries = max(leaves(within(reflect.ValueOf(input), row.Entries)), leaves(results))
	return result
}

// isThrottle reports whether a code at that place means a throttle. Of a list one is enough.
func isThrottle(service string, v reflect.Value, at string) bool {
	first, rest, nested := strings.Cut(at, ".")
	v = within(v, first)
	switch {
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if isThrottle(service, v.Index(i), rest) {
				return true
			}
		}
		return false
	case nested:
		return isThrottle(service, v, rest)
	default:
		failed := classify.Outcome{Err: wire.EntryCodeError(textOf(v)), Service: service}
		return classify.Default().Classify(failed).Kind() == classify.Throttling
	}
}

// within returns the field at a place inside of structures; the zero Value if there is none.
func within(v reflect.Value, at string) reflect.Value {
	for name := range strings.SplitSeq(at, ".") {
		if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		field, ok := v.Type().FieldByName(name)
		if !ok || len(field.Index) != 1 { // no output has it in an embedded structure, which may be a nil pointer
			return reflect.Value{}
		}
		v = v.FieldByIndex(field.Index)
	}
	return v
}

// leaves returns the number of entries: of a list, or of the lists in a map, each of which may be in a
// structure with the name Keys.
func leaves(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Slice:
		return v.Len()
	case reflect.Struct:
		return leaves(within(v, "Keys"))
	case reflect.Map:
		for _, key := range v.MapKeys() {
			n += leaves(v.MapIndex(key))
		}
		return n
	default:
		return 0
	}
}

// sizeOf returns the size of a response; -1 if it is not known.
func sizeOf(about middleware.Metadata) int64 {
	response, ok := awsmiddleware.GetRawResponse(about).(*smithyhttp.Response)
	if !ok || response == nil || response.Response == nil {
		return -1
	}
	return response.ContentLength
}
