// Package ratelimit has what adaptive mode and a [Limiter] exchange. Read it to write a limiter of your own, for
// adaptive.Config.NewLimiter, or to read the [WaitError] of an attempt that was held back.
//
// A [Request] is what an attempt asks for, and a [Wait] what it must expect in the line. A [Response] is its outcome, and a
// [Change] what that did to the send rate. Request.Part and Response.PartThrottled tell of throttles of one key of a
// table, and of the retries after them: the limiter decides what to do, since no other one stands beside it.
//
// A [WaitError] says why a wait was refused; [ErrNotAfter] means that it would outlast the operation.
package ratelimit
