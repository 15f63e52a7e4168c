// Package classify decides which failures may be retried, and of what kind they
// are. Classifiers look at an error one after the other; the last opinion counts
// unless somebody forbids the retry.
//
// Errors tell about themselves through small interfaces that smithy-go's and
// many other errors already satisfy: CodeError, StatusError, RetryAfterError and
// the Timeout method of net.Error. They are found through any wrapping.
package classify
