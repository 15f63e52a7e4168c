// Package ratelimit is the send rate of adaptive mode: how many attempts a second a client
// may make, found from the answers of the service.
//
// # One client
//
// A [Limiter] makes attempts wait. modes/adaptive makes one for each scope. It can be used
// without a retry strategy: call [Limiter.Acquire] before an attempt and [Limiter.Report]
// after it.
//
// # A rate of your own
//
// A [SendRate] is the state behind a Limiter: a token bucket, a [Controller] that steers its
// fill rate, and a measured rate. It takes the time as an argument, never waits, and is not
// safe for concurrent use. A [Line] makes callers wait for the tokens of any [Account], such
// as a rate that several processes share. With these parts another module can build a limiter
// for adaptive.Config.NewLimiter.
package ratelimit
