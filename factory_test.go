package awsretry_test

import (
	"context"
	"errors"
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
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// with returns options with an environment and a config file, and without those of the
// machine.
func with(environment map[string]string, configFile string, more ...awsretry.Option) []awsretry.Option {
	return append([]awsretry.Option{
		awsretry.WithEnv(func(name string) (string, bool) {
			if name == "AWS_CONFIG_FILE" {
				return "/config", true
			}
			value, ok := environment[name]
			return value, ok
		}),
		awsretry.WithFS(fstest.MapFS{"config": {Data: []byte(configFile)}}),
	}, more...)
}

// resolved returns the settings of an environment and a config file.
func resolved(t *testing.T, environment map[string]string, configFile string, more ...awsretry.ResolveOption) *awsretry.Settings {
	t.Helper()
	for _, opt := range with(environment, configFile) {
		more = append(more, opt.(awsretry.ResolveOption))
	}
	s, err := awsretry.Resolve(t.Context(), more...)
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
		name     string
		opts     []awsretry.Option
		op       retry.Operation
		adaptive bool
		want     int
	}{
		{name: "nothing set", opts: with(nil, "", noDelay(adaptive.Config{})), want: 3},
		{
			name: "file", opts: with(nil, "[default]\nretry_mode=adaptive\nmax_attempts=5\n", noDelay(adaptive.Config{})),
			adaptive: true, want: 5,
		},
		{name: "default of the operation's service", opts: with(nil, "", noDelay(adaptive.Config{})), op: dynamodb, want: 4},
		{
			name: "no default of the service in v2.0",
			opts: with(nil, "", noDelay(adaptive.Config{}), awsretry.WithBehavior(retry.V20)), op: dynamodb, want: 3,
		},
		{
			name: "default of the client's service",
			opts: with(nil, "", noDelay(adaptive.Config{}), awsretry.WithService("dynamodb")), want: 4,
		},
		{
			name: "a number that was set counts for every service",
			opts: with(nil, "[default]\nmax_attempts=2\n", noDelay(adaptive.Config{})), op: dynamodb, want: 2,
		},
		{
			name: "a default in code was set too",
			opts: with(nil, "", noDelay(adaptive.Config{}), awsretry.WithStandard(standard.Config{MaxAttempts: 3})), op: dynamodb, want: 3,
		},
		{
			name: "numbers of the config",
			opts: with(nil, "", noDelay(adaptive.Config{Standard: standard.Config{MaxAttempts: 6}})), want: 6,
		},
		{
			name: "settings before numbers of the config",
			opts: with(nil, "[default]\nmax_attempts=2\n", noDelay(adaptive.Config{Standard: standard.Config{MaxAttempts: 6}})),
			want: 2,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := awsretry.Load(t.Context(), c.opts...)
			require.NoError(t, err)
			require.Equal(t, c.want, attemptsOf(t, s, c.op))
			require.Equal(t, c.adaptive, s.Snapshot().Mode == "adaptive")
		})
	}
}

func TestOptionsReachTheStrategy(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	events := 0
	s, err := awsretry.Load(t.Context(), with(nil, "",
		awsretry.WithClock(clk),
		awsretry.WithClassifier(nothing{}),
		awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
			events++
			require.Equal(t, clk.Now(), e.Time)
		})))...)
	require.NoError(t, err)
	require.Equal(t, clock.Clock(clk), s.Clock())
	require.Empty(t, s.Snapshot().SharedAs, "only a Factory has keys")
	require.Equal(t, 1, attemptsOf(t, s, retry.Operation{}), "the classifier retries nothing")
	require.Equal(t, 3, events, "attempt ended, retry refused, operation ended")
}

// asked counts how often it is asked for the time. A strategy asks when it is built.
type asked struct {
	clock.Clock
	times int
}

func (a *asked) Now() time.Time {
	a.times++
	return a.Clock.Now()
}

