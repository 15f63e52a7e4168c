package awssdk

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

// Option is an option of [LoadDefaultConfig] and [Install]. A nil option is skipped. An option may serve
// several calls, also at once.
type Option func(o *options)

type options struct {
	settings  []awsretry.Option
	strategy  retry.Strategy
	operation func(context.Context, retry.Operation, any) retry.Operation
	timeout   retry.AttemptTimeout
	account   string
	ofSDK     []func(*config.LoadOptions) error // for config.LoadDefaultConfig
}

func collect(opts []Option) options {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// WithSettings passes options to awsretry.Load, which resolves the settings and builds the strategy. Several WithSettings
// add up. Options beside [WithStrategy] are an error, because then no settings are resolved.
func WithSettings(opts ...awsretry.Option) Option {
	return func(o *options) { o.settings = append(o.settings, opts...) }
}

// WithStrategy uses this strategy, so no settings are resolved. A nil strategy changes nothing.
func WithStrategy(s retry.Strategy) Option {
	return func(o *options) {
		if s != nil {
			o.strategy = s
		}
	}
}

// WithOperation lets f change what the strategy knows of a call, op: its scope or resource, its attempts, its classifier,
// and whether it is a long poll. op.MaxAttempts is what the strategy allows. If RetryMaxAttempts of the client or of the
// call allows fewer than f, these count. input points to the input of the operation, such as *dynamodb.GetItemInput. f must
// be safe for concurrent use, and must not keep or change the input. A nil f changes nothing.
func WithOperation(f func(ctx context.Context, op retry.Operation, input any) retry.Operation) Option {
	return func(o *options) {
		if f != nil {
			o.operation = f
		}
	}
}

// WithLoadOptions passes options to config.LoadDefaultConfig, such as config.WithRegion. Several
// WithLoadOptions add up. Only [LoadDefaultConfig] takes them; [Install] returns an error.
func WithLoadOptions(opts ...func(*config.LoadOptions) error) Option {
	return func(o *options) {
		for _, opt := range opts {
			if opt != nil {
				o.ofSDK = append(o.ofSDK, opt)
			}
		}
	}
}

// check returns an error for options that have no effect.
func (o options) check() error {
	if o.strategy != nil && len(o.settings) > 0 {
		return errors.New("awssdk: WithStrategy and WithSettings exclude each other")
	}
	if err := retry.CheckTimeout(o.timeout); err != nil {
		return fmt.Errorf("awssdk: WithAttemptTimeout: %w", err)
	}
	return checkAccount(o.account)
}
