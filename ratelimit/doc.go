// Package ratelimit holds the accounts that decide whether a retry is granted
// and when an attempt may be sent: the retry quota of standard mode, and the
// send rate of adaptive mode with its token bucket, its CUBIC controller and
// its measured rate.
//
// Bucket, Cubic, MeasuredRate and SendRate are pure state machines: they take
// the time as an argument, never wait and are not safe for concurrent use.
// Quota, QuotaLine, Limiter and Line are safe for concurrent use. The last three
// make callers wait, on a clock.Clock: for retry quota, for the send rate, and for
// the tokens of an Account from outside.
package ratelimit
