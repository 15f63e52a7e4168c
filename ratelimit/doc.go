// Package ratelimit has what adaptive mode and a limiter say to each other: what an attempt asks
// for, what it has to expect, what became of it, and what the answer did to the send rate. It is
// for limiters of one's own, see adaptive.Config.NewLimiter, and for those who look at the
// [WaitError] of an attempt that was held back.
package ratelimit
