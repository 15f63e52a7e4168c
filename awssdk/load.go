package awssdk

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// LoadDefaultConfig is config.LoadDefaultConfig and [Install] in one call. In addition, it gives the
// strategy to the clients that fetch the credentials of the config: STS, SSO, the container endpoint
// and the instance metadata service (IMDS). config.LoadDefaultConfig makes these before Install sees
// the config. [WithLoadOptions] passes options to config.LoadDefaultConfig.
//
// Calls to IMDS have their own scope. They are made at most three times and do not wait for a send
// rate, so they take no longer than with the SDK alone.
//
// A call made while the config is loaded, such as that of config.WithEC2IMDSRegion, is retried in
// standard mode with the built-in defaults, because the settings are not known yet.
//
// The errors are those of config.LoadDefaultConfig and Install, and one for config.WithRetryer,
// which would have no effect. Files and environment that config.LoadDefaultConfig accepts are no error.
func LoadDefaultConfig(ctx context.Context, opts ...Option) (aws.Config, error) {
	o := collect(opts)
	if err := o.check(); err != nil {
		return aws.Config{}, err
	}
	r, err := newRetryer(o.strategy, o)
	if err != nil {
		return aws.Config{}, err
	}
	cfg, err := config.LoadDefaultConfig(ctx, append(slices.Clip(o.ofSDK), r.give)...)
	if err != nil {
		return aws.Config{}, err
	}
	retryer, err := r.resolve(ctx, cfg, o) // There is no call yet.
	if err != nil {
		return aws.Config{}, err
	}
	cfg.Retryer, cfg.RetryMode, cfg.RetryMaxAttempts = retryer, r.inForce.mode, r.inForce.attempts
	return cfg, nil
}

// give is an option of config.LoadDefaultConfig. All clients of the config get the retryer and the middlewares.
func (r *sdkRetryer) give(o *config.LoadOptions) error {
	if o.Retryer != nil {
		return errors.New("awssdk: config.WithRetryer has no effect in LoadDefaultConfig: use config.LoadDefaultConfig")
	}
	o.Retryer = func() aws.Retryer { return r.forAll("") } // RetryMaxAttempts, which the SDK leaves empty then, is the strategy's
	o.APIOptions = append(slices.Clip(o.APIOptions), r.addMiddlewares)
	o.ServiceOptions = append(slices.Clip(o.ServiceOptions), r.nameClient)
	return nil
}
