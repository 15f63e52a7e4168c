// Package retry has the retry loop, the [Strategy] interface, and what strategies report: errors,
// events and snapshots.
//
// # A function that is retried
//
// [Do] calls a function until it succeeds or the strategy gives up; [DoErr] is for a function
// that returns only an error. Make one strategy with awsretry.Load, standard.New or adaptive.New
// and use it for all operations of a client. An [Operation] says what is called, and so which
// calls share a retry quota and a send rate.
//
// [Poll] calls a function until it reports that it is done, such as one that asks for the state
// of a job. A poll that is not done is no failure and costs no retry quota.
//
// Classifiers decide which errors are retried, see package [classify]. [Mark] and [Permanent]
// decide it for one error, [WithPolicy] for what an attempt returned.
//
// # Why the client gave up
//
// If the function's error is not retryable, [Do] returns it unchanged. Otherwise [Do] returns an
// [*Error] in which [errors.Is] finds the reason, such as [ErrQuotaExhausted], and [errors.As]
// the last error of the service.
//
// # What happens inside
//
// An [Observer] gets each [Event]; [SlogObserver] logs the important ones. [Strategy.Snapshot]
// returns the state of quotas and send rates.
//
// # Loops in loops
//
// Attempts of nested loops multiply. [Once] limits inner operations to one attempt, and
// [AttemptFrom] returns the attempt that a context belongs to.
//
// # A loop of your own
//
// A program that cannot use Do calls the methods of [Strategy] as Do does: acquire a [Token],
// wait for it, make the attempt, then end the operation or ask for the next token.
//
//   - [CheckStrategy] refuses a strategy that is nil or wraps nil, with [ErrNoStrategy].
//   - Token.Wait waits for backoff, quota and send rate. Token.WithoutDelay leaves the backoff to a
//     loop that sleeps it itself.
//   - Token.Context makes the context of an attempt, for AttemptFrom, Once and [LoopNested].
//   - [LimitAttempt] makes an [AttemptLimit], which ends an attempt by an [AttemptTimeout].
//     [CheckTimeout] refuses one out of range, and [TimeoutOf] asks a [TimeoutFunc] before the first
//     attempt waits.
//   - An attempt that did not return is recorded with [ErrAborted]. [ErrForeignToken] and
//     [ErrTokenUsed] say that the loop misused a token.
//   - Error.Complete adds to a refusal what only a loop knows: how long the operation took, and how
//     the caller's context ended.
//   - [Plan] has the numbers of an operation, and [ScopeKey] names what shares a quota; its Clone holds
//     on to no document that the key was cut from.
//
// Options of Do, see [Option], are made by this package only. A strategy of your own embeds one of
// this module, which alone issues tokens. [EventKind] may gain values, so a switch over it needs a
// default.
package retry
