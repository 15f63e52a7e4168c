// Package failure makes errors as clients of aws-sdk-go-v2 return them.
package failure

import (
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Throttle is the error of a service that gets too many requests.
func Throttle() error {
	return Answered(http.StatusBadRequest, &smithy.GenericAPIError{Code: "ThrottlingException", Message: "slow down"})
}

// Timeout is the error of a service that has not got the request in time.
func Timeout() error {
	return Answered(http.StatusBadRequest, &smithy.GenericAPIError{Code: "RequestTimeout", Message: "slow"})
}

// Internal is the error of a service that has failed.
func Internal() error {
	return Answered(http.StatusInternalServerError, &smithy.GenericAPIError{Code: "InternalServerError", Message: "sorry"})
}

// Answered wraps the error of an answer with this status.
func Answered(status int, err error) error {
	response := &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: http.Header{}}}
	return Operation(&awshttp.ResponseError{
		RequestID:     "of-the-request",
		ResponseError: &smithyhttp.ResponseError{Response: response, Err: err},
	})
}

// Operation wraps the error of an operation.
func Operation(err error) error {
	return &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "GetItem", Err: err}
}
