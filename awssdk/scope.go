package awssdk

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"

	"github.com/awsretry/awsretry/retry"
)

// WithScope returns a context whose calls belong to the scope of that name, and not to that of their
// service, region and resource. It overrides [WithOperation]. Calls that get the credentials of such a
// call may belong to the scope too. An empty name changes nothing.
func WithScope(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, scopeKey{}, name)
}

// OperationOf returns the operation of a call with this input by a client that is made from cfg, for a loop around such calls, as
// [retry.SendAll] is. It has the scope that the calls have, also by [WithOperation] and [WithScope]; its Unpaced is true, because
// the client takes the send tokens. service is the constant ServiceID of the client's package, and input a pointer to the input
// of one of its operations, of which only what names the resource counts. Where AWS counts by account, OperationOf asks the
// credentials of cfg for theirs. It returns their error, and one if cfg has no retryer of [Install]. For a client with
// a region or credentials of its own, set them in a copy of cfg. Observers get the events of the loop and those of its
// calls; another Name tells them apart.
func OperationOf(ctx context.Context, cfg aws.Config, service string, input any) (retry.Operation, error) {
	r, ok := retryerOf(cfg)
	if !ok {
		return retry.Operation{}, errors.New("awssdk: OperationOf: the config has no retryer of this module: call Install first")
	}
	of := reflect.TypeOf(input)
	if of == nil || of.Kind() != reflect.Pointer || !strings.HasSuffix(of.Elem().Name(), "Input") {
		return retry.Operation{}, fmt.Errorf("awssdk: OperationOf: %T is no pointer to the input of an operation", input)
	}
	account := ""
	if cfg.Credentials != nil && !aws.IsCredentialsProvider(cfg.Credentials, (*aws.AnonymousCredentials)(nil)) {
		credentials, err := cfg.Credentials.Retrieve(ctx)
		if err != nil {
			return retry.Operation{}, fmt.Errorf("awssdk: OperationOf: credentials: %w", err)
		}
		account = credentials.AccountID
	}
	ctx = awsmiddleware.SetServiceID(ctx, service)
	ctx = awsmiddleware.SetRegion(ctx, cfg.Region)
	ctx = awsmiddleware.SetOperationName(ctx, strings.TrimSuffix(of.Elem().Name(), "Input"))
	op := r.forService(service).operationOf(ctx, input, attemptHeader{}, account)
	op.Unpaced = true
	return op, nil
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
