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

// Load resolves the settings and builds the strategy that they ask for: it is [Resolve] and
// [New] in one call, with the errors of both.
func Load(ctx context.Context, opts ...Option) (retry.Strategy, error) {
	o := collect(opts)
	settings, err := o.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return o.newStrategy(ctx, settings)
}

// New builds the strategy that resolved settings ask for. Each call returns a strategy with
// retry quotas and send rates of its own. New starts no goroutine. For each of the
// Diagnostics with the severity error, the observer gets a [retry.SettingIgnored].
//
// The errors are those of [WithConfig], and those of standard.New and adaptive.New for a field
// that is out of range.
func New(settings *Settings, opts ...BuildOption) (retry.Strategy, error) {
	return collect(opts).newStrategy(context.Background(), settings)
}

// Plain returns a strategy in standard mode for programs without AWS profiles: it reads neither files
// nor environment. An operation has so many attempts, the first included. The delay before its first
// retry is at most base, each further one may be twice as long, and none is longer than maxBackoff;
// the jitter is full. The retry quota is that of standard.Config, and so are the errors for numbers
// that are out of range. The options are those of [New]; [WithRetryIf] says which errors are retried.
func Plain(maxAttempts int, base, maxBackoff time.Duration, opts ...BuildOption) (retry.Strategy, error) {
	b := collect(opts).build
	if fields := adaptiveFields(b.config); len(fields) > 0 {
		return nil, fmt.Errorf("awsretry: Plain is in standard mode, so %s has no effect", strings.Join(fields, " and "))
	}
	c := b.merged().Standard
	c.MaxAttempts, c.Base, c.ThrottlingBase, c.MaxBackoff = maxAttempts, base, base, maxBackoff
	return standard.New(c)
}

// newStrategy builds a strategy and tells its observer about settings without effect.
func (o options) newStrategy(ctx context.Context, settings *Settings) (retry.Strategy, error) {
	s, err := o.build.strategy(settings)
	if err != nil {
		return nil, err
	}
	o.build.tellIgnored(ctx, settings, s)
	return s, nil
}

// BuildOption is an option of [New] and [NewFactory]: it changes what a strategy does.
type BuildOption interface {
	Option
	builds()
}

// buildOptions is what options say about the strategy.
type buildOptions struct {
	config      adaptive.Config
	configured  string // The option that set config, if any.
	clock       clock.Clock
	observer    retry.Observer
	classifiers []classify.Classifier // one of each option
	random      func() float64
}

type buildOption func(b *buildOptions)

func (f buildOption) apply(o *options) { f(&o.build) }
func (buildOption) builds()            {}

// configOption is both kinds of options: a configuration has defaults for settings too.
type configOption struct{ buildOption }

func (configOption) resolves() {}

// WithConfig sets costs, delays, capacities and limits. Fields that are zero keep their
// defaults. In standard mode only the field Standard has a meaning.
//
// Some fields are settings too: Behavior, Service, MaxAttempts, MaxBackoff, MinDelay and MaxElapsed.
// An option wins over such a field, and the field over the built-in default, whatever the order of the
// options. The attempts of an option, of the environment or of a file win over MaxAttempts too. A
// field that an option beats is a diagnostic no-effect of [Resolve], and the observer is told by
// retry.SettingIgnored. Clock, Observer, Classifier and Random count where WithClock, WithObserver,
// WithClassifier and WithRandom are absent.
//
// The fields of adaptive.Config other than Standard have an effect only in adaptive mode. If
// one of them is set and the mode is standard, the place that chose the mode decides:
//
//	the mode comes from               New, NewFactory and Load
//	WithMode or WithDefaultMode       return an error
//	the built-in default              return an error: add WithDefaultMode or WithMode
//	the environment, a shared file    tell the observer once, by retry.SettingIgnored
//	or WithValues
//
// [Resolve] with this option adds the diagnostic no-effect in the last case, and gives
// Behavior, MaxAttempts, MaxBackoff, MinDelay and MaxElapsed the option as their origin. Settings
// that were resolved without this option work too: the configuration then counts for what the
// settings leave at the built-in default, and the errors are the same.
func WithConfig(config adaptive.Config) interface {
	ResolveOption
	BuildOption
} {
	return configOption{func(b *buildOptions) { b.config, b.configured = config, "WithConfig" }}
}

// WithStandard is [WithConfig] for the fields of standard mode, which adaptive mode has too. It leaves
// the other fields of a WithConfig alone.
func WithStandard(config standard.Config) interface {
	ResolveOption
	BuildOption
} {
	return configOption{func(b *buildOptions) { b.config.Standard, b.configured = config, "WithStandard" }}
}

// WithClock sets the clock that the strategy waits on, such as a [*clock.Fake] in a test. The
// default is [clock.System].
func WithClock(clk clock.Clock) BuildOption {
	return buildOption(func(b *buildOptions) {
		if clk != nil {
			b.clock = clk
		}
	})
}

