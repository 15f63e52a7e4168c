package awssdk

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

// Install gives one strategy to all clients made from cfg later. It replaces the Retryer of cfg. The retry mode and the
// attempts are those that config.LoadDefaultConfig has read, or that were set in cfg since: no file and no variable is read
// again, so Install starts with all that the SDK starts with. As in the clients of the SDK, a mode other than adaptive is
// standard, zero attempts are not set, and attempts below zero have no limit but the retry quota; they are 2^31-1 here, and
// so are more. Nothing is reported about such values; the command awsretry finds them in the files with explain and lint.
//
// [WithSettings] overrides all of these. If one of its options is about what is read, such as a profile, a file
// or awsretry.WithStrict, all settings are resolved again as awsretry.Load does, with its errors. What code has
// given to config.LoadDefaultConfig counts then too: the mode, the attempts, the profile, and the last file
// of each kind. A cfg that config.LoadDefaultConfig has not made has only what its fields say, as in the SDK.
//
// Afterwards the RetryMode of cfg is the mode in force, and its RetryMaxAttempts is zero. If it is set
// later, or in the options of a client or of a call, it limits the attempts as in the SDK. A client or a call may also have
// its own Retryer, which then works as if there were no Install, with its own attempts. A second Install begins with what
// the first one found, and with what has been set since.
//
// If Install returns an error, cfg is unchanged. The errors are those of awsretry.Load for the options,
// and one for [WithStrategy] beside [WithSettings].
func Install(cfg *aws.Config, opts ...Option) error {
	if cfg == nil {
		return errors.New("awssdk: Install without a config")
	}
	o := collect(opts)
	before := *cfg
	if earlier, ok := retryerOf(before); ok {
		before = earlier.before
		if cfg.RetryMode != modeOf(earlier.strategy) {
			before.RetryMode = cfg.RetryMode
		}
		before.RetryMaxAttempts = cmp.Or(cfg.RetryMaxAttempts, before.RetryMaxAttempts)
	}
	r, err := o.install(before)
	if err != nil {
		return err
	}
	r.before = before
	cfg.Retryer = func() aws.Retryer { return r }
	cfg.RetryMode = modeOf(r.strategy)
	cfg.RetryMaxAttempts = 0 // The strategy has it. A client would limit each call to it, whatever the operation says.
	cfg.APIOptions = append(slices.Clip(cfg.APIOptions), r.addMiddlewares)
	cfg.ServiceOptions = append(slices.Clip(cfg.ServiceOptions), nameService)
	return nil
}

func (o options) install(cfg aws.Config) (*sdkRetryer, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if len(o.ofSDK) > 0 {
		return nil, errors.New("awssdk: WithLoadOptions has an effect only in LoadDefaultConfig")
	}
	strategy := o.strategy
	if strategy == nil {
		var err error
		if strategy, err = o.resolved(context.Background(), cfg); err != nil {
			return nil, err
		}
	}
	return newRetryer(strategy, o)
}

// resolved returns the strategy that the settings of cfg ask for.
func (o options) resolved(ctx context.Context, cfg aws.Config) (retry.Strategy, error) {
	settings, err := resolve(ctx, cfg, o.settings)
	if err != nil {
		return nil, err
	}
	return awsretry.New(settings, only[awsretry.BuildOption](o.settings)...)
}

func modeOf(s retry.Strategy) aws.RetryMode { return aws.RetryMode(s.Snapshot().Mode) }

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

// fieldOf returns a field of type T of the options of a client, which clientOptions points to, because
// there is no interface for them. It reports false for options without such a field.
func fieldOf[T any](clientOptions any, name string) (reflect.Value, bool) {
	v := reflect.ValueOf(clientOptions)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	field := v.Elem().FieldByName(name)
	return field, field.IsValid() && field.Type() == reflect.TypeFor[T]()
}