func TestLoadBuildsOneStrategy(t *testing.T) {
	t.Parallel()
	alone, loaded := &asked{Clock: clock.NewFake(time.Time{})}, &asked{Clock: clock.NewFake(time.Time{})}
	_, err := standard.New(standard.Config{Clock: alone})
	require.NoError(t, err)
	_, err = awsretry.Load(t.Context(), with(nil, "", awsretry.WithClock(loaded))...)
	require.NoError(t, err)
	require.Positive(t, alone.times)
	require.Equal(t, alone.times, loaded.times)
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
		{"one that is added", []awsretry.Option{add(nothing{})}, retried},
		{"one that is added and forbids", []awsretry.Option{add(nothing{}), add(forbids{})}, final},
		{"one that is added before another one and forbids", []awsretry.Option{add(forbids{}), add(classify.Status())}, final},
		{"those of the config", []awsretry.Option{own}, final},
		{"one is added to those of the config", []awsretry.Option{add(classify.Status()), own}, retried},
		{"two are added to those of the config", []awsretry.Option{own, add(classify.Status()), add(forbids{})}, final},
		{"all are replaced by none", []awsretry.Option{set(classify.NewChain())}, final},
		{"those of the config are replaced", []awsretry.Option{set(classify.Default()), own}, retried},
		{"what was added before is replaced too", []awsretry.Option{add(forbids{}), set(classify.AWSCompatible())}, retried},
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

func TestAnOperationAddsToTheClassifiersOfItsStrategy(t *testing.T) {
	t.Parallel()
	atOnce := awsretry.WithRandom(func() float64 { return 0 })
	for _, mode := range []config.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
		s, err := awsretry.Load(t.Context(), with(nil, "", atOnce, awsretry.WithMode(mode), awsretry.WithClassifier(nothing{}))...)
		require.NoError(t, err)
		require.Equal(t, 1, attemptsOf(t, s, retry.Operation{Classifier: classify.Also(nothing{})}), mode)
		require.Equal(t, 3, attemptsOf(t, s, retry.Operation{Classifier: classify.Also(classify.Status())}), mode)
		require.Equal(t, 3, attemptsOf(t, s, retry.Operation{Classifier: classify.Status()}), mode)
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
	half, whole := func() float64 { return 0.5 }, func() float64 { return 1 }
	own := awsretry.WithConfig(adaptive.Config{Standard: standard.Config{Clock: first, Random: half}})
	for _, c := range []struct {
		name  string
		opts  []awsretry.Option
		clock clock.Clock
		delay time.Duration
	}{
		{"config", []awsretry.Option{own}, first, 25 * time.Millisecond},
		{
			"nil options",
			[]awsretry.Option{own, awsretry.WithClock(nil), awsretry.WithRandom(nil)},
			first, 25 * time.Millisecond,
		},
		{
			"options",
			[]awsretry.Option{awsretry.WithClock(second), awsretry.WithRandom(whole), own},
			second, 50 * time.Millisecond,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := awsretry.Load(t.Context(), with(nil, "", c.opts...)...)
			require.NoError(t, err)
			require.Same(t, c.clock, s.Clock())
			token, err := s.AcquireInitialToken(t.Context(), retry.Operation{})
			require.NoError(t, err)
			token, err = s.RefreshRetryToken(t.Context(), token, unavailable{})
			require.NoError(t, err)
			require.Equal(t, c.delay, token.Delay())
		})
	}
}

func TestEachStrategyHasAQuotaOfItsOwn(t *testing.T) {
	t.Parallel()
	settings := resolved(t, nil, "")
	one, err := awsretry.New(settings, noDelay(adaptive.Config{}))
	require.NoError(t, err)
	other, err := awsretry.New(settings, noDelay(adaptive.Config{}))
	require.NoError(t, err)
	attemptsOf(t, one, retry.Operation{})
	require.Equal(t, 472, one.Snapshot().Scopes[0].Quota)
	require.Equal(t, 500, other.Snapshot().Scopes[0].Quota)
}

func TestBadNumbersAndSettingsAreErrors(t *testing.T) {
	t.Parallel()
	s, err := awsretry.New(nil)
	require.EqualError(t, err, "awsretry: no settings")
	require.Nil(t, s)

	s, err = awsretry.New(&awsretry.Settings{})
	require.EqualError(t, err, `awsretry: no such retry mode: ""`)
	require.Nil(t, s)

	for _, mode := range []config.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
		s, err = awsretry.Load(t.Context(), with(nil, "", awsretry.WithMode(mode),
			awsretry.WithConfig(adaptive.Config{Standard: standard.Config{Base: -1}}))...)
		require.ErrorContains(t, err, "standard: Base -1ns: must not be negative")
		require.Nil(t, s)
	}

	s, err = awsretry.Load(t.Context(), with(map[string]string{"AWS_MAX_ATTEMPTS": "0"}, "")...)
	require.ErrorContains(t, err, `AWS_MAX_ATTEMPTS: "0"`)
	require.Nil(t, s)
}

