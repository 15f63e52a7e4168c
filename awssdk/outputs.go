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
	row := batchIn(awsmiddleware.GetOperationName(ctx))
	if row.service != "" && row.service == awsmiddleware.GetServiceID(ctx) {
		return row.read(input, output, about)
	}
	return retry.Result{}
}

// batch says where the outputs of an operation have the codes of entries, and its inputs the entries.
// The names are those of fields, one inside the other.
type batch struct {
	service string // as the SDK spells it
	entries string // of the input; "" if only the output has them
	results string // of the output: all of the entries, or those that failed
	code    string // of one of the results; "" if all of them were throttled
	whole   int64  // the size of a response that is as large as the service allows; 0 without such a size
}

// batchIn returns the row of an operation; no two rows have operations of one name. "Model" is the model of the service
// that AWS publishes, "API Reference" the page of the operation there.
func batchIn(operation string) (row batch) {
	switch operation {
	// API Reference: what the throughput of a table leaves undone comes back unprocessed.
	case "BatchWriteItem":
		return batch{service: "DynamoDB", entries: "RequestItems", results: "UnprocessedItems"}
	// API Reference: the same, and what does not fit into the 16 MB of a response.
	case "BatchGetItem":
		return batch{service: "DynamoDB", entries: "RequestItems", results: "UnprocessedKeys", whole: 15 << 20}
	// Its reasons are in the error of one that is canceled, see canceledOf. A success says how large transactions are.
	case "TransactWriteItems", "TransactGetItems":
		return batch{service: "DynamoDB", entries: "TransactItems"}
	case "ExecuteTransaction":
		return batch{service: "DynamoDB", entries: "TransactStatements"}
	// Model, BatchStatementErrorCodeEnum.
	case "BatchExecuteStatement":
		return batch{service: "DynamoDB", entries: "Statements", results: "Responses", code: "Error.Code"}
	// API Reference: ErrorCode is ProvisionedThroughputExceededException or InternalFailure.
	case "PutRecords":
		return batch{service: "Kinesis", entries: "Records", results: "Records", code: "ErrorCode"}
	// API Reference, PutRecordBatchResponseEntry.
	case "PutRecordBatch":
		return batch{service: "Firehose", entries: "Records", results: "RequestResponses", code: "ErrorCode"}
	// API Reference, BatchResultErrorEntry.
	case "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch":
		return batch{service: "SQS", entries: "Entries", results: "Failed", code: "Code"}
	case "PublishBatch":
		return batch{service: "SNS", entries: "PublishBatchRequestEntries", results: "Failed", code: "Code"}
	// API Reference, PutEventsResultEntry.
	case "PutEvents", "PutPartnerEvents":
		return batch{service: "EventBridge", entries: "Entries", results: "Entries", code: "ErrorCode"}
	// API Reference, CreateFleetError; EC2 Developer Guide, Error codes: RequestLimitExceeded.
	case "CreateFleet":
		return batch{service: "EC2", results: "Errors", code: "ErrorCode"}
	// API Reference, Error: the code SlowDown.
	case "DeleteObjects":
		return batch{service: "S3", entries: "Delete.Objects", results: "Errors", code: "Code"}
	// Model, BulkEmailStatus of both versions.
	case "SendBulkTemplatedEmail":
		return batch{service: "SES", entries: "Destinations", results: "Status", code: "Status"}
	case "SendBulkEmail":
		return batch{service: "SESv2", entries: "BulkEmailEntries", results: "BulkEmailEntryResults", code: "Status"}
	// Model, BatchItemErrorCode.
	case "BatchUpdateDevicePosition":
		return batch{service: "Location", entries: "Updates", results: "Errors", code: "Error.Code"}
	case "BatchEvaluateGeofences":
		return batch{service: "Location", entries: "DevicePositionUpdates", results: "Errors", code: "Error.Code"}
	case "BatchPutGeofence":
		return batch{service: "Location", entries: "Entries", results: "Errors", code: "Error.Code"}
	case "BatchDeleteGeofence":
		return batch{service: "Location", entries: "GeofenceIds", results: "Errors", code: "Error.Code"}
	case "BatchGetDevicePosition", "BatchDeleteDevicePositionHistory":
		return batch{service: "Location", entries: "DeviceIds", results: "Errors", code: "Error.Code"}
	// Model, BatchPutAssetPropertyValueErrorCode.
	case "BatchPutAssetPropertyValue":
		return batch{service: "IoTSiteWise", entries: "Entries", results: "ErrorEntries", code: "Errors.ErrorCode"}
	// Model, FailureReasonCode, FailureCode.
	case "BatchPutContact":
		return batch{service: "Connect", entries: "ContactDataRequestList", results: "FailedRequestList", code: "FailureReasonCode"}
	case "PutDialRequestBatch":
		return batch{service: "ConnectCampaigns", entries: "DialRequests", results: "FailedRequests", code: "FailureCode"}
	case "PutOutboundRequestBatch":
		return batch{service: "ConnectCampaignsV2", entries: "OutboundRequests", results: "FailedRequests", code: "FailureCode"}
	// Model, ErrorCode of BatchChannelMemberships.
	case "BatchCreateChannelMembership":
		return batch{service: "Chime SDK Messaging", entries: "MemberArns", results: "Errors", code: "ErrorCode"}
	}
	return row
}

func (b *batch) read(input, output any, about middleware.Metadata) (result retry.Result) {
	if b.whole > 0 && sizeOf(about) >= b.whole {
		return result
	}
	results := within(reflect.ValueOf(output), b.results)
	if b.code == "" {
		result.Throttled = leaves(results)
	} else if results.Kind() == reflect.Slice {
		for i := range results.Len() {
			if isThrottle(b.service, results.Index(i), b.code) {
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
