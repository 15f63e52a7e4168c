// Package retry holds the loop, the contract that strategies keep, and what they tell: errors,
// events and snapshots.
//
// # A function that is retried
//
// [Do] calls a function until it succeeds or the strategy gives up, [DoErr] does so for one
// that returns only an error. A strategy comes from awsretry.Load, standard.New or
// adaptive.New. It is made once and shared by all operations of a client. An [Operation] says
// what is called, and with it what shares a retry quota and a send rate.
//
// [Poll] calls a function until it says that it is done, such as one that asks for the state of a
// job. Polls that find it unfinished are no failures and cost no retry quota.
//
// Classifiers decide which errors are retried, see package [classify]. [Mark] and [Permanent]
// decide it for one error, [WithPolicy] for what an attempt returned.
//
// # Why the client gave up
//
// If the function's error is not retryable, [Do] returns it as it is. Otherwise [Do] returns an
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
// Attempts of nested loops multiply. [Once] keeps inner operations to one attempt, and
// [AttemptFrom] tells which attempt a context belongs to.
//
// # A loop of your own
//
// A program that cannot use Do calls the four verbs of [Strategy] as Do does: acquire a
// [Token], wait for it, make the attempt, then end the operation or ask for the next token.
package retry
