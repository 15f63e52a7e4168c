package awsretry_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/clock"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestSettingsInAConfigurationCountAsDefaultsInCode(t *testing.T) {
	t.Parallel()
	own := awsretry.WithConfig(adaptive.Config{
		Standard: standard.Config{Behavior: retry.V20, Service: "dynamodb", MaxAttempts: 6},
	})
	origin := config.Origin{Kind: "default", Name: "WithConfig"}
	settings := resolved(t, nil, "", own)
	require.Equal(t, config.Setting[retry.Behavior]{
		Value: retry.V20, Raw: "v2.0", Origin: origin, Overridden: []config.Candidate{},
	}, settings.Behavior)
	require.Equal(t, config.Setting[int]{Value: 6, Raw: "6", Origin: origin, Overridden: []config.Candidate{}}, settings.MaxAttempts)
	require.Equal(t, "dynamodb", settings.Service)
	require.Empty(t, settings.Diagnostics)

	for name, s := range map[string]*awsretry.Settings{"with the configuration": settings, "without": resolved(t, nil, "")} {
		strategy, err := awsretry.New(s, own)
		require.NoError(t, err, name)
		plan := strategy.Plan(retry.Operation{})
		require.Equal(t, []any{6, time.Second}, []any{plan.MaxAttempts, plan.Base}, name)
	}

	settings = resolved(t, map[string]string{"AWS_MAX_ATTEMPTS": "2"}, "", own)
	require.Equal(t, 2, settings.MaxAttempts.Value)
	require.Equal(t, []config.Candidate{{Raw: "6", Valid: true, Origin: origin}}, settings.MaxAttempts.Overridden)
	strategy, err := awsretry.New(settings, own)
	require.NoError(t, err)
	require.Equal(t, 2, strategy.Plan(retry.Operation{}).MaxAttempts)
}

func TestServiceOfAConfigurationSelectsDefaults(t *testing.T) {
	t.Parallel()
	own := awsretry.WithConfig(adaptive.Config{Standard: standard.Config{Service: "dynamodb"}})
	for name, s := range map[string]*awsretry.Settings{
		"with the configuration": resolved(t, nil, "", own), "without": resolved(t, nil, ""),
		"in other letters": resolved(t, nil, "", awsretry.WithService("DynamoDB")),
	} {
		strategy, err := awsretry.New(s, own)
		require.NoError(t, err, name)
		plan := strategy.Plan(retry.Operation{})
		require.Equal(t, []any{4, 25 * time.Millisecond}, []any{plan.MaxAttempts, plan.Base}, name)
	}
}

