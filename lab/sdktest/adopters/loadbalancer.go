package adopters

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// LoadBalancerController is for kubernetes-sigs/aws-load-balancer-controller.
//
// It replaces the limits of pkg/aws/throttle/defaults.go, the middleware of throttler.go beside it,
// which waits before the retry loop, so that retries are not limited, and the retryer without a
// quota of pkg/aws/aws_config.go. Here a limit holds for every attempt, and a throttle lowers the
// rate below the limit. A wait that would pass the deadline of the call is refused.
//
// One thing differs: a call counts in one limit, where the program counts some calls in two.
func LoadBalancerController(ctx context.Context, load ...func(*config.LoadOptions) error) (aws.Config, error) {
	limits := adaptive.Config{SendLimit: func(scope retry.ScopeKey) adaptive.SendLimit {
		return limitOf(scope)
	}}
	return awssdk.LoadDefaultConfig(ctx, awssdk.WithLoadOptions(load...), awssdk.WithOperation(groups),
		awssdk.WithSettings(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithConfig(limits)))
}

// The groups of operations that have a limit together.
const (
	targets   = "targets"
	changeACL = "change ACL"
	readACL   = "read ACL"
)

// groups puts a call into the group of its operation.
func groups(_ context.Context, op retry.Operation, _ any) retry.Operation {
	switch op.Name {
	case "RegisterTargets", "DeregisterTargets":
		op.Resource = targets
	case "AssociateWebACL", "DisassociateWebACL":
		op.Resource = changeACL
	case "GetWebACLForResource", "ListResourcesForWebACL":
		op.Resource = readACL
	default:
		op.Resource = ""
	}
	return op
}

// limitOf returns the limit of a group, in requests a second.
func limitOf(scope retry.ScopeKey) adaptive.SendLimit {
	switch {
	case scope.Resource == targets:
		return adaptive.SendLimit{Ceiling: 4, Burst: 20}
	case scope.Resource == changeACL:
		return adaptive.SendLimit{Ceiling: 0.5, Burst: 1}
	case scope.Resource == readACL:
		return adaptive.SendLimit{Ceiling: 1, Burst: 1}
	case scope.Service == "elastic load balancing v2":
		return adaptive.SendLimit{Ceiling: 10, Burst: 40}
	}
	return adaptive.SendLimit{}
}
