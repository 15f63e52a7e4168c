// Package ratelimit holds the accounts that decide whether a retry is granted
// and when an attempt may be sent: the retry quota of standard mode, and the
// send rate of adaptive mode with its token bucket, its CUBIC controller and
// its measured rate.
//
// Bucket, Cubic, MeasuredRate and SendRate are pure state machines: they take
// the time as an argument, never wait and are not safe for concurrent use.
// Quota and Limiter are safe for concurrent use; Limiter is the only one that
// waits, on a clock.Clock.
package ratelimit
