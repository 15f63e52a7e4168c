package awsretry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Load resolves the settings and builds a strategy from them: [Resolve] and [New] in one call, with the errors of both.
// Each call returns a strategy with its own retry quotas and send rates: make one, and keep it. The end of ctx after
// Load has no effect on it.
func Load(ctx context.Context, opts ...Option) (retry.Strategy, error) {
	o := collect(opts)
	settings, err := o.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return o.newStrategy(ctx, settings)
}

// New builds a strategy from resolved settings. Each call returns a strategy with its own retry quotas and send rates.
// New starts no goroutine.
//
// New returns the errors that [WithConfig] describes, those of standard.New and adaptive.New for a field that is out of
// range, and one for nil settings.
func New(settings *Settings, opts ...BuildOption) (retry.Strategy, error) {
	return collect(opts).newStrategy(context.Background(), settings)
}

// Plain returns a strategy in standard mode for programs without AWS profiles: it reads neither files nor environment.
// An operation makes at most maxAttempts attempts, the first included. The delay before the first retry is at most
// base; that limit doubles with each retry, up to maxBackoff. The jitter is full. The retry quota, and the errors for
// numbers that are out of range, are those of standard.Config, and zeros mean its defaults: 3 attempts, 50 ms (1 s after
// a throttle) and 20 s. Plain takes the options of [New]; [WithRetryIf] says which errors are retried.
func Plain(maxAttempts int, base, maxBackoff time.Duration, opts ...BuildOption) (retry.Strategy, error) {
	all := collect(opts).config
	if fields := adaptiveFields(all); len(fields) > 0 {
		return nil, fmt.Errorf("awsretry: Plain is in standard mode, so %s has no effect", strings.Join(fields, " and "))
	}
	c := all.Standard
	c.MaxAttempts, c.Base, c.ThrottlingBase, c.MaxBackoff = maxAttempts, base, base, maxBackoff
	return standard.New(c)
}

// newStrategy builds a strategy, and tells its observer what has no effect. It recovers a panic of the observer, as
// strategies do.
func (o *options) newStrategy(ctx context.Context, settings *Settings) (s retry.Strategy, err error) {
	if s, err = build(o.config, settings); err != nil {
		return nil, err
	}
	if observer := o.config.Standard.Observer; observer != nil {
		if without := unused(o.config, settings); without != nil {
			defer func() { _ = recover() }()
			observer.Observe(ctx, retry.Event{Kind: retry.SettingIgnored, Time: s.Clock().Now(), Err: without})
		}
	}
	return s, nil
}

// BuildOption is an option of [New] and [NewFactory]: it changes what a strategy does.
type BuildOption interface {
	Option
	builds()
}

type buildOption func(c *adaptive.Config)

func (f buildOption) apply(o *options) { f(&o.config) }
func (buildOption) builds()            {}

// configOption is both kinds of option, because a configuration also has defaults for settings. It applies before all
// others, which change single fields of it.
type configOption func(o *options)

func (f configOption) apply(o *options) { f(o) }
func (configOption) builds()            {}
func (configOption) resolves()          {}

// WithConfig sets costs, delays, capacities and limits. Zero fields keep their defaults. In standard mode only the
// field Standard has an effect.
//
// Some fields are settings too: Behavior, Service, MaxAttempts, MaxBackoff, MinDelay and MaxElapsed. Such a field
// overrides the built-in default, and every other source overrides the field. [Resolve] with this option records it as
// the origin. Settings resolved without this option work too: the configuration then applies where the settings have
// the built-in default. Clock, Observer, Classifier and Random apply where WithClock, WithObserver, WithClassifier and
// WithRandom are absent.
//
// The fields of adaptive.Config other than Standard have an effect only in adaptive mode. If one of them is set and the
// mode is standard, the result depends on where the mode came from:
//
//	the mode comes from               New, NewFactory and Load
//	WithMode or WithDefaultMode       return an error
//	the built-in default              return an error: add WithDefaultMode or WithMode
//	the environment, a shared file    emit one retry.SettingIgnored
//	or WithValues
func WithConfig(config adaptive.Config) interface {
	ResolveOption
	BuildOption
} {
	return configOption(func(o *options) { o.config, o.configured = config, "WithConfig" })
}

