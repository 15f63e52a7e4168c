// Package adaptive is the adaptive retry mode of the AWS SDKs: standard mode plus a send rate.
//
// # What it does
//
// It does everything that standard mode does. In addition each scope has a send rate, which
// throttles lower and other answers raise again. After the first throttle it may delay any attempt,
// including the first of an operation. Use it for work that may wait but should not fail, on
// resources that throttle.
//
// # Use
//
// [New] builds a strategy from a [Config]. The zero Config has the numbers of the AWS SDKs. Unlike
// the AWS SDKs it cuts the send rate once for all throttles of one congestion event, and stays below a
// limit that no one else uses, see [ratelimit.FindLimit]. Use [SendLimit] for a limit that you know in advance. The deadline of the
// context and the Config fields MaxSendWait, MaxSendQueue and NoSendWait limit the wait of an
// attempt.
//
// # A limiter of your own
//
// Config.NewLimiter can return any [Limiter], such as one that several processes share. Package
// ratelimit has the types that a limiter and adaptive mode exchange.
package adaptive
