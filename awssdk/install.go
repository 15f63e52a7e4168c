package awssdk

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Install gives a strategy to all clients that are made from cfg from then on. They
// share it. The settings are resolved as awsretry.Load does, with the profile and
// the files that config.LoadDefaultConfig was called with; the retry mode and the
// attempts it was called with, and those set in cfg by hand, count like
// awsretry.WithMode and awsretry.WithMaxAttempts. [WithSettings] has the last word.
// The Retryer of cfg is replaced.
//
// A client or a call may still have a Retryer of its own, which then works as if
// there were no Install, or RetryMaxAttempts of its own.
//
// Install changes cfg only, and only if it returns no error. Its errors are those
// of awsretry.Load, and one for files that it cannot take along.
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
	if o.strategy != nil {
		return o.load(ctx)
	}
	found, err := settingsOf(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return o.load(ctx, found...)
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
