package awsretry_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/classify"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// with returns options with an environment and a config file, and without those of the
// machine.
func with(environment map[string]string, configFile string, more ...awsretry.Option) []awsretry.Option {
	return append([]awsretry.Option{
		awsretry.WithSources(awsretry.Sources{
			LookupEnv: func(name string) (string, bool) {
				if name == "AWS_CONFIG_FILE" {
					return "/config", true
				}
				value, ok := environment[name]
				return value, ok
			},
			FS: fstest.MapFS{"config": {Data: []byte(configFile)}},
		}),
	}, more...)
}

// resolved returns the settings of an environment and a config file.
func resolved(t *testing.T, environment map[string]string, configFile string, more ...awsretry.ResolveOption) *awsretry.Settings {
	t.Helper()
	var opts []awsretry.ResolveOption
	for _, opt := range with(environment, configFile) {
		opts = append(opts, opt.(awsretry.ResolveOption))
	}
	s, err := awsretry.Resolve(t.Context(), append(opts, more...)...)
	require.NoError(t, err)
	return s
}

func attemptsOf(t *testing.T, s retry.Strategy, op retry.Operation) int {
	t.Helper()
	attempts := 0
	_, _ = retry.Do(t.Context(), s, op, func(context.Context) (int, error) {
		attempts++
		return 0, unavailable{}
	})
	return attempts
}

// noDelay returns WithConfig without any delay before a retry.
func noDelay(c adaptive.Config) interface {
	awsretry.ResolveOption
	awsretry.BuildOption
} {
	c.Standard.Random = func() float64 { return 0 }
	return awsretry.WithConfig(c)
}

func newFactory(t *testing.T, opts ...awsretry.BuildOption) *awsretry.Factory {
	t.Helper()
	f, err := awsretry.NewFactory(resolved(t, nil, "[default]\nretry_mode = adaptive\n"), opts...)
	require.NoError(t, err)
	return f
}

func TestLoadBuildsWhatTheSettingsSay(t *testing.T) {
	t.Parallel()
	dynamodb := retry.Operation{Service: "dynamodb"}
	for _, c := range []struct {
		name, file string
		own        standard.Config
		option     awsretry.Option
		op         retry.Operation
		adaptive   bool
		want       int
	}{
		{name: "nothing set", want: 3},
		{name: "file", file: "[default]\nretry_mode=adaptive\nmax_attempts=5\n", adaptive: true, want: 5},
		{name: "default of the operation's service", op: dynamodb, want: 4},
		{name: "no default of the service in v2.0", option: awsretry.WithStandard(standard.Config{Behavior: retry.V20}), op: dynamodb, want: 3},
		{name: "default of the client's service", option: awsretry.WithStandard(standard.Config{Service: "dynamodb"}), want: 4},
		{name: "a number that was set counts for every service", file: "[default]\nmax_attempts=2\n", op: dynamodb, want: 2},
		{name: "a default in code was set too", option: awsretry.WithStandard(standard.Config{MaxAttempts: 3}), op: dynamodb, want: 3},
		{name: "numbers of the config", own: standard.Config{MaxAttempts: 6}, want: 6},
		{name: "settings before numbers of the config", file: "[default]\nmax_attempts=2\n", own: standard.Config{MaxAttempts: 6}, want: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := awsretry.Load(t.Context(), with(nil, c.file, noDelay(adaptive.Config{Standard: c.own}), c.option)...)
			require.NoError(t, err)
			require.Equal(t, c.want, attemptsOf(t, s, c.op))
			require.Equal(t, c.adaptive, s.Snapshot().Mode == "adaptive")
		})
	}
}

func TestClassifiersOfAStrategy(t *testing.T) {
	t.Parallel()
	set := awsretry.WithClassifier
	add := func(classifiers ...classify.Classifier) awsretry.Option { return set(classify.Also(classifiers...)) }
	own := awsretry.WithConfig(noClassifiers())
	const retried, final = 3, 1
	for _, c := range []struct {
		name string
		opts []awsretry.Option
		want int
	}{
		{"the default ones", nil, retried},
		{"the default ones, as nothing is added", []awsretry.Option{add(), add(nil)}, retried},
		{"one that is added before another one and forbids", []awsretry.Option{add(forbids{}), add(classify.Status())}, final},
		{"those of the config", []awsretry.Option{own}, final},
		{"two are added to those of the config", []awsretry.Option{own, add(classify.Status()), add(forbids{})}, final},
		{"all are replaced by none", []awsretry.Option{set(classify.NewChain())}, final},
		{"those of the config are replaced", []awsretry.Option{set(classify.Default()), own}, retried},
		{"one is added to what replaced all", []awsretry.Option{set(nothing{}), add(classify.Status())}, retried},
		{"nil replaces nothing", []awsretry.Option{add(forbids{}), set(nil)}, final},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			atOnce := awsretry.WithRandom(func() float64 { return 0 })
			s, err := awsretry.Load(t.Context(), with(nil, "", append(c.opts, atOnce)...)...)
			require.NoError(t, err)
			require.Equal(t, c.want, attemptsOf(t, s, retry.Operation{}))
		})
	}
}

