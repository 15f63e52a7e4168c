// Package sdktest tests package awssdk with real clients of aws-sdk-go-v2.
package sdktest
