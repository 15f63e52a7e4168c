package awssdk_test

import (
	"context"
	"fmt"
	"log"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/retry"
)

// throttle is the known limit of the operations of a service whose names match a pattern.
type throttle struct {
	service string
	pattern *regexp.Regexp
	limit   adaptive.SendLimit
}

// parseThrottles reads service:pattern=rate:burst, with commas between.
func parseThrottles(flag string) (throttles []throttle, err error) {
	for text := range strings.SplitSeq(flag, ",") {
		var t throttle
		name, limit, _ := strings.Cut(text, "=")
		service, pattern, _ := strings.Cut(name, ":")
		if _, err := fmt.Sscanf(limit, "%g:%g", &t.limit.Ceiling, &t.limit.Burst); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		if t.pattern, err = regexp.Compile(pattern); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		t.service = strings.ToLower(service)
		throttles = append(throttles, t)
	}
	return throttles, nil
}

// A flag of the program has limits: a rate and a burst for operations that match a pattern. Calls of these
// are in a scope together, which is held to the limit from the start and learns below it.
func ExampleWithOperation_throttles() {
	throttles, err := parseThrottles("CloudFormation:^(List|Describe)Stacks=0.2:2,WAFV2:WebACL=1:1")
	if err != nil {
		log.Fatal(err)
	}
	byPattern := func(_ context.Context, op retry.Operation, _ any) retry.Operation {
		for _, t := range throttles {
			if op.Service == t.service && t.pattern.MatchString(op.Name) {
				op.Resource = t.pattern.String()
			}
		}
		return op
	}
	limits := adaptive.Config{NoSendWait: true, SendLimit: func(scope retry.ScopeKey) adaptive.SendLimit {
		for _, t := range throttles {
			if scope.Service == t.service && scope.Resource == t.pattern.String() {
				return t.limit
			}
		}
		return adaptive.SendLimit{}
	}}

	service := failing(0)
	defer service.Close()
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	err = awssdk.Install(&cfg, awssdk.WithOperation(byPattern),
		awssdk.WithSettings(awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithConfig(limits)))
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		service.show(ctx, cfg)
	}
	// Output:
	// succeeded, requests: 1
	// succeeded, requests: 1
	// failed, requests: 0
}
