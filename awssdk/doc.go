// Package awssdk lets clients of aws-sdk-go-v2 retry with the strategies of awsretry.
//
// # All clients of a config
//
// [LoadDefaultConfig] loads a config whose clients share one strategy, also those that fetch its credentials:
//
//	cfg, err := awssdk.LoadDefaultConfig(ctx)
//	...
//	client := dynamodb.NewFromConfig(cfg)
//
// [Install] gives a strategy to every client made later from a config that the program already
// has. The strategy follows the retry settings that the config was loaded with.
//
// The SDK's retry loop stays, with its sleeps, clock-skew correction, headers, metrics and errors. It sleeps on the SDK's
// clock, not on that of the strategy. Two small middlewares tell the strategy what a call is about, and how each attempt and
// the call ended. With [WithAttemptTimeout] a third one limits each attempt.
//
// # Without the middlewares
//
// A retryer that is taken out of the config and given to a client of another one finds no call. It then
// does what the SDK's standard retryer does, with the numbers and verdicts of the strategy: it has a quota of
// its own, knows no scopes, and never waits for a send rate.
//
// # What shares a quota and a send rate
//
// Calls of one scope share a retry quota and, in adaptive mode, a send rate. The scope of a
// call is what AWS counts it in, in an account and a region: a resource in its input, such as a
// table, bucket, queue, topic, stream or function; else the operation; else the service.
// [WithAccount] says how the account is found. [WithOperation] changes the scope of calls with a
// function; [WithScope] changes it for the calls of a context.
//
// Each With function makes an [Option]. All clients of one config share a strategy, and so do those of a copy. Two calls
// of LoadDefaultConfig or Install share nothing, unless both get one strategy from [WithStrategy]. [StrategyOf] returns
// the strategy of a config; its Snapshot shows all scopes.
//
// # What a call returns
//
// A call returns the error of the SDK. If the strategy gave up, a [*retry.Error] is joined to it:
// [errors.Is] finds the reason, such as [retry.ErrQuotaExhausted], and [errors.As] the error of
// the service. If the attempts are used up, for whatever reason, the text is the SDK's, and errors.As finds the
// MaxAttemptsError of its package aws/retry too. If the context ends a wait, or its deadline leaves no room for the next one,
// errors.As finds an [*aws.RequestCanceledError]; if it ends an attempt, a *smithy.CanceledError.
//
// # Loops in loops
//
// A call with a context of [retry.Once] makes one attempt. The context of an attempt carries its number, so a retry loop
// inside the client, such as that of its HTTP client, is reported as an event of kind [retry.LoopNested].
//
// # Behaviors
//
// The strategy follows the behavior v2.1, as the SDK does since v1.48.0, unless [WithSettings] names another one, such as
// awsretry.WithStandard(standard.Config{Behavior: retry.V20}). In both the SDK's loop sleeps the backoff of the strategy.
package awssdk