func noClassifiers() adaptive.Config {
	return adaptive.Config{Standard: standard.Config{Classifier: classify.NewChain()}}
}

type forbids struct{ nothing }

func (forbids) Classify(classify.Outcome) classify.Verdict { return classify.Forbidden() }

type nothing struct{}

func (nothing) Name() string                               { return "nothing" }
func (nothing) Classify(classify.Outcome) classify.Verdict { return classify.Verdict{} }

func TestClockAndRandomOfTheConfigStayUnlessAnOptionReplacesThem(t *testing.T) {
	t.Parallel()
	first, second := &clock.Fake{}, &clock.Fake{}
	own := awsretry.WithConfig(adaptive.Config{Standard: standard.Config{Clock: first, Random: func() float64 { return 0.5 }}})
	whole := awsretry.WithRandom(func() float64 { return 1 })
	for _, c := range []struct {
		opts  []awsretry.Option
		clock clock.Clock
		delay time.Duration
	}{
		{[]awsretry.Option{own}, first, 25 * time.Millisecond},
		{[]awsretry.Option{own, awsretry.WithClock(nil), awsretry.WithRandom(nil)}, first, 25 * time.Millisecond},
		{[]awsretry.Option{awsretry.WithClock(second), whole, own}, second, 50 * time.Millisecond},
	} {
		s, err := awsretry.Load(t.Context(), with(nil, "", c.opts...)...)
		require.NoError(t, err)
		require.Same(t, c.clock, s.Clock())
		token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
		require.NoError(t, err)
		token, err = s.RefreshRetryToken(t.Context(), token, unavailable{})
		require.NoError(t, err)
		require.Equal(t, c.delay, token.Delay())
	}
}

func TestBadNumbersAndSettingsAreErrors(t *testing.T) {
	t.Parallel()
	negative := awsretry.WithConfig(adaptive.Config{Standard: standard.Config{Base: -1}})
	adaptiveMode := awsretry.WithMode(awsretry.ModeAdaptive)
	for want, build := range map[string]func() (retry.Strategy, error){
		"awsretry: no settings: use what awsretry.Resolve returns": func() (retry.Strategy, error) { return awsretry.New(nil) },
		`awsretry: no such retry mode: ""`:                         func() (retry.Strategy, error) { return awsretry.New(&awsretry.Settings{}) },
		"standard: Base -1ns: must not be negative":                func() (retry.Strategy, error) { return awsretry.Load(t.Context(), with(nil, "", negative)...) },
		"adaptive: standard: Base -1ns: must not be negative": func() (retry.Strategy, error) {
			return awsretry.Load(t.Context(), with(nil, "", negative, adaptiveMode)...)
		},
		`config: AWS_MAX_ATTEMPTS: "0": must be`: func() (retry.Strategy, error) {
			return awsretry.Load(t.Context(), with(map[string]string{"AWS_MAX_ATTEMPTS": "0"}, "")...)
		},
		"MaxSendWait -1ns": func() (retry.Strategy, error) { // although the mode is standard
			config := awsretry.WithConfig(adaptive.Config{MaxSendWait: -1})
			return awsretry.Load(t.Context(), with(map[string]string{"AWS_RETRY_MODE": "standard"}, "", config)...)
		},
		"standard: QuotaCapacity 7: has no effect beside NoQuota (option WithoutQuota)\nstandard: RetryCost 2": func() (retry.Strategy, error) {
			own := awsretry.WithStandard(standard.Config{QuotaCapacity: new(7), RetryCost: 2})
			return awsretry.Load(t.Context(), with(nil, "", awsretry.WithoutQuota(), own)...)
		},
		`config: /config:2: "retry_mode": expected an '=' sign`: func() (retry.Strategy, error) {
			return awsretry.Load(t.Context(), with(nil, "[default]\nretry_mode adaptive\n", awsretry.WithStrict())...)
		},
		"the key of a shared strategy must not be empty": func() (retry.Strategy, error) { return newFactory(t).Strategy("") },
	} {
		s, err := build()
		require.ErrorContains(t, err, strings.TrimPrefix(want, "adaptive: "))
		require.Nil(t, s)
	}
	_, err := awsretry.NewFactory(nil)
	require.EqualError(t, err, "awsretry: no settings: use what awsretry.Resolve returns")
	_, err = awsretry.NewFactory(resolved(t, nil, ""), negative)
	require.EqualError(t, err, "standard: Base -1ns: must not be negative")
}

