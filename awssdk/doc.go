// Package awssdk lets clients of aws-sdk-go-v2 retry with the strategies of awsretry.
//
// # All clients of a config
//
// [LoadDefaultConfig] loads a config whose clients share one strategy, those included that fetch
// its credentials:
//
//	cfg, err := awssdk.LoadDefaultConfig(ctx)
//	...
//	client := dynamodb.NewFromConfig(cfg)
//
// [Install] gives a strategy to every client that is made later from a config which the program
// has. The strategy follows the retry settings that the config was loaded with.
//
// The retry loop of the SDK stays, and with it the sleep of each backoff, the correction of clock
// skew, the headers and metrics of attempts, and the errors. The sleep follows the time of the
// SDK and not the clock of the strategy. Three small middlewares tell the strategy what a
// retryer alone cannot know: what a call is about, how each attempt ended, and how the call
// ended. With [WithAttemptTimeout] a fourth one limits each attempt.
//
// # A retryer alone
//
// [Load] and [New] give an [aws.Retryer] for programs that cannot add middlewares. Its scopes
// are services or operations in a region, and the names that [WithScope] gives. [New] says what else is
// different.
//
// # What shares a quota and a send rate
//
// Calls of one scope share a retry quota and, in adaptive mode, a send rate. The scope of a
// call is what AWS counts it in: a resource that its input names, such as a table, bucket,
// queue, topic, stream or function, else the operation or the service, in an account and a
// region. [WithAccount] says how the account is found. [WithOperation] changes the scope of
// calls by a function, such as [ByOperation] or [ByService], and [WithScope] that of the calls
// of a context.
//
// All clients of one config share a strategy, and so do all retryers that the function of Load
// returns. The state of a scope is the same for all of them. Two calls of LoadDefaultConfig,
// Install or Load share nothing, unless both get one strategy from [WithStrategy]. [StrategyOf] returns the
// strategy of a config, whose Snapshot shows all scopes.
//
// # What a call returns
//
// A call returns the error of the SDK. Where the strategy gave up, a [*retry.Error] is joined
// to it: [errors.Is] finds the reason, such as [retry.ErrQuotaExhausted], and [errors.As] also
// the error of the service. Where the attempts are used up, errors.As finds the MaxAttemptsError
// of the SDK's package aws/retry. If
// the context of the call has ended, or its deadline leaves no room for the next wait,
// errors.As finds an [*aws.RequestCanceledError] as well.
//
// # Loops in loops
//
// A call with a context of [retry.Once] makes one attempt. With middlewares the context of an
// attempt says which attempt it is, so that a loop inside the client, such as that of an HTTP
// client which retries by itself, is an event of kind [retry.LoopNested].
//
// # Behaviors
//
// The strategy follows the behavior v2.1, as the SDK does since v1.48.0, unless [WithSettings] names
// another one, such as awsretry.WithBehavior(retry.V20). In both behaviors the loop of
// the SDK sleeps the backoff of the strategy.
package awssdk