// WithStandard is [WithConfig] for the fields of standard mode, which adaptive mode uses too. It keeps the other fields
// of a WithConfig before it.
func WithStandard(config standard.Config) interface {
	ResolveOption
	BuildOption
} {
	return configOption(func(o *options) { o.config.Standard, o.configured = config, "WithStandard" })
}

// WithClock sets the clock that the strategy waits on, such as a [*clock.Fake] in a test. The default is
// [clock.System].
func WithClock(clk clock.Clock) BuildOption {
	return buildOption(func(c *adaptive.Config) {
		if clk != nil {
			c.Standard.Clock = clk
		}
	})
}

// WithObserver sets the observer, which gets the strategy's events. The default is none.
func WithObserver(observer retry.Observer) BuildOption {
	return buildOption(func(c *adaptive.Config) {
		if observer != nil {
			c.Standard.Observer = observer
		}
	})
}

// WithClassifier sets the classifier, which decides what may be retried. It replaces the classifiers of earlier options
// and of the configuration, which is [classify.Default] unless WithConfig sets one. A classifier from [classify.Also]
// adds to them instead. See [classify.Chain] to change the default classifiers, and [classify.AWSCompatible] for
// services that only resemble those of AWS. With classify.NewChain() nothing is retried.
func WithClassifier(classifier classify.Classifier) BuildOption {
	return buildOption(func(c *adaptive.Config) {
		if classifier == nil {
			return
		}
		if lower := c.Standard.Classifier; lower != nil {
			classifier = layers{lower, classifier}
		}
		c.Standard.Classifier = classifier
	})
}

// WithRetryIf retries the errors for which the function returns true, and no others. As with [classify.All], errors of
// [retry.Permanent], requests that cannot be sent again, and errors after the end of the caller's context are not
// retried. It replaces the classifier as [WithClassifier] does. The function must be safe for concurrent use.
func WithRetryIf(retryable func(err error) bool) BuildOption {
	if retryable == nil {
		return WithClassifier(nil)
	}
	return WithClassifier(classify.NewChain(classify.All(), classify.Func(retryable)))
}

// WithRandom sets the source of the random numbers for the jitter. random returns numbers from 0 to 1 and must be safe
// for concurrent use. The default is [math/rand/v2.Float64].
func WithRandom(random func() float64) BuildOption {
	return buildOption(func(c *adaptive.Config) {
		if random != nil {
			c.Standard.Random = random
		}
	})
}

// WithoutQuota switches the retry quota off, as ratelimit.None does in the SDK: no retry is refused for lack of tokens.
// Attempts and deadlines still limit an operation. So a program that calls a failing service makes MaxAttempts times as
// many requests as without retries, for as long as the service fails; in adaptive mode throttles still slow it down.
// Beside it, a field of the quota in the configuration, such as QuotaCapacity or RetryCost, is an error of [New].
func WithoutQuota() BuildOption {
	return buildOption(func(c *adaptive.Config) { c.Standard.NoQuota = true })
}

// layers is two classifiers: upper replaces lower, or adds to it if it comes from classify.Also.
type layers struct{ lower, upper classify.Classifier }

func (l layers) Name() string { return l.upper.Name() }

func (l layers) Classify(o classify.Outcome) classify.Verdict { return o.Judge(l.lower, l.upper) }

// build builds the strategy for settings.
func build(c adaptive.Config, settings *Settings) (retry.Strategy, error) {
	if settings == nil {
		return nil, errors.New("awsretry: no settings: use what awsretry.Resolve returns")
	}
	if err := c.Validate(); err != nil {
		return nil, err // even for a field that the mode or a stronger setting makes irrelevant
	}
	applySettings(&c.Standard, settings)
	switch settings.RetryMode.Value {
	case ModeStandard:
		if err := unused(c, settings); err != nil && inCode(settings.RetryMode.Origin) {
			return nil, err
		}
		return standard.New(c.Standard)
	case ModeAdaptive:
		return adaptive.New(c)
	default:
		return nil, fmt.Errorf("awsretry: no such retry mode: %q", settings.RetryMode.Value)
	}
}

// Factory builds one strategy for each key, so that all callers with the same key share one retry quota and one send
// rate for each scope. Choose keys by what should be shared: a service and region, a tenant, or the whole process.
// [NewFactory] makes one. A Factory is safe for concurrent use, and it keeps its strategies as long as it lives.
type Factory struct {
	settings *Settings
	config   adaptive.Config

	mu         sync.Mutex
	strategies map[string]retry.Strategy // guarded by mu
}

