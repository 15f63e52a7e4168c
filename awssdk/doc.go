// Package awssdk lets clients of aws-sdk-go-v2 retry with the strategies of
// awsretry.
//
// [Install] is the way to do it: it resolves the settings that the config of the
// clients was loaded with, and gives every client made from that config the
// strategy that they ask for.
//
//	cfg, err := config.LoadDefaultConfig(ctx)
//	...
//	err = awssdk.Install(&cfg)
//	...
//	client := dynamodb.NewFromConfig(cfg)
//
// The SDK's own retry loop stays, with all that is built into it: the correction
// of clock skew, the headers and metrics of attempts, the errors. Three small
// middlewares tell the strategy what a retryer alone cannot know: what the call is
// about, so that each table, bucket or queue has a retry quota and a send rate of
// its own; how every attempt ended; and how the call ended.
//
// [Load] and [New] give a plain aws.Retryer, for where no middleware can be added.
// Its scopes are services and regions, and names given with [WithScope].
//
// # What is shared
//
// All clients made from one config share one strategy, and so do all retryers that
// the function of Load returns: it returns the same one each time. What is kept
// apart is kept apart by scope, that is by service, region and resource, however
// many clients there are. Two calls of Load or Install share nothing.
//
// # Generations
//
// The strategy follows the behavior v2.1 unless [WithSettings] names another one,
// such as awsretry.WithBehavior(retry.V20). So does the loop of the SDK
// since v1.48.0. Before, AWS_NEW_RETRIES_2026 chose between the two generations of the
// loop at each step. Nothing here depends on which of them runs: the strategy does
// the waiting, and it follows the behavior that was resolved when it was built.
package awssdk