func TestPlainReadsNoSettings(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "9")
	t.Setenv("AWS_RETRY_MODE", "adaptive")
	clk := &clock.Fake{}
	s, err := awsretry.Plain(4, 200*time.Millisecond, 500*time.Millisecond, awsretry.WithClock(clk),
		awsretry.WithClassifier(classify.All()), awsretry.WithRandom(func() float64 { return 1 }))
	require.NoError(t, err)
	require.Equal(t, "standard", s.Snapshot().Mode)
	clk.Run(func() {
		err = retry.DoErr(t.Context(), s, retry.Operation{Service: "dynamodb"}, func(context.Context) error { return errors.New("down") })
	})
	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	require.Equal(t, []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 500 * time.Millisecond}, clk.Waits())
}

func TestPlainRefusesWhatStandardModeRefuses(t *testing.T) {
	t.Parallel()
	_, err := awsretry.Plain(0, 0, -1)
	require.EqualError(t, err, "standard: MaxBackoff -1ns: must not be negative")
	_, err = awsretry.Plain(5, 0, 0, awsretry.WithConfig(adaptive.Config{NoSendWait: true}))
	require.EqualError(t, err, "awsretry: Plain is in standard mode, so adaptive.Config.NoSendWait has no effect")
	own := awsretry.WithStandard(standard.Config{Backoff: func(int, error) time.Duration { return 0 }})
	_, err = awsretry.Plain(5, time.Second, 0, own)
	require.EqualError(t, err, "standard: Base 1s: has no effect beside Backoff\nstandard: ThrottlingBase 1s: has no effect beside Backoff")
	_, err = awsretry.Plain(5, 0, time.Minute, own)
	require.NoError(t, err)
}

func TestWithoutQuotaIsForEveryDoor(t *testing.T) {
	t.Parallel()
	off, own := awsretry.WithoutQuota(), noDelay(adaptive.Config{})
	for name, build := range map[string]func() (retry.Strategy, error){
		"Load":  func() (retry.Strategy, error) { return awsretry.Load(t.Context(), with(nil, "", off, own)...) },
		"New":   func() (retry.Strategy, error) { return awsretry.New(resolved(t, nil, ""), own, off) },
		"Plain": func() (retry.Strategy, error) { return awsretry.Plain(3, time.Second, time.Second, off, own) },
		"Factory": func() (retry.Strategy, error) {
			return newFactory(t, off, own).Strategy("all")
		},
	} {
		s, err := build()
		require.NoError(t, err, name)
		for range 40 {
			require.Equal(t, 3, attemptsOf(t, s, retry.Operation{}), name)
		}
	}
}

func TestWithStandardLeavesTheOtherFields(t *testing.T) {
	t.Parallel()
	s, err := awsretry.Load(t.Context(), with(nil, "", awsretry.WithMode(awsretry.ModeAdaptive),
		awsretry.WithConfig(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{Ceiling: 5} }}),
		awsretry.WithStandard(standard.Config{RetryCost: 7}))...)
	require.NoError(t, err)
	require.Equal(t, 7, s.Plan(retry.Operation{}).RetryCost)
	require.True(t, s.Snapshot().Scopes[0].Limited)
}

