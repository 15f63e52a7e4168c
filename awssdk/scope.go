package awssdk

import (
	"context"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"

	"github.com/awsretry/awsretry/retry"
)

// WithScope returns a context whose calls belong to the scope of that name, and not to that of their
// service, region and resource. It overrides [WithOperation]. Calls that get the credentials of such a
// call may belong to the scope too. An empty name changes nothing.
func WithScope(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, scopeKey{}, name)
}

type scopeKey struct{}

func scopeFrom(ctx context.Context) (name string, ok bool) {
	name, _ = ctx.Value(scopeKey{}).(string)
	return name, name != ""
}

// operationOf describes what is left of the call that ctx belongs to. The account is that of its credentials, if it is known.
func (r *sdkRetryer) operationOf(ctx context.Context, input any, attempt attemptHeader, account string) retry.Operation {
	limit := attempt.left()
	service := awsmiddleware.GetServiceID(ctx)
	op := retry.Operation{
		Service:     r.scoped,
		Region:      awsmiddleware.GetRegion(ctx),
		Name:        awsmiddleware.GetOperationName(ctx),
		MaxAttempts: limit,
	}
	if service != r.service {
		op.Service = strings.ToLower(service)
	}
	if r.service == "" {
		nameUnnamed(&op, input)
	}
	op.LongPolling = isLongPolling(op.Service, op.Name)
	scope, named := scopeFrom(ctx)
	r.setScope(&op, input, account)
	if r.operation != nil {
		if limit == 0 { // the loop has no limit of its own
			op.MaxAttempts = r.attempts(op.Service)
		}
		op = r.operation(ctx, op, input)
		if limit > 0 && (op.MaxAttempts == 0 || op.MaxAttempts > limit) {
			op.MaxAttempts = limit // the loop makes no more, and the strategy must know that
		}
	}
	if named {
		op.Scope = scope
	}
	return op
}

// isLongPolling reports whether AWS calls the operation a long poll.
func isLongPolling(service, operation string) bool {
	return service == "sqs" && operation == "ReceiveMessage" || service == "sfn" && operation == "GetActivityTask" ||
		service == "swf" && (operation == "PollForActivityTask" || operation == "PollForDecisionTask")
}
