package awssdk

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/retry"
)

// Install gives one strategy to all clients made from cfg later. It replaces the Retryer of cfg. The retry mode and the
// attempts are those that config.LoadDefaultConfig has read, or that were set in cfg since: no file and no variable is read
// again, so Install starts with all that the SDK starts with. As in the clients of the SDK, a mode other than adaptive is
// standard, zero attempts are not set, and attempts below zero have no limit but the retry quota; they are 2^31-1 here, and
// so are more. Nothing is reported about such values; the command awsretry finds them in the files with explain and lint.
//
// [WithSettings] overrides all of these. If one of its options is about what is read, awsretry.WithSources or
// awsretry.WithStrict, all settings are resolved again as awsretry.Load does, with its errors. What code has
// given to config.LoadDefaultConfig counts then too: the mode, the attempts, and, where the sources have none, the
// profile and the last file of each kind. A cfg that config.LoadDefaultConfig has not made has only what its fields
// say, as in the SDK.
//
// Afterwards the RetryMode and the RetryMaxAttempts of cfg are those in force: what the SDK has read, unless WithSettings says
// otherwise. If they are set later, or reset to zero, in cfg or in the options of a client or of a call, the attempts are those
// that the SDK would allow. With [WithOperation] or [WithStrategy], RetryMaxAttempts is zero, because it would limit what
// these allow. A client or a call may also have its own Retryer, which then works as if there were no Install. A second
// Install begins with what the first one found, and with what has been set since.
//
// If Install returns an error, cfg is unchanged. The errors are those of awsretry.Load for the options,
// and one for [WithStrategy] beside [WithSettings].
func Install(cfg *aws.Config, opts ...Option) error {
	if cfg == nil {
		return errors.New("awssdk: Install without a config")
	}
	o := collect(opts)
	if err := o.check(); err != nil {
		return err
	}
	if len(o.ofSDK) > 0 {
		return errors.New("awssdk: WithLoadOptions has an effect only in LoadDefaultConfig")
	}
	before := *cfg
	if earlier, ok := retryerOf(before); ok {
		before = earlier.before
		if cfg.RetryMode != earlier.inForce.mode {
			before.RetryMode = cfg.RetryMode
		}
		if cfg.RetryMaxAttempts != earlier.inForce.attempts {
			before.RetryMaxAttempts = cfg.RetryMaxAttempts
		}
	}
	r, err := newRetryer(o.strategy, o)
	if err != nil {
		return err
	}
	retryer, err := r.resolve(context.Background(), before, o)
	if err != nil {
		return err
	}
	cfg.Retryer, cfg.RetryMode, cfg.RetryMaxAttempts = retryer, r.inForce.mode, r.inForce.attempts
	cfg.APIOptions = append(slices.Clip(cfg.APIOptions), r.addMiddlewares)
	cfg.ServiceOptions = append(slices.Clip(cfg.ServiceOptions), r.nameClient)
	return nil
}

// resolve gives r the strategy that the settings of cfg ask for, unless it has one, and returns the Retryer for the config. The
// clients of the config limit their attempts to its RetryMaxAttempts, whatever the operation says. So a config with
// WithOperation has none, and neither has one with WithStrategy: these decide about attempts.
func (r *sdkRetryer) resolve(ctx context.Context, cfg aws.Config, o options) (func() aws.Retryer, error) {
	r.before = cfg
	var unset retry.Behavior
	if o.strategy == nil {
		settings, attempts, err := resolve(ctx, cfg, o.settings)
		if err != nil {
			return nil, err
		}
		strategy, err := awsretry.New(settings, only[awsretry.BuildOption](o.settings)...)
		if err != nil {
			return nil, err
		}
		r.use(strategy)
		if o.operation == nil && attempts != 0 {
			unset, r.inForce.attempts = settings.Behavior.Value, attempts
		}
	}
	r.inForce.mode = aws.RetryMode(r.strategy.Snapshot().Mode)
	return func() aws.Retryer { return r.forAll(unset) }, nil
}

// nameClient gives a new client the retryer for its service, in place of the retryer for all services, and middlewares that know
// the client whatever its retryer is. clientOptions points to the options of the client.
func (r *sdkRetryer) nameClient(id string, clientOptions any) {
	named := r.forService(id)
	if field, ok := fieldOf[aws.Retryer](clientOptions, "Retryer"); ok {
		if of := lookAt(field, longestChain); of.ours != nil && of.ours.shared == r.shared {
			named.most = of.attemptsOf(id, clientOptions)
			if !of.around {
				field.Set(reflect.ValueOf(named))
			}
		}
	}
	if field, ok := fieldOf[[]func(*middleware.Stack) error](clientOptions, "APIOptions"); ok {
		n := field.Len()
		field.Set(reflect.Append(field.Slice3(0, n, n), reflect.ValueOf(named.addMiddlewares)))
	}
}

// attemptsOf returns the attempts of the retryer that the SDK would give a new client before its options; zero for those of the
// strategy. The client limits them to its RetryMaxAttempts afterwards, which an option may have reset. A Retryer of the config
// that is around ours does not know that number.
func (w wrapping) attemptsOf(service string, clientOptions any) int {
	switch field, ok := fieldOf[int](clientOptions, "RetryMaxAttempts"); {
	case !w.around && ok && field.Int() > 0:
		return int(field.Int())
	case !w.around && ok && field.Int() < 0:
		return sdkretry.DefaultMaxAttempts
	case w.ours.unset != "":
		return w.ours.unset.Defaults(service).MaxAttempts
	default:
		return 0
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
