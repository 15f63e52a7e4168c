package awssdk

import (
	"context"

	"github.com/awsretry/awsretry/retry"
)

// OperationFunc changes what a strategy is told about a call: its scope or
// resource, whether it is a long poll, how many attempts it may have, its
// classifier. op is what was found out about the call, MaxAttempts being what the
// client or the call allows, or 0. A smaller number there is respected, a larger
// one is not. input points to the input of the operation, such as
// *dynamodb.GetItemInput; it is nil without [Install]. It must be safe for
// concurrent use and not keep the input.
type OperationFunc func(ctx context.Context, op retry.Operation, input any) retry.Operation

// WithScope returns a context whose calls belong to the scope of that name,
// instead of that of service, region and resource, whatever else is set up. Calls
// that are made on behalf of such a call, for credentials, may see the same
// context. The empty name is as if it were absent.
func WithScope(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, scopeKey{}, name)
}

type scopeKey struct{}

func scopeFrom(ctx context.Context) (name string, ok bool) {
	name, _ = ctx.Value(scopeKey{}).(string)
	return name, name != ""
}

// isLongPolling knows the operations that AWS calls so.
func isLongPolling(service, operation string) bool {
	switch service {
	case "sqs":
		return operation == "ReceiveMessage"
	case "sfn":
		return operation == "GetActivityTask"
	case "swf":
		return operation == "PollForActivityTask" || operation == "PollForDecisionTask"
	default:
		return false
	}
}
