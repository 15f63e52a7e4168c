// Package adaptive is the adaptive retry mode of the AWS SDKs: the standard mode, and a send
// rate.
//
// # What it does
//
// It does everything that the standard mode does. In addition each scope has a send rate,
// which throttles of the service lower and other answers raise again. From the first throttle
// on it may delay any attempt, the first of an operation included. It is for work that may wait
// and should not fail, on resources that throttle.
//
// # Use
//
// [New] builds a strategy from a [Config]. The zero Config has the numbers of the AWS SDKs.
// Unlike the AWS SDKs it cuts the send rate once for all throttles of one congestion event,
// see [ratelimit.Controller]. [SendLimit] is for a limit that is known in advance. The wait of
// an attempt is limited by the deadline of its context, and by the fields MaxSendWait,
// MaxSendQueue and NoSendWait of Config.
//
// # A limiter of your own
//
// Config.NewLimiter makes any [Limiter], such as one that several processes share. Package
// ratelimit has what it exchanges with adaptive mode.
package adaptive
