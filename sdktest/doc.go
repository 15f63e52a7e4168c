// Package sdktest tests package awssdk with real clients of aws-sdk-go-v2. It is a module of
// its own, so that no other module requires these clients.
package sdktest