// WithObserver sets the observer, which is told what the strategy does. The default is none.
func WithObserver(observer retry.Observer) BuildOption {
	return buildOption(func(b *buildOptions) {
		if observer != nil {
			b.observer = observer
		}
	})
}

// WithClassifier sets the classifier, which decides what may be retried. It replaces the
// classifier of the configuration, which is [classify.Default] unless WithConfig has another
// one, and those of options before this one. A classifier from [classify.Also] adds to them
// instead. [classify.Chain] says how to change the default classifiers, and
// [classify.AWSCompatible] is for services that only resemble those of AWS. With
// classify.NewChain() nothing is retried.
func WithClassifier(classifier classify.Classifier) BuildOption {
	return buildOption(func(b *buildOptions) {
		if classifier != nil {
			b.classifiers = append(b.classifiers, classifier)
		}
	})
}

// WithRetryIf retries every error for which the function returns true, as [classify.All] does, and
// no other error. What All does not retry stays as it is: errors of [retry.Permanent], requests that
// cannot be sent again, and errors after the end of the caller's context. It replaces the classifier
// as [WithClassifier] does. The function must be safe for concurrent use.
func WithRetryIf(retryable func(err error) bool) BuildOption {
	if retryable == nil {
		return WithClassifier(nil)
	}
	return WithClassifier(classify.NewChain(classify.All(), classify.Func(retryable)))
}

// WithRandom sets the source of the random numbers for the jitter. It returns numbers from 0
// to 1 and must be safe for concurrent use. The default is [math/rand/v2.Float64].
func WithRandom(random func() float64) BuildOption {
	return buildOption(func(b *buildOptions) {
		if random != nil {
			b.random = random
		}
	})
}

// merged returns the configuration with the single options on top.
func (b buildOptions) merged() adaptive.Config {
	config := b.config
	if b.clock != nil {
		config.Standard.Clock = b.clock
	}
	if b.observer != nil {
		config.Standard.Observer = b.observer
	}
	for _, classifier := range b.classifiers {
		if config.Standard.Classifier != nil {
			classifier = layers{config.Standard.Classifier, classifier}
		}
		config.Standard.Classifier = classifier
	}
	if b.random != nil {
		config.Standard.Random = b.random
	}
	return config
}

// layers are two classifiers of which the upper one replaces the lower one, or adds to it if
// it comes from classify.Also.
type layers struct{ lower, upper classify.Classifier }

func (l layers) Name() string { return l.upper.Name() }

func (l layers) Classify(o classify.Outcome) classify.Verdict { return o.Judge(l.lower, l.upper) }

// strategy builds the strategy for settings.
func (b buildOptions) strategy(settings *Settings) (retry.Strategy, error) {
	if settings == nil {
		return nil, errors.New("awsretry: no settings")
	}
	c := b.merged()
	if err := c.Validate(); err != nil {
		return nil, err // also of a field that the mode or another place keeps from counting
	}
	settle(&c.Standard, settings)
	switch settings.RetryMode.Value {
	case ModeStandard:
		// The environment, or a file or flag, which have a Key, may ask for standard mode.
		chosen := settings.RetryMode.Origin
		if err := ignored(c, settings); err != nil && chosen.Kind != "environment" && chosen.Key == "" {
			return nil, err
		}
		return standard.New(c.Standard)
	case ModeAdaptive:
		return adaptive.New(c)
	default:
		return nil, fmt.Errorf("awsretry: no such retry mode: %q", settings.RetryMode.Value)
	}
}

// tellIgnored tells the observer about fields that have no effect on the new strategy s, and about
// values that do not count as they were written. It recovers a panic of the observer, as strategies
// do.
func (b buildOptions) tellIgnored(ctx context.Context, settings *Settings, s retry.Strategy) {
	c := b.merged()
	observer := c.Standard.Observer
	if observer == nil {
		return
	}
	tell := func(err error) {
		defer func() { _ = recover() }()
		observer.Observe(ctx, retry.Event{Kind: retry.SettingIgnored, Time: s.Clock().Now(), Err: err})
	}
	for _, d := range settings.Diagnostics {
		if d.Severity == "error" {
			tell(errors.New("awsretry: " + d.Message))
		}
	}
	for _, field := range settle(&c.Standard, settings) {
		tell(errors.New("awsretry: " + field))
	}
	if err := ignored(c, settings); err != nil {
		tell(err)
	}
}

// Factory builds strategies that are shared on purpose. All callers with the same key get the
// same strategy, with one retry quota and one send rate for each scope; a caller with another
// key gets another strategy. A program chooses its keys by what is shared: a service and
// region, a tenant, or the whole process. Use [NewFactory]. A Factory is safe for concurrent
// use, and it keeps its strategies as long as it lives.
type Factory struct {
	settings *Settings
	build    buildOptions

	mu         sync.Mutex
	strategies map[string]retry.Strategy // guarded by mu
}