func TestOptionWinsOverAFieldOfAConfigurationWhateverTheOrder(t *testing.T) {
	t.Parallel()
	few := map[string]string{"AWS_MAX_ATTEMPTS": "2"}
	for _, c := range []struct {
		name   string
		env    map[string]string
		option awsretry.ResolveOption
		config standard.Config
		want   string
		plan   func(p retry.Plan) any
		counts any
	}{
		{
			name: "behavior", option: awsretry.WithBehavior(retry.V20), config: standard.Config{Behavior: retry.V21},
			want: "standard.Config.Behavior v2.1 has no effect: v2.0 counts (option WithBehavior)",
			plan: func(p retry.Plan) any { return p.RetryCost }, counts: 5,
		},
		{
			name: "the same behavior", option: awsretry.WithBehavior(retry.V20), config: standard.Config{Behavior: retry.V20},
			plan: func(p retry.Plan) any { return p.RetryCost }, counts: 5,
		},
		{
			name: "service", option: awsretry.WithService("s3"), config: standard.Config{Service: "dynamodb"},
			want: "standard.Config.Service dynamodb has no effect: s3 counts (option WithService)",
			plan: func(p retry.Plan) any { return p.MaxAttempts }, counts: 3,
		},
		{
			name: "attempts", option: awsretry.WithMaxAttempts(5), config: standard.Config{MaxAttempts: 6},
			want: "standard.Config.MaxAttempts 6 has no effect: 5 counts (option WithMaxAttempts)",
			plan: func(p retry.Plan) any { return p.MaxAttempts }, counts: 5,
		},
		{
			name: "attempts that do not count", env: few, option: awsretry.WithStrict(), config: standard.Config{MaxAttempts: 6},
			plan: func(p retry.Plan) any { return p.MaxAttempts }, counts: 2,
		},
		{
			name: "backoff", option: awsretry.WithMaxBackoff(3 * time.Second), config: standard.Config{MaxBackoff: 5 * time.Second},
			want: "standard.Config.MaxBackoff 5s has no effect: 3s counts (option WithMaxBackoff)",
			plan: func(p retry.Plan) any { return p.MaxBackoff }, counts: 3 * time.Second,
		},
		{
			name: "shortest backoff", option: awsretry.WithMinDelay(time.Second), config: standard.Config{MinDelay: 2 * time.Second},
			want: "standard.Config.MinDelay 2s has no effect: 1s counts (option WithMinDelay)",
			plan: func(p retry.Plan) any { return p.MinDelay }, counts: time.Second,
		},
		{
			name: "no attempts", option: awsretry.WithMaxAttempts(0), config: standard.Config{MaxAttempts: 6},
			plan: func(p retry.Plan) any { return p.MaxAttempts }, counts: 6,
		},
		{
			name: "attempts below zero", option: awsretry.WithMaxAttempts(-1), config: standard.Config{MaxAttempts: -1},
			plan: func(p retry.Plan) any { return p.MaxAttempts }, counts: 3,
		},
		{
			name: "attempts beside those below zero", option: awsretry.WithMaxAttempts(5), config: standard.Config{MaxAttempts: -1},
			plan: func(p retry.Plan) any { return p.MaxAttempts }, counts: 5,
		},
		{
			name: "no backoff", option: awsretry.WithMaxBackoff(0), config: standard.Config{MaxBackoff: 5 * time.Second},
			plan: func(p retry.Plan) any { return p.MaxBackoff }, counts: 5 * time.Second,
		},
		{
			name: "no shortest backoff", option: awsretry.WithMinDelay(0), config: standard.Config{MinDelay: 2 * time.Second},
			plan: func(p retry.Plan) any { return p.MinDelay }, counts: 2 * time.Second,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var want []string
			if c.want != "" {
				want = []string{"awsretry: " + c.want}
			}
			own := awsretry.WithConfig(adaptive.Config{Standard: c.config})
			var emitted []string
			observer := awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { emitted = append(emitted, e.Err.Error()) }))
			for name, load := range map[string]func() (retry.Strategy, error){
				"New": func() (retry.Strategy, error) { return awsretry.New(resolved(t, c.env, "", c.option), own, observer) },
				"Load": func() (retry.Strategy, error) {
					return awsretry.Load(t.Context(), with(c.env, "", own, c.option, observer)...)
				},
				"Load, the other way round": func() (retry.Strategy, error) {
					return awsretry.Load(t.Context(), with(c.env, "", c.option, own, observer)...)
				},
			} {
				emitted = nil
				s, err := load()
				require.NoError(t, err, name)
				require.Equal(t, c.counts, c.plan(s.Plan(retry.Operation{})), name)
				require.Equal(t, want, emitted, name)
			}
			diagnostics := resolved(t, c.env, "", c.option, own).Diagnostics
			if c.want == "" {
				require.Empty(t, diagnostics)
				return
			}
			require.Equal(t, []config.Diagnostic{{Code: "no-effect", Message: c.want}}, diagnostics)
		})
	}
}

// adaptiveConfigs returns one configuration for each field that only adaptive mode uses.
func adaptiveConfigs(t *testing.T) map[string]adaptive.Config {
	t.Helper()
	configs := map[string]adaptive.Config{
		"Controller":   {Controller: ratelimit.Hold},
		"NoSendWait":   {NoSendWait: true},
		"MaxSendWait":  {MaxSendWait: time.Second},
		"MaxSendQueue": {MaxSendQueue: 1},
		"SendCost":     {SendCost: 2},
		"SendLimit":    {SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return adaptive.SendLimit{} }},
		"NewLimiter":   {NewLimiter: func(retry.ScopeKey, clock.Clock) adaptive.Limiter { return nil }},
	}
	for field := range reflect.TypeFor[adaptive.Config]().Fields() {
		if field.Name != "Standard" {
			require.Contains(t, configs, field.Name)
		}
	}
	return configs
}

func TestFieldForAdaptiveModeIsAnErrorWhereCodeChoseStandardMode(t *testing.T) {
	t.Parallel()
	for field, c := range adaptiveConfigs(t) {
		own := awsretry.WithConfig(c)
		for where, opts := range map[string][]awsretry.ResolveOption{
			"(option WithMode)":        {awsretry.WithMode(awsretry.ModeStandard)},
			"(option WithDefaultMode)": {awsretry.WithDefaultMode(awsretry.ModeStandard)},
			"(built-in default): add WithDefaultMode(ModeAdaptive) or WithMode(ModeAdaptive)": nil,
		} {
			t.Run(field+" "+where, func(t *testing.T) {
				t.Parallel()
				want := "awsretry: adaptive.Config." + field + " is set, but the retry mode is standard " + where
				settings := resolved(t, nil, "", append(opts, own)...)
				require.Empty(t, settings.Diagnostics)
				s, err := awsretry.New(settings, own)
				require.EqualError(t, err, want)
				require.Nil(t, s)
				_, err = awsretry.NewFactory(settings, own)
				require.EqualError(t, err, want)
				all := with(nil, "", own)
				for _, opt := range opts {
					all = append(all, opt)
				}
				_, err = awsretry.Load(t.Context(), all...)
				require.EqualError(t, err, want)
			})
		}
	}
	_, err := awsretry.Load(t.Context(), with(nil, "", awsretry.WithConfig(adaptive.Config{NoSendWait: true, SendCost: 2}))...)
	require.ErrorContains(t, err, "adaptive.Config.NoSendWait and adaptive.Config.SendCost are set")
}

