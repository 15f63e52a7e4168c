package awsretry

import (
	"context"
	"errors"
	"fmt"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Load resolves the settings and builds the strategy that they ask for: [Resolve]
// and [New] in one call, with the errors of both. It starts no goroutine.
func Load(ctx context.Context, opts ...Option) (retry.Strategy, error) {
	settings, err := Resolve(ctx, opts...)
	if err != nil {
		return nil, err
	}
	return New(settings, opts...)
}

// New builds the strategy that resolved settings ask for. Of the options only
// those that do not change settings matter, such as [WithConfig]; a number in it
// that is out of range is an error that names it. Each call builds a strategy
// with a quota and a send rate of its own.
func New(settings *Settings, opts ...Option) (retry.Strategy, error) {
	if settings == nil {
		return nil, errors.New("awsretry: no settings")
	}
	built := collect(opts).build.apply()
	built.Standard.Behavior = settings.Behavior.Value
	if settings.Service != "" {
		built.Standard.Service = settings.Service
	}
	// A number that was not set is left to the strategy, where it may depend on
	// the service of each operation.
	builtIn := builtInAttempts(settings.Behavior.Value, settings.Service)
	origin := settings.MaxAttempts.Origin
	if origin.Kind != config.OriginDefault || origin.Name != "" || settings.MaxAttempts.Value != builtIn {
		built.Standard.MaxAttempts = settings.MaxAttempts.Value
	}
	switch settings.RetryMode.Value {
	case ModeStandard:
		return orNil(standard.New(built.Standard))
	case ModeAdaptive:
		return orNil(adaptive.New(built))
	default:
		return nil, fmt.Errorf("awsretry: no such retry mode: %q", settings.RetryMode.Value)
	}
}

// orNil keeps a nil pointer from becoming a strategy that is not nil.
func orNil[S retry.Strategy](s S, err error) (retry.Strategy, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