// NewFactory returns a factory for strategies with these settings and options. They are those
// of [New], and so are the errors.
func NewFactory(settings *Settings, opts ...BuildOption) (*Factory, error) {
	o := collect(opts)
	if _, err := o.newStrategy(context.Background(), settings); err != nil {
		return nil, err
	}
	return &Factory{settings: settings, build: o.build, strategies: make(map[string]retry.Strategy)}, nil
}

// Strategy returns the strategy of the key. It builds the strategy on the first call with that
// key. The key is the SharedAs of the strategy's snapshots; an empty key is an error. Another
// error is possible only if a function of the configuration returns other values than it did
// for NewFactory.
func (f *Factory) Strategy(key string) (retry.Strategy, error) {
	if key == "" {
		return nil, errors.New("awsretry: the key of a shared strategy must not be empty")
	}
	if s := f.find(key); s != nil {
		return s, nil
	}
	// The lock is not held, because to build a strategy calls functions of the configuration.
	build := f.build
	build.config.Standard.SharedAs = key
	built, err := build.strategy(f.settings)
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

// settle writes what the settings say into a configuration, as the comment of WithConfig says. It
// returns the fields that an option beats.
func settle(c *standard.Config, s *Settings) (beaten []string) {
	beaten = slices.Concat(
		beats("Behavior", c.Behavior, s.Behavior),
		beats("MaxAttempts", c.MaxAttempts, s.MaxAttempts),
		beats("MaxBackoff", c.MaxBackoff, s.MaxBackoff),
		beats("MinDelay", c.MinDelay, s.MinDelay),
		beats("MaxElapsed", c.MaxElapsed, s.MaxElapsed),
	)
	if c.Service != "" && s.Service != "" && !strings.EqualFold(c.Service, s.Service) {
		beaten = append(beaten, noEffect("Service", c.Service, s.Service, "option WithService"))
	}
	c.Service = cmp.Or(s.Service, c.Service)
	if c.Behavior == "" || !isBuiltIn(s.Behavior.Origin) {
		c.Behavior = s.Behavior.Value
	}
	// The built-in number is left to the strategy, as it may depend on the service of each
	// operation.
	if !isBuiltIn(s.MaxAttempts.Origin) || s.MaxAttempts.Value != builtInAttempts(s.Behavior.Value, s.Service) {
		c.MaxAttempts = s.MaxAttempts.Value
	}
	for field, setting := range map[*time.Duration]config.Setting[time.Duration]{
		&c.MaxBackoff: s.MaxBackoff, &c.MinDelay: s.MinDelay, &c.MaxElapsed: s.MaxElapsed,
	} {
		if setting.Origin.Name != "" { // neither the built-in default nor settings made by hand
			*field = setting.Value
		}
	}
	return beaten
}

// beats says that a field has no effect if an option in code has set another value. Values of a
// program's own file and flags, of the environment and of the shared files are meant to win.
func beats[T comparable](field string, own T, s config.Setting[T]) []string {
	var unset T
	place := s.Origin.String()
	if own == unset || own == s.Value || !strings.HasPrefix(place, "option With") || place == "option WithValues" {
		return nil
	}
	return []string{noEffect(field, own, s.Value, place)}
}

func noEffect(field string, own, counts any, place string) string {
	return fmt.Sprintf("standard.Config.%s %v has no effect: %v counts (%s)", field, own, counts, place)
}

func isBuiltIn(origin config.Origin) bool {
	return origin.Kind == "default" && origin.Name == ""
}

// ignored returns an error that names the fields of the configuration that have no effect,
// because the settings have standard mode. It returns nil if there are none.
func ignored(c adaptive.Config, settings *Settings) error {
	fields := adaptiveFields(c)
	mode := settings.RetryMode
	if mode.Value != ModeStandard || len(fields) == 0 {
		return nil
	}
	are := "is"
	if len(fields) > 1 {
		are = "are"
	}
	text := fmt.Sprintf("awsretry: %s %s set, but the retry mode is standard (%v)", strings.Join(fields, " and "), are, mode.Origin)
	if isBuiltIn(mode.Origin) {
		text += ": add WithDefaultMode(ModeAdaptive) or WithMode(ModeAdaptive)"
	}
	return errors.New(text)
}

// adaptiveFields returns the names of the fields that are set and that only adaptive mode
// uses.
func adaptiveFields(c adaptive.Config) []string {
	var names []string
	for field, value := range reflect.ValueOf(c).Fields() {
		if field.Name != "Standard" && !value.IsZero() {
			names = append(names, "adaptive.Config."+field.Name)
		}
	}
	return names
}