// NewFactory returns a factory for strategies with these settings and options. The arguments and the errors are those
// of [New].
func NewFactory(settings *Settings, opts ...BuildOption) (*Factory, error) {
	o := collect(opts)
	if _, err := o.newStrategy(context.Background(), settings); err != nil {
		return nil, err
	}
	return &Factory{settings: settings, config: o.config, strategies: make(map[string]retry.Strategy)}, nil
}

// Strategy returns the strategy for the key, and builds it on the first call. The strategy's snapshots have the key in
// SharedAs. An empty key is an error. Another error is possible only if a function of the configuration returns
// different values than it did for NewFactory.
func (f *Factory) Strategy(key string) (retry.Strategy, error) {
	if key == "" {
		return nil, errors.New("awsretry: the key of a shared strategy must not be empty")
	}
	if s := f.find(key); s != nil {
		return s, nil
	}
	key = strings.Clone(key) // it may be a part of a larger text
	// Building a strategy calls functions of the configuration, so the lock is not held.
	c := f.config
	c.Standard.SharedAs = key
	built, err := build(c, f.settings)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.strategies[key]; s != nil {
		return s, nil
	}
	f.strategies[key] = built
	return built, nil
}

// Snapshots returns the state of all strategies, sorted by key.
func (f *Factory) Snapshots() []retry.Snapshot {
	f.mu.Lock()
	strategies := maps.Clone(f.strategies)
	f.mu.Unlock()
	snapshots := make([]retry.Snapshot, 0, len(strategies))
	for _, key := range slices.Sorted(maps.Keys(strategies)) {
		snapshots = append(snapshots, strategies[key].Snapshot())
	}
	return snapshots
}

func (f *Factory) find(key string) retry.Strategy {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.strategies[key]
}

// applySettings writes the settings into a configuration by the rules of WithConfig.
func applySettings(c *standard.Config, s *Settings) {
	c.Service = cmp.Or(s.Service, c.Service)
	if c.Behavior == "" || !isBuiltIn(s.Behavior.Origin) {
		c.Behavior = s.Behavior.Value
	}
	// The strategy decides the built-in number, because it may depend on the service of each operation.
	if !isBuiltIn(s.MaxAttempts.Origin) || s.MaxAttempts.Value != s.Behavior.Value.Defaults(s.Service).MaxAttempts {
		c.MaxAttempts = s.MaxAttempts.Value
	}
	set := func(field *time.Duration, setting config.Setting[time.Duration]) {
		if setting.Origin.Name != "" { // neither the built-in default nor settings made by hand
			*field = setting.Value
		}
	}
	set(&c.MaxBackoff, s.MaxBackoff)
	set(&c.MinDelay, s.MinDelay)
	set(&c.MaxElapsed, s.MaxElapsed)
}

func isBuiltIn(origin config.Origin) bool {
	return origin.Kind == "default" && origin.Name == ""
}

// inCode reports whether a value is from code, or built in. Files and flags have a Key.
func inCode(origin config.Origin) bool { return origin.Kind != "environment" && origin.Key == "" }

// unused returns an error that names the fields of the configuration that have no effect because the mode is standard;
// nil if there are none.
func unused(c adaptive.Config, settings *Settings) error {
	mode := settings.RetryMode
	if mode.Value != ModeStandard {
		return nil
	}
	fields := adaptiveFields(c)
	if len(fields) == 0 {
		return nil
	}
	are := [...]string{"is", "are"}[min(len(fields)-1, 1)]
	text := fmt.Sprintf("awsretry: %s %s set, but the retry mode is standard (%v)", strings.Join(fields, " and "), are, mode.Origin)
	if isBuiltIn(mode.Origin) {
		text += ": add WithDefaultMode(ModeAdaptive) or WithMode(ModeAdaptive)"
	}
	return errors.New(text)
}

// adaptiveFields returns the names of the fields that are set and that only adaptive mode uses.
func adaptiveFields(c adaptive.Config) []string {
	var names []string
	for field, value := range reflect.ValueOf(c).Fields() {
		if field.Name != "Standard" && !value.IsZero() {
			names = append(names, "adaptive.Config."+field.Name)
		}
	}
	return names
}
