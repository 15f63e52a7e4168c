// Package sdktest tests awssdk with real clients of aws-sdk-go-v2. Its
// requirements stay out of the other modules.
package sdktest