func TestPlainReadsNoSettings(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "9")
	t.Setenv("AWS_RETRY_MODE", "adaptive")
	clk := &clock.Fake{}
	s, err := awsretry.Plain(5, 200*time.Millisecond, 2*time.Second, awsretry.WithClock(clk),
		awsretry.WithClassifier(classify.All()), awsretry.WithRandom(func() float64 { return 1 }))
	require.NoError(t, err)
	plan := s.Plan(retry.Operation{Service: "dynamodb"})
	require.Equal(t, 5, plan.MaxAttempts)
	require.Equal(t, 2*time.Second, plan.MaxBackoff)
	require.Equal(t, "standard", s.Snapshot().Mode)

	attempts := 0
	clk.Run(func() {
		err = retry.DoErr(t.Context(), s, retry.Operation{}, func(context.Context) error {
			attempts++
			return errors.New("down")
		})
	})

	require.ErrorIs(t, err, retry.ErrAttemptsExhausted)
	require.Equal(t, 5, attempts)
	require.Equal(t, []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond}, clk.Waits())
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

func TestWithoutQuotaBesideAFieldOfTheQuotaIsAnError(t *testing.T) {
	t.Parallel()
	off, own := awsretry.WithoutQuota(), awsretry.WithStandard(standard.Config{QuotaCapacity: new(7), RetryCost: 2})
	const want = "standard: QuotaCapacity 7: has no effect beside NoQuota (option WithoutQuota)\n" +
		"standard: RetryCost 2: has no effect beside NoQuota (option WithoutQuota)"
	for _, mode := range []config.Mode{awsretry.ModeStandard, awsretry.ModeAdaptive} {
		for _, opts := range [][]awsretry.Option{{off, own}, {own, off}} {
			_, err := awsretry.Load(t.Context(), with(nil, "", append(opts, awsretry.WithMode(mode))...)...)
			require.EqualError(t, err, want)
		}
	}
	_, err := awsretry.NewFactory(resolved(t, nil, ""), own, off)
	require.EqualError(t, err, want)
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
	first, err := f.Strategy("dynamodb/eu-west-1")
	require.NoError(t, err)
	again, err := f.Strategy("dynamodb/eu-west-1")
	require.NoError(t, err)
	require.Same(t, first, again)
	other, err := f.Strategy("s3/eu-west-1")
	require.NoError(t, err)
	require.NotSame(t, first, other)

	require.Equal(t, 3, attemptsOf(t, first, retry.Operation{Scope: "orders"}))
	require.Equal(t, "dynamodb/eu-west-1", again.Snapshot().SharedAs)
	quota := map[string]int{}
	for _, snapshot := range f.Snapshots() {
		for _, scope := range snapshot.Scopes {
			quota[snapshot.SharedAs+" "+scope.Scope] = scope.Quota
		}
	}
	require.Equal(t, map[string]int{"dynamodb/eu-west-1 ": 500, "dynamodb/eu-west-1 orders": 472, "s3/eu-west-1 ": 500}, quota)
	require.Equal(t, "dynamodb/eu-west-1", f.Snapshots()[0].SharedAs, "sorted by key")
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

func TestSnapshotsOfAFactoryAreSortedByKey(t *testing.T) {
	t.Parallel()
	f, want := newFactory(t), []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, i := range []int{3, 1, 4, 0, 5, 7, 2, 6} {
		_, err := f.Strategy(want[i])
		require.NoError(t, err)
	}
	var got []string
	for _, snapshot := range f.Snapshots() {
		got = append(got, snapshot.SharedAs)
	}
	require.Equal(t, want, got)
}

func TestFactoryHasOptionsOfItsOwn(t *testing.T) {
	t.Parallel()
	settings := resolved(t, nil, "")
	opts := []awsretry.BuildOption{noDelay(adaptive.Config{Standard: standard.Config{QuotaCapacity: new(7)}})}
	f, err := awsretry.NewFactory(settings, opts...)
	require.NoError(t, err)
	opts[0] = nil
	s, err := f.Strategy("a")
	require.NoError(t, err)
	require.Equal(t, 7, s.Snapshot().Scopes[0].Quota)
}

func TestNewFactoryReturnsTheErrorsOfNew(t *testing.T) {
	t.Parallel()
	_, err := awsretry.NewFactory(nil)
	require.EqualError(t, err, "awsretry: no settings")
	f, err := awsretry.NewFactory(resolved(t, nil, ""), awsretry.WithConfig(adaptive.Config{Standard: standard.Config{RetryCost: -1}}))
	require.EqualError(t, err, "standard: RetryCost -1: must not be negative")
	require.Nil(t, f)
	_, err = newFactory(t).Strategy("")
	require.EqualError(t, err, "awsretry: the key of a shared strategy must not be empty")
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
