package awssdk

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/internal/wire"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// entryCodes are the codes that AWS documents for the entries of operations.
type entryCodes struct {
	service                   string
	operations                string
	throttles, faults, finals string
}

func documentedCodes() []entryCodes {
	return []entryCodes{
		// These tell nothing but which entries are left.
		{"DynamoDB", "BatchWriteItem BatchGetItem", "", "", ""},
		{ // Model, BatchStatementErrorCodeEnum.
			"DynamoDB", "BatchExecuteStatement", "RequestLimitExceeded ProvisionedThroughputExceeded ThrottlingError", "InternalServerError",
			"ConditionalCheckFailed ItemCollectionSizeLimitExceeded ValidationError TransactionConflict ResourceNotFound AccessDenied DuplicateItem",
		},
		{ // API Reference, PutRecordsResultEntry.
			"Kinesis", "PutRecords", "ProvisionedThroughputExceededException", "InternalFailure", "",
		},
		{ // API Reference, PutRecordBatch: the throughput limits are exceeded. InternalFailure is one of all services.
			"Firehose", "PutRecordBatch", "ServiceUnavailableException", "InternalFailure", "",
		},
		{ // API Reference of both, BatchResultErrorEntry names none; Common Errors, and the errors of the single operations.
			"SQS", "SendMessageBatch DeleteMessageBatch ChangeMessageVisibilityBatch", "ThrottlingException RequestThrottled KmsThrottled",
			"InternalError ServiceUnavailable", "InvalidMessageContents AccessDenied ReceiptHandleIsInvalid",
		},
		{
			"SNS", "PublishBatch", "ThrottlingException KMSThrottlingException Throttled", "InternalError InternalFailure",
			"InvalidParameter AuthorizationError NotFound EndpointDisabled",
		},
		{ // API Reference, PutEventsResultEntry.
			"EventBridge", "PutEvents PutPartnerEvents", "ThrottlingException", "InternalFailure",
			"AccessDeniedException InvalidAccountIdException InvalidArgument MalformedDetail RedactionFailure " +
				"NotAuthorizedForSourceException NotAuthorizedForDetailTypeException",
		},
		{ // EC2 Developer Guide, Error codes.
			"EC2", "CreateFleet", "RequestLimitExceeded EC2ThrottledException", "InternalError InternalFailure",
			"InsufficientInstanceCapacity UnfulfillableCapacity MaxSpotInstanceCountExceeded",
		},
		{ // S3 API Reference, List of error codes.
			"S3", "DeleteObjects", "SlowDown", "InternalError ServiceUnavailable", "AccessDenied NoSuchKey InvalidArgument",
		},
		{ // Model of both versions, BulkEmailStatus.
			"SES", "SendBulkTemplatedEmail", "AccountThrottled", "TransientFailure",
			"MessageRejected MailFromDomainNotVerified ConfigurationSetDoesNotExist TemplateDoesNotExist AccountSuspended AccountDailyQuotaExceeded " +
				"InvalidSendingPoolName AccountSendingPaused ConfigurationSetSendingPaused InvalidParameterValue Failed",
		},
		{
			"SESv2", "SendBulkEmail", "ACCOUNT_THROTTLED", "TRANSIENT_FAILURE",
			"MESSAGE_REJECTED MAIL_FROM_DOMAIN_NOT_VERIFIED CONFIGURATION_SET_NOT_FOUND TEMPLATE_NOT_FOUND ACCOUNT_SUSPENDED " +
				"ACCOUNT_DAILY_QUOTA_EXCEEDED INVALID_SENDING_POOL_NAME ACCOUNT_SENDING_PAUSED CONFIGURATION_SET_SENDING_PAUSED INVALID_PARAMETER FAILED",
		},
		{ // Model, BatchItemErrorCode.
			"Location", "BatchUpdateDevicePosition BatchEvaluateGeofences BatchPutGeofence BatchDeleteGeofence " +
				"BatchGetDevicePosition BatchDeleteDevicePositionHistory", "ThrottlingError", "InternalServerError",
			"AccessDeniedError ConflictError ResourceNotFoundError ValidationError",
		},
		{ // Model, BatchPutAssetPropertyValueErrorCode.
			"IoTSiteWise", "BatchPutAssetPropertyValue", "ThrottlingException LimitExceededException",
			"InternalFailureException ServiceUnavailableException",
			"ResourceNotFoundException InvalidRequestException ConflictingOperationException TimestampOutOfRangeException AccessDeniedException",
		},
		{ // Model, FailureReasonCode.
			"Connect", "BatchPutContact", "REQUEST_THROTTLED", "INTERNAL_ERROR",
			"INVALID_ATTRIBUTE_KEY INVALID_CUSTOMER_ENDPOINT INVALID_SYSTEM_ENDPOINT INVALID_QUEUE MISSING_CAMPAIGN MISSING_CUSTOMER_ENDPOINT " +
				"MISSING_QUEUE_ID_AND_SYSTEM_ENDPOINT IDEMPOTENCY_EXCEPTION",
		},
		{ // Model, FailureCode of both versions. The buffer is that of pending requests.
			"ConnectCampaigns", "PutDialRequestBatch", "RequestThrottled", "", "InvalidInput UnknownError",
		},
		{
			"ConnectCampaignsV2", "PutOutboundRequestBatch", "RequestThrottled BufferLimitExceeded", "", "InvalidInput UnknownError",
		},
		{ // Model, ProfileOutboundRequestFailureCode.
			"ConnectCampaignsV2", "PutProfileOutboundRequestBatch", "RequestThrottled", "", "UnknownError ResourceNotFound Conflict",
		},
		{ // Model, UnprocessedStatusEventFailureReason.
			"Application Signals", "ReportInstrumentationConfigurationStatus", "THROTTLED", "INTERNAL_ERROR", "VALIDATION_ERROR",
		},
		{ // Model, ImageFailureCode: the registry that is cached.
			"ECR", "BatchGetImage BatchDeleteImage", "UpstreamTooManyRequests", "", "ImageNotFound KmsError UpstreamUnavailable",
		},
		{ // Model, ErrorCode: services that Inspector calls.
			"Inspector2", "Enable Disable", "SSM_THROTTLED EVENTBRIDGE_THROTTLED", "INTERNAL_ERROR", "ACCESS_DENIED SSM_UNAVAILABLE",
		},
		{ // Model, ServiceActionAssociationErrorCode.
			"Service Catalog", "BatchAssociateServiceActionWithProvisioningArtifact BatchDisassociateServiceActionFromProvisioningArtifact",
			"THROTTLING", "INTERNAL_FAILURE", "DUPLICATE_RESOURCE LIMIT_EXCEEDED RESOURCE_NOT_FOUND INVALID_PARAMETER",
		},
		{ // Model, BatchGetJobErrorCode and others.
			"deadline", "BatchGetJob BatchGetStep BatchGetTask BatchUpdateJob BatchUpdateTask", "ThrottlingException", "InternalServerErrorException",
			"AccessDeniedException ResourceNotFoundException ValidationException",
		},
		{ // Model, ErrorCode, as below.
			"Chime", "BatchCreateRoomMembership BatchDeletePhoneNumber BatchUpdatePhoneNumber BatchSuspendUser BatchUnsuspendUser BatchUpdateUser",
			"Throttled Throttling", "ServiceFailure ServiceUnavailable", "BadRequest PhoneNumberAssociationsExist",
		},
		{
			"Chime SDK Voice", "AssociatePhoneNumbersWithVoiceConnector AssociatePhoneNumbersWithVoiceConnectorGroup " +
				"DisassociatePhoneNumbersFromVoiceConnector DisassociatePhoneNumbersFromVoiceConnectorGroup BatchDeletePhoneNumber BatchUpdatePhoneNumber",
			"Throttled Throttling", "ServiceFailure ServiceUnavailable", "BadRequest Gone",
		},
		{ // Model, ErrorCode.
			"Chime SDK Messaging", "BatchCreateChannelMembership", "Throttled Throttling", "ServiceFailure ServiceUnavailable",
			"BadRequest Conflict Forbidden NotFound PreconditionFailed ResourceLimitExceeded AccessDenied Unauthorized Unprocessable",
		},
	}
}

