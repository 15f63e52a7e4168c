// Package ratelimit has the types that adaptive mode and a limiter exchange: what an attempt asks
// for, the wait it faces, the answer it got, and how the answer changed the send rate. Use it to
// write your own limiter, see adaptive.Config.NewLimiter, or to read the [WaitError] of an attempt
// that was held back.
package ratelimit
