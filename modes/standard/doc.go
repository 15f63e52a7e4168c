// Package standard is the standard retry mode of the AWS SDKs: a limit on the
// attempts of an operation, a retry quota that all operations of a scope share,
// and truncated binary exponential backoff with jitter.
package standard