func TestEachBatchOperationHasItsCodes(t *testing.T) {
	t.Parallel()
	operations := 0
	for _, c := range documentedCodes() {
		for operation := range strings.FieldsSeq(c.operations) {
			operations++
			require.NotZero(t, wire.BatchIn(c.service, operation), operation)
		}
	}
	require.Equal(t, 51, operations, "the pages count them")
}

// TestEntriesThatCountAsThrottledAreSentAgain, and those that SendAll calls throttled are counted.
func TestEntriesThatCountAsThrottledAreSentAgain(t *testing.T) {
	t.Parallel()
	for _, c := range documentedCodes() {
		for _, codes := range []struct {
			of             string
			throttle, more bool
		}{{c.throttles, true, true}, {c.faults, false, true}, {c.finals, false, false}} {
			for code := range strings.FieldsSeq(codes.of) {
				what := c.service + " " + code
				counted := isThrottle(c.service, reflect.ValueOf(struct{ Code string }{code}), "Code")
				require.Equal(t, codes.throttle, counted, what)
				throttled, again := resent(t, c.service, code)
				require.Equal(t, counted, throttled, what)
				require.Equal(t, codes.more, again, what)
			}
		}
	}
}

// resent reports whether SendAll sends an entry again whose first attempt ends with a code, and whether it was a throttle for it.
func resent(t *testing.T, service, code string) (throttled, again bool) {
	t.Helper()
	clk := &clock.Fake{}
	s, err := standard.New(standard.Config{Clock: clk, Observer: retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		throttled = throttled || e.Kind == retry.RetryScheduled && e.Verdict.Kind().String() == "throttling"
	})})
	require.NoError(t, err)
	calls := 0
	clk.Run(func() {
		_, _ = retry.SendAll(t.Context(), s, retry.Operation{Service: service}, retry.Batch[int]{Entries: []int{1}},
			func(context.Context, []int) ([]retry.Sent[int], error) {
				if calls++; calls == 1 {
					return []retry.Sent[int]{{Err: codeError(code)}}, nil
				}
				return make([]retry.Sent[int], 1), nil
			})
	})
	return throttled, calls == 2
}

// codeError is an error with a code, and no entry by itself.
type codeError string

func (c codeError) Error() string     { return string(c) }
func (c codeError) ErrorCode() string { return string(c) }
