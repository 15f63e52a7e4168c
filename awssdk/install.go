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

// Install gives one strategy to all clients made from cfg later. It replaces the Retryer of cfg and
// resolves the settings as awsretry.Load does, from the profile, files and environment that
// config.LoadDefaultConfig read. A retry mode or a number of attempts that was given to
// config.LoadDefaultConfig or set in cfg counts like awsretry.WithMode or awsretry.WithMaxAttempts.
// [WithSettings] overrides all other values.
//
// The files are those of the SDK, even if other AWS tools read other files: ~ in a path is not the
// home directory, and the home directory is the one at the start of the process. A file that the
// SDK cannot open counts as empty. So does a profile that is named only by AWS_DEFAULT_PROFILE and
// is in no file. awsretry reads one file of each kind. If an option of config.LoadDefaultConfig has
// several files, or a pipe, the values that the SDK read count like awsretry.WithValues, but
// variables override them. [WithSettings] overrides them too, but cannot name another profile of
// these files.
//
// A value that the SDK accepted is no error, even if awsretry.Load refuses it, and means what the SDK
// made of it: max_attempts = "7" is 7, attempts below 1 are not set, and more than 2^31-1 are 2^31-1.
// The observer gets a [retry.SettingIgnored] event. The options of WithSettings, and a profile or file
// that they name, are checked as by awsretry.Load.
//
// A client or a call may have its own RetryMaxAttempts, or its own Retryer, which then works as if
// there were no Install.
//
// If Install returns an error, cfg is unchanged. The errors are those of awsretry.Load for the options,
// and one for [WithStrategy] beside [WithSettings].
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
