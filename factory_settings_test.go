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
	own := awsretry.WithConfig(adaptive.Config{Standard: standard.Config{Behavior: retry.V20, Service: "dynamodb", MaxAttempts: 6}})
	origin := config.Origin{Kind: "default", Name: "WithConfig"}
	settings := resolved(t, nil, "", own)
	require.Equal(t, config.Setting[retry.Behavior]{
		Value: retry.V20, Raw: "v2.0", Origin: origin, Overridden: []config.Candidate{},
	}, settings.Behavior)
	require.Equal(t, config.Setting[int]{Value: 6, Raw: "6", Origin: origin, Overridden: []config.Candidate{}}, settings.MaxAttempts)
	require.Equal(t, "dynamodb", settings.Service)

	fewer := resolved(t, map[string]string{"AWS_MAX_ATTEMPTS": "2"}, "", own)
	require.Equal(t, []config.Candidate{{Raw: "6", Valid: true, Origin: origin}}, fewer.MaxAttempts.Overridden)
}

func TestFieldOfAConfigurationIsADefaultWhateverTheOrder(t *testing.T) {
	t.Parallel()
	type settings = standard.Config
	two, strict := map[string]string{"AWS_MAX_ATTEMPTS": "2"}, awsretry.WithStrict()
	values := awsretry.WithValues(awsretry.Values{MaxBackoff: "3s", MinDelay: "1s"})
	for _, c := range []struct {
		name   string
		env    map[string]string
		option awsretry.ResolveOption
		config settings
		want   any
		of     string // the field of the plan
	}{
		{"behavior", nil, strict, settings{Behavior: retry.V20}, 5, "RetryCost"},
		{"service", nil, strict, settings{Service: "dynamodb"}, 4, "MaxAttempts"},
		{"attempts", nil, strict, settings{MaxAttempts: 6}, 6, "MaxAttempts"},
		{"attempts of an option", nil, awsretry.WithMaxAttempts(5), settings{MaxAttempts: 6}, 5, "MaxAttempts"},
		{"attempts of a variable", two, strict, settings{MaxAttempts: 6}, 2, "MaxAttempts"},
		{"no attempts", nil, awsretry.WithMaxAttempts(0), settings{MaxAttempts: 6}, 6, "MaxAttempts"},
		{"attempts below zero", nil, awsretry.WithMaxAttempts(-1), settings{MaxAttempts: -1}, 3, "MaxAttempts"},
		{"attempts beside those below zero", nil, awsretry.WithMaxAttempts(5), settings{MaxAttempts: -1}, 5, "MaxAttempts"},
		{"backoff", nil, strict, settings{MaxBackoff: 5 * time.Second}, 5 * time.Second, "MaxBackoff"},
		{"backoff of the program", nil, values, settings{MaxBackoff: 5 * time.Second}, 3 * time.Second, "MaxBackoff"},
		{"shortest backoff", nil, strict, settings{MinDelay: 2 * time.Second}, 2 * time.Second, "MinDelay"},
		{"shortest backoff of the program", nil, values, settings{MinDelay: 2 * time.Second}, time.Second, "MinDelay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			own := awsretry.WithConfig(adaptive.Config{Standard: c.config})
			observer := awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { require.Fail(t, e.Err.Error()) }))
			for name, load := range map[string]func() (retry.Strategy, error){
				"New": func() (retry.Strategy, error) { return awsretry.New(resolved(t, c.env, "", c.option), own, observer) },
				"Load": func() (retry.Strategy, error) {
					return awsretry.Load(t.Context(), with(c.env, "", own, c.option, observer)...)
				},
				"Load, the other way round": func() (retry.Strategy, error) {
					return awsretry.Load(t.Context(), with(c.env, "", c.option, observer, own)...)
				},
			} {
				s, err := load()
				require.NoError(t, err, name)
				require.Equal(t, c.want, reflect.ValueOf(s.Plan(retry.Operation{})).FieldByName(c.of).Interface(), name)
			}
		})
	}
}

// adaptiveConfigs returns one configuration for each field that only adaptive mode uses.
func adaptiveConfigs(t *testing.T) map[string]adaptive.Config {
	t.Helper()
	configs := map[string]adaptive.Config{
		"Controller":   {Controller: ratelimit.CutPerThrottle},
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
		for where, option := range map[string]awsretry.ResolveOption{
			"(option WithMode)":        awsretry.WithMode(awsretry.ModeStandard),
			"(option WithDefaultMode)": awsretry.WithDefaultMode(awsretry.ModeStandard),
			"(built-in default): add WithDefaultMode(ModeAdaptive) or WithMode(ModeAdaptive)": awsretry.WithMode(""),
		} {
			want := "awsretry: adaptive.Config." + field + " is set, but the retry mode is standard " + where
			settings := resolved(t, nil, "", option, own)
			_, err := awsretry.New(settings, own)
			require.EqualError(t, err, want)
			_, err = awsretry.NewFactory(settings, own)
			require.EqualError(t, err, want)
			_, err = awsretry.Load(t.Context(), with(nil, "", own, option)...)
			require.EqualError(t, err, want)
		}
	}
	_, err := awsretry.Load(t.Context(), with(nil, "", awsretry.WithConfig(adaptive.Config{NoSendWait: true, SendCost: 2}))...)
	require.ErrorContains(t, err, "adaptive.Config.NoSendWait and adaptive.Config.SendCost are set")
}

func TestFieldForAdaptiveModeIsAnEventOnceWhereEnvironmentOrFileChoseStandardMode(t *testing.T) {
	t.Parallel()
	for field, c := range adaptiveConfigs(t) {
		for place, env := range map[string]map[string]string{
			"AWS_RETRY_MODE": {"AWS_RETRY_MODE": "standard"}, "/config:2: [default] retry_mode": nil,
		} {
			file := "[default]\nretry_mode = standard\n"
			own, clk := awsretry.WithConfig(c), awsretry.WithClock(clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
			settings := resolved(t, env, file, own, awsretry.WithDefaultMode(awsretry.ModeAdaptive))
			said := "adaptive.Config." + field + " is set, but the retry mode is standard (" + place + ")"

			var events []retry.Event
			observer := awsretry.WithObserver(retry.ObserverFunc(func(_ context.Context, e retry.Event) { events = append(events, e) }))
			for _, build := range []func() (retry.Strategy, error){
				func() (retry.Strategy, error) { return awsretry.New(settings, own, observer, clk) },
				func() (retry.Strategy, error) {
					return awsretry.Load(t.Context(), with(env, file, own, observer, clk)...)
				},
				func() (retry.Strategy, error) {
					f, err := awsretry.NewFactory(settings, own, observer, clk)
					require.NoError(t, err)
					return f.Strategy("a")
				},
			} {
				events = nil
				s, err := build()
				require.NoError(t, err)
				require.Equal(t, "standard", s.Snapshot().Mode)
				require.Len(t, events, 1)
				require.EqualError(t, events[0].Err, "awsretry: "+said)
				require.Equal(t, retry.Event{Kind: retry.SettingIgnored, Time: s.Clock().Now(), Err: events[0].Err}, events[0])
			}
		}
	}
}