func TestFieldForAdaptiveModeIsAnEventOnceWhereEnvironmentOrFileChoseStandardMode(t *testing.T) {
	t.Parallel()
	for field, c := range adaptiveConfigs(t) {
		for _, place := range []struct {
			name, file string
			env        map[string]string
		}{
			{name: "AWS_RETRY_MODE", env: map[string]string{"AWS_RETRY_MODE": "standard"}},
			{name: "/config:2: [default] retry_mode", file: "[default]\nretry_mode = standard\n"},
		} {
			t.Run(field+" "+place.name, func(t *testing.T) {
				t.Parallel()
				own, clk := awsretry.WithConfig(c), clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
				settings := resolved(t, place.env, place.file, own, awsretry.WithDefaultMode(awsretry.ModeAdaptive))
				require.Len(t, settings.Diagnostics, 1)
				require.Equal(t, "warning: adaptive.Config."+field+" is set, but the retry mode is standard ("+place.name+") [no-effect]",
					settings.Diagnostics[0].String())

				var events []retry.Event
				observer := awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) }))
				for _, build := range []func() error{
					func() error {
						s, err := awsretry.New(settings, own, observer, awsretry.WithClock(clk))
						require.Equal(t, "standard", s.Snapshot().Mode)
						return err
					},
					func() error {
						_, err := awsretry.Load(t.Context(), with(place.env, place.file, own, observer, awsretry.WithClock(clk))...)
						return err
					},
					func() error {
						f, err := awsretry.NewFactory(settings, own, observer, awsretry.WithClock(clk))
						require.NoError(t, err)
						_, err = f.Strategy("a")
						return err
					},
				} {
					events = nil
					require.NoError(t, build())
					require.Len(t, events, 1)
					require.EqualError(t, events[0].Err, "awsretry: adaptive.Config."+field+" is set, but the retry mode is standard ("+place.name+")")
					events[0].Err = nil
					require.Equal(t, retry.Event{Kind: retry.SettingIgnored, Time: clk.Now()}, events[0])
				}
			})
		}
	}
}

// TestFindingsThatAreErrorsAreEvents: awsretry.Resolve returns such an error, but awssdk.Install starts.
func TestFindingsThatAreErrorsAreEvents(t *testing.T) {
	t.Parallel()
	settings := resolved(t, map[string]string{"AWS_MAX_ATTEMPTS": "5"}, "[default]\nmax_attempts = ten\n")
	require.Equal(t, config.SeverityWarning, settings.Diagnostics[0].Severity)
	for _, message := range []string{"one", "two"} {
		settings.Diagnostics = append(settings.Diagnostics, config.Diagnostic{Severity: config.SeverityError, Code: "invalid-value", Message: message})
	}
	clk := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	var emitted []string
	_, err := awsretry.New(settings, awsretry.WithClock(clk), awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) {
		emitted = append(emitted, e.Err.Error())
		require.Equal(t, retry.Event{Kind: retry.SettingIgnored, Time: clk.Now(), Err: e.Err}, e)
		panic("observer")
	})))
	require.NoError(t, err)
	require.Equal(t, []string{"awsretry: one", "awsretry: two"}, emitted)
}

func TestFieldsForAdaptiveModeHaveAnEffectInAdaptiveMode(t *testing.T) {
	t.Parallel()
	for _, c := range adaptiveConfigs(t) {
		events := 0
		s, err := awsretry.Load(t.Context(), with(nil, "", awsretry.WithConfig(c), awsretry.WithDefaultMode(awsretry.ModeAdaptive),
			awsretry.WithObserver(retry.ObserverFunc(func(context.Context, retry.Event) { events++ })))...)
		require.NoError(t, err)
		require.Equal(t, "adaptive", s.Snapshot().Mode)
		require.Zero(t, events)
	}
}

func TestConfigurationIsCheckedAlsoWhereItDoesNotCount(t *testing.T) {
	t.Parallel()
	inStandardMode := map[string]string{"AWS_RETRY_MODE": "standard"}
	_, err := awsretry.Load(t.Context(), with(inStandardMode, "", awsretry.WithConfig(adaptive.Config{MaxSendWait: -1}))...)
	require.ErrorContains(t, err, "MaxSendWait")
}
