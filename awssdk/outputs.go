package awssdk

import (
	"context"
	"path"
	"reflect"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/internal/entry"
	"github.com/awsretry/awsretry/retry"
)

// resultOf returns how many of how many entries an output that is a success says that the service throttled.
func (s *shared) resultOf(ctx context.Context, input, output any, about middleware.Metadata) retry.Result {
	t := reflect.TypeOf(output)
	known, ok := s.outputs.Load(t)
	if !ok {
		known, _ = s.outputs.LoadOrStore(t, batchOf(t))
	}
	if row, _ := known.(*batch); row != nil {
		return row.read(awsmiddleware.GetServiceID(ctx), input, output, about)
	}
	return retry.Result{}
}

// batch says where the outputs of an operation have the codes of entries, and its inputs the entries.
// The names are those of fields, one inside the other.
type batch struct {
	entries string // of the input; "" if only the output has them
	results string // of the output: all of the entries, or those that failed
	code    string // of one of the results; "" if all of them were throttled
	whole   int64  // the size of a response that is as large as the service allows; 0 without such a size
}

// batchOf returns the row of a type of outputs; nil if there is none.
func batchOf(t reflect.Type) *batch {
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	operation, isOutput := strings.CutSuffix(t.Elem().Name(), "Output")
	if !isOutput || !strings.Contains(t.Elem().PkgPath(), "aws-sdk-go-v2/service/") {
		return nil
	}
	if row := batchIn(path.Base(t.Elem().PkgPath()), operation); row != (batch{}) {
		return &row
	}
	return nil
}

// batchIn returns the row of an operation of a client, by the name of its package. "Model" is the model of
// the service that AWS publishes, "API Reference" the page of the operation there.
func batchIn(client, operation string) (row batch) {
	switch client + "." + operation {
	// API Reference: what the throughput of a table leaves undone comes back unprocessed.
	case "dynamodb.BatchWriteItem":
		return batch{entries: "RequestItems", results: "UnprocessedItems"}
	// API Reference: the same, and what does not fit into the 16 MB of a response.
	case "dynamodb.BatchGetItem":
		return batch{entries: "RequestItems", results: "UnprocessedKeys", whole: 15 << 20}
	// Model, BatchStatementErrorCodeEnum.
	case "dynamodb.BatchExecuteStatement":
		return batch{entries: "Statements", results: "Responses", code: "Error.Code"}
	// API Reference: ErrorCode is ProvisionedThroughputExceededException or InternalFailure.
	case "kinesis.PutRecords":
		return batch{entries: "Records", results: "Records", code: "ErrorCode"}
	// API Reference, PutRecordBatchResponseEntry.
	case "firehose.PutRecordBatch":
		return batch{entries: "Records", results: "RequestResponses", code: "ErrorCode"}
	// API Reference, BatchResultErrorEntry.
	case "sqs.SendMessageBatch", "sqs.DeleteMessageBatch", "sqs.ChangeMessageVisibilityBatch":
		return batch{entries: "Entries", results: "Failed", code: "Code"}
	case "sns.PublishBatch":
		return batch{entries: "PublishBatchRequestEntries", results: "Failed", code: "Code"}
	// API Reference, PutEventsResultEntry.
	case "eventbridge.PutEvents", "eventbridge.PutPartnerEvents":
		return batch{entries: "Entries", results: "Entries", code: "ErrorCode"}
	// API Reference, CreateFleetError; EC2 Developer Guide, Error codes: RequestLimitExceeded.
	case "ec2.CreateFleet":
		return batch{results: "Errors", code: "ErrorCode"}
	// API Reference, Error: the code SlowDown.
	case "s3.DeleteObjects":
		return batch{entries: "Delete.Objects", results: "Errors", code: "Code"}
	// Model, BulkEmailStatus of both versions.
	case "ses.SendBulkTemplatedEmail":
		return batch{entries: "Destinations", results: "Status", code: "Status"}
	case "sesv2.SendBulkEmail":
		return batch{entries: "BulkEmailEntries", results: "BulkEmailEntryResults", code: "Status"}
	// Model, BatchItemErrorCode.
	case "location.BatchUpdateDevicePosition":
		return batch{entries: "Updates", results: "Errors", code: "Error.Code"}
	case "location.BatchEvaluateGeofences":
		return batch{entries: "DevicePositionUpdates", results: "Errors", code: "Error.Code"}
	case "location.BatchPutGeofence":
		return batch{entries: "Entries", results: "Errors", code: "Error.Code"}
	case "location.BatchDeleteGeofence":
		return batch{entries: "GeofenceIds", results: "Errors", code: "Error.Code"}
	case "location.BatchGetDevicePosition", "location.BatchDeleteDevicePositionHistory":
		return batch{entries: "DeviceIds", results: "Errors", code: "Error.Code"}
	// Model, BatchPutAssetPropertyValueErrorCode.
	case "iotsitewise.BatchPutAssetPropertyValue":
		return batch{entries: "Entries", results: "ErrorEntries", code: "Errors.ErrorCode"}
	// Model, FailureReasonCode, FailureCode.
	case "connect.BatchPutContact":
		return batch{entries: "ContactDataRequestList", results: "FailedRequestList", code: "FailureReasonCode"}
	case "connectcampaigns.PutDialRequestBatch":
		return batch{entries: "DialRequests", results: "FailedRequests", code: "FailureCode"}
	case "connectcampaignsv2.PutOutboundRequestBatch":
		return batch{entries: "OutboundRequests", results: "FailedRequests", code: "FailureCode"}
	// Model, ErrorCode of BatchChannelMemberships.
	case "chimesdkmessaging.BatchCreateChannelMembership":
		return batch{entries: "MemberArns", results: "Errors", code: "ErrorCode"}
	}
	return row
}

func (b *batch) read(service string, input, output any, about middleware.Metadata) (result retry.Result) {
	if b.whole > 0 && sizeOf(about) >= b.whole {
		return result
	}
	results := within(reflect.ValueOf(output), b.results)
	if b.code == "" {
		result.Throttled = leaves(results)
	} else if results.Kind() == reflect.Slice {
		for i := range results.Len() {
			if isThrottle(service, results.Index(i), b.code) {
				result.Throttled++
			}
		}
	}
	result.Entries = max(leaves(within(reflect.ValueOf(input), b.entries)), leaves(results))
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
		failed := classify.Outcome{Err: entry.CodeError(textOf(v)), Service: service}
		return classify.Default().Classify(failed).Kind() == classify.Throttling
	}
}

// within returns the field at a place inside of structures; the zero Value if there is none.
func within(v reflect.Value, at string) reflect.Value {
	for name := range strings.SplitSeq(at, ".") {
		if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.FieldByName(name)
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
		return leaves(v.FieldByName("Keys"))
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
