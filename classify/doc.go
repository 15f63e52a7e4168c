// Package classify decides which failures may be retried, and of what kind they
// are. Classifiers look at an error one after the other, in the order of their
// priorities; the last opinion counts unless somebody forbids the retry. A Chain
// runs them and needs nothing else of this module; Default is the one for AWS.
//
// Errors tell about themselves through small interfaces that smithy-go's,
// aws-sdk-go-v2's and many other errors already satisfy: CodeError, StatusError,
// RetryAfterError, SafetyError, ThrottlingError, TimeoutError, FaultError,
// SkewError. They are found through any wrapping, errors.Join and several %w
// included. Errors of the net packages are known by their types and sentinels.
package classify
