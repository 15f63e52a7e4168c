// Package readers compares what "awsretry explain --tools" says with what botocore, the AWS CLI and the JavaScript SDK
// read from generated files, so that a version that reads them otherwise is seen. The build tag servers runs it.
// aws-sdk-go-v2 is compared in lab/sdktest.
package readers
