// Package standard is the standard retry mode of the AWS SDKs.
//
// # What it does
//
// It limits the attempts of an operation. Each retry takes tokens from a retry quota that all
// operations of a scope share, and successes give tokens back, so that retries become rare when a
// service fails. Before a retry it waits, with truncated binary exponential backoff and jitter; a
// server hint may lengthen the wait.
//
// # Use
//
// [New] builds a strategy from a [Config]; the zero Config has the defaults of the AWS
// SDKs. Give the strategy to [retry.Do], or to httpretry or awssdk. To take the numbers from
// the environment and the AWS config files instead, use the root package.
package standard
