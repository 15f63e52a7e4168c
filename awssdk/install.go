package awssdk

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/awsretry/awsretry"
)

// Install gives a strategy to all clients that are made from cfg from then on. They
// share it. The settings are resolved as awsretry.Load does, from the profile, the
// files and the environment that config.LoadDefaultConfig has read; the retry mode
// and the attempts that it was called with, and those set in cfg by hand, count like
// awsretry.WithMode and awsretry.WithMaxAttempts. [WithSettings] has the last word.
// The Retryer of cfg is replaced.
//
// The files are those of the SDK, also where other AWS tools look elsewhere: ~ is not
// the home directory in a path, and the home directory is the one of when the process
// started. A file that the SDK cannot open counts as empty, and so does a profile that
// only AWS_DEFAULT_PROFILE names and no file has. awsretry reads one file of each
// kind. With several in one option of config.LoadDefaultConfig, and with a pipe, the
// values that the SDK has read count like awsretry.WithMode and
// awsretry.WithMaxAttempts, below the environment; [WithSettings] can override these
// values, and cannot name another profile of these files.
//
// A client or a call may still have a Retryer of its own, which then works as if
// there were no Install, or RetryMaxAttempts of its own.
//
// Install changes cfg only, and only if it returns no error. Its errors are those
// of awsretry.Load, and one for [WithStrategy] beside [WithSettings].
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
	cfg.RetryMode, cfg.RetryMaxAttempts = "", 0 // they are in the strategy now
	cfg.APIOptions = append(slices.Clip(cfg.APIOptions), addMiddlewares)
	cfg.ServiceOptions = append(slices.Clip(cfg.ServiceOptions), nameService)
	return nil
}

func (o options) install(cfg aws.Config) (*Retryer, error) {
	ctx := context.Background()
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.strategy != nil {
		return New(o.strategy, o.operation)
	}
	settings, err := sourcesOf(ctx, cfg).resolve(ctx, o.settings)
	if err != nil {
		return nil, err
	}
	strategy, err := awsretry.New(settings, only[awsretry.BuildOption](o.settings)...)
	if err != nil {
		return nil, err
	}
	return New(strategy, o.operation)
}

// nameService gives a new client the retryer for its service, in place of the one
// for all. clientOptions points to the options of the client; there is no interface
// for these.
func nameService(id string, clientOptions any) {
	v := reflect.ValueOf(clientOptions)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return
	}
	field := v.Elem().FieldByName("Retryer")
	if !field.IsValid() || field.Type() != reflect.TypeFor[aws.Retryer]() {
		return
	}
	if r, ok := reflect.TypeAssert[*Retryer](field); ok {
		field.Set(reflect.ValueOf(r.forService(id)))
	}
}
