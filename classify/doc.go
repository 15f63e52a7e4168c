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
//
// Of one failure the first thousand errors are looked at, in the order of errors.Is:
// each error, then what it wraps. What comes after them counts as not there, even if
// it says that the request must not be sent again. So an error that wraps itself has
// a verdict too, and the other packages of the core come to an end with it in the same
// way. The functions of the standard library know no such limit: errors.Is and
// errors.As do not return from an error that wraps itself unless they find what they
// look for, and so a method of an error that calls them does not either.
package classify