func TestWithRetryIfRetriesWhatTheFunctionSays(t *testing.T) {
	t.Parallel()
	errGone := errors.New("gone")
	s, err := awsretry.Plain(3, time.Second, time.Second,
		awsretry.WithRetryIf(func(err error) bool { return !errors.Is(err, errGone) }))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"yes":                {errors.New("down"), "retry(transient)"},
		"no":                 {errGone, "forbid"},
		"no, though a mark":  {errors.Join(errGone, context.DeadlineExceeded), "forbid"},
		"permanent":          {retry.Permanent(errors.New("down")), "forbid"},
		"a timeout":          {context.DeadlineExceeded, "retry(timeout)"},
		"another's canceled": {context.Canceled, "retry(transient)"},
	} {
		require.Equal(t, c.want, s.Judge(retry.Operation{}, c.err).String(), name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	err = retry.DoErr(ctx, s, retry.Operation{}, func(context.Context) error { attempts++; cancel(); return ctx.Err() })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, attempts)
	nothing, err := awsretry.Plain(3, time.Second, time.Second, awsretry.WithRetryIf(nil))
	require.NoError(t, err)
	require.Equal(t, "none", nothing.Judge(retry.Operation{}, errGone).String())
}

func TestSameKeyGivesTheSameStrategy(t *testing.T) {
	t.Parallel()
	f := newFactory(t, noDelay(adaptive.Config{}))
	strategies := map[string]retry.Strategy{}
	for _, key := range []string{"d", "b", "e", "a", "c", "b"} {
		s, err := f.Strategy(key)
		require.NoError(t, err)
		if strategies[key] != nil {
			require.Same(t, strategies[key], s)
		}
		strategies[key] = s
	}
	require.Equal(t, 3, attemptsOf(t, strategies["b"], retry.Operation{Scope: "orders"}))
	var said []string
	for _, snapshot := range f.Snapshots() { // sorted by key
		for _, scope := range snapshot.Scopes {
			said = append(said, fmt.Sprint(snapshot.SharedAs, " ", scope.Scope, " ", scope.Quota))
		}
	}
	require.Equal(t, []string{"a  500", "b  500", "b orders 472", "c  500", "d  500", "e  500"}, said)
}

// A key may be a part of a document.
func TestFactoryKeepsNoTextOfTheCaller(t *testing.T) {
	t.Parallel()
	factory := newFactory(t)
	use := func() weak.Pointer[byte] {
		document := unsafe.StringData(strings.Repeat("x", 1<<20))
		_, err := factory.Strategy(unsafe.String(document, 2))
		require.NoError(t, err)
		return weak.Make(document)
	}
	document := use()
	runtime.GC()
	require.Nil(t, document.Value())
	runtime.KeepAlive(factory)
}

func TestStrategyThatCannotBeBuiltLaterIsAnErrorOfStrategy(t *testing.T) {
	t.Parallel()
	calls := 0
	f := newFactory(t, awsretry.WithConfig(adaptive.Config{SendLimit: func(retry.ScopeKey) adaptive.SendLimit {
		calls++
		if calls == 2 {
			return adaptive.SendLimit{Ceiling: -1}
		}
		return adaptive.SendLimit{}
	}}))
	_, err := f.Strategy("a")
	require.ErrorContains(t, err, "ceiling -1")
	require.Empty(t, f.Snapshots())
	s, err := f.Strategy("a")
	require.NoError(t, err)
	require.NotNil(t, s)
}

func TestStrategyMayBeCalledWhileTheFactoryBuilds(t *testing.T) {
	t.Parallel()
	var f *awsretry.Factory
	var nested retry.Strategy
	f = newFactory(t, awsretry.WithConfig(adaptive.Config{
		NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter {
			if f != nil && nested == nil {
				nested, _ = standard.New(standard.Config{}) // The next call does not enter here.
				nested, _ = f.Strategy("a")
			}
			return nil
		},
	}))
	s, err := f.Strategy("a")
	require.NoError(t, err)
	require.Same(t, nested, s, "the strategy that was built first")
}

// TestFactoryConcurrentSafe checks the quota of a shared strategy. It would have more tokens if
// two goroutines had got different strategies.
func TestFactoryConcurrentSafe(t *testing.T) {
	t.Parallel()
	const goroutines, quota, cost = 50, 10_000, 14
	f := newFactory(t, noDelay(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(quota)}}))
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			s, err := f.Strategy("shared")
			if err != nil {
				panic(err)
			}
			_, _ = retry.Do(context.Background(), s, retry.Operation{}, func(context.Context) (int, error) {
				return 0, unavailable{}
			})
			_ = f.Snapshots()
		})
	}
	wg.Wait()
	require.Len(t, f.Snapshots(), 1)
	require.Equal(t, quota-cost*2*goroutines, f.Snapshots()[0].Scopes[0].Quota)
}
