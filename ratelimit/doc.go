// Package ratelimit has what adaptive mode and a limiter say to each other: what an attempt asks
// for, what it has to expect, what became of it, and what the answer did to the send rate. It is
// for your own limiters, see adaptive.Config.NewLimiter, and for programs that read the
// [WaitError] of an attempt that was held back.
package ratelimit
