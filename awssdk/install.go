package awssdk

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

// Install gives one strategy to all clients that are made from cfg later. It replaces the Retryer
// of cfg. The settings are resolved as awsretry.Load does, from the profile, the files and the
// environment that config.LoadDefaultConfig has read. The retry mode and the attempts that
// config.LoadDefaultConfig was called with, and those that code has set in cfg, count like
// awsretry.WithMode and awsretry.WithMaxAttempts. [WithSettings] overrides all other values.
//
// The files are those of the SDK, even where other AWS tools read other files: ~ is not the home
// directory in a path, and the home directory is that at the start of the process. A file that
// the SDK cannot open counts as empty, and so does a profile that only AWS_DEFAULT_PROFILE names
// and that no file has. awsretry reads one file of each kind. With several files in one option of
// config.LoadDefaultConfig, and with a pipe, the values that the SDK has read count like those of
// awsretry.WithValues, but a variable overrides them. [WithSettings] overrides them too, but cannot
// name another profile of these files.
//
// A value with which the SDK has started is no error, not even where awsretry.Load refuses it. It
// counts as the SDK has read it: max_attempts = "7" is 7, attempts below 1 are not set, and more
// than 2^31-1 are 2^31-1. The observer is told of it by [retry.SettingIgnored]. The options of
// WithSettings are checked as awsretry.Load checks them, and so is a profile or file that they
// name.
//
// A client or a call may have its own Retryer, which works as if there were no Install, or its
// own RetryMaxAttempts.
//
// Install changes only cfg, and only if it returns no error. The errors are those of awsretry.Load
// that the options cause, and one for [WithStrategy] beside [WithSettings].
func Install(cfg *aws.Config, opts ...Option) error {
	if cfg == nil {
		return errors.New("awssdk: Install without a config")
	}
	o := collect(opts)
	r, err := o.install(*cfg)
	if err != nil {
		return err
	}
	cfg.Retryer = func() aws.Retryer { return r }
	cfg.RetryMode, cfg.RetryMaxAttempts = "", 0 // The strategy has both now.
	cfg.APIOptions = append(slices.Clip(cfg.APIOptions), r.addMiddlewares)
	cfg.ServiceOptions = append(o.providers.before(cfg.ServiceOptions), nameService)
	return nil
}

func (o options) install(cfg aws.Config) (*sdkRetryer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(o.ofSDK) > 0 {
		return nil, errLoadOptions
	}
	strategy := o.strategy
	if strategy == nil {
		var err error
		if strategy, err = o.resolved(context.Background(), cfg); err != nil {
			return nil, err
		}
	}
	return o.retryer(strategy)
}

// resolved returns the strategy that the settings of cfg ask for.
func (o options) resolved(ctx context.Context, cfg aws.Config) (retry.Strategy, error) {
	settings, err := sourcesOf(ctx, cfg).resolve(ctx, o.settings)
	if err != nil {
		return nil, err
	}
	return awsretry.New(settings, only[awsretry.BuildOption](o.settings)...)
}

// nameService gives a new client the retryer for its service, in place of the retryer for all
// services. clientOptions points to the options of the client.
func nameService(id string, clientOptions any) {
	field, ok := fieldOf[aws.Retryer](clientOptions, "Retryer")
	if !ok {
		return
	}
	if r, ok := reflect.TypeAssert[*sdkRetryer](field); ok {
		named := r.forService(id)
		named.owner = ownerOf(clientOptions)
		field.Set(reflect.ValueOf(named))
	}
}
