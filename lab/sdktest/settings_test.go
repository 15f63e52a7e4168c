package sdktest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

const sharedConfig = `[default]
retry_mode = standard
max_attempts = 4

[profile busy]
retry_mode = adaptive
max_attempts = 9
`

// home sets up an environment with a config file, and returns its path.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(path, []byte(sharedConfig), 0o600))
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": path, "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "none"),
		"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "", "AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": "", "AWS_NEW_RETRIES_2026": "",
		"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_REGION": "eu-central-1",
	} {
		t.Setenv(name, value)
	}
	return path
}

func TestInstallTakesAlongWhatTheConfigWasLoadedWith(t *testing.T) {
	type load = func(*config.LoadOptions) error
	byHand := func(cfg *aws.Config) { cfg.RetryMaxAttempts, cfg.RetryMode = 8, aws.RetryModeAdaptive }
	for _, c := range []struct {
		name     string
		env      map[string]string
		load     []load
		change   func(cfg *aws.Config)
		opts     []awsretry.Option
		mode     string
		attempts int
	}{
		{name: "default profile", mode: "standard", attempts: 4},
		{name: "profile in code", load: []load{config.WithSharedConfigProfile("busy")}, mode: "adaptive", attempts: 9},
		{name: "profile in the environment", env: map[string]string{"AWS_PROFILE": "busy"}, mode: "adaptive", attempts: 9},
		{
			name: "profile in code beats the environment", env: map[string]string{"AWS_PROFILE": "busy"},
			load: []load{config.WithSharedConfigProfile("default")}, mode: "standard", attempts: 4,
		},
		{name: "variables", env: map[string]string{"AWS_RETRY_MODE": "adaptive", "AWS_MAX_ATTEMPTS": "6"}, mode: "adaptive", attempts: 6},
		{
			name: "mode and attempts in code beat variables", env: map[string]string{"AWS_RETRY_MODE": "standard", "AWS_MAX_ATTEMPTS": "6"},
			load: []load{config.WithRetryMode(aws.RetryModeAdaptive), config.WithRetryMaxAttempts(7)}, mode: "adaptive", attempts: 7,
		},
		{name: "by hand", change: byHand, mode: "adaptive", attempts: 8},
		{
			name: "by hand beats code", load: []load{config.WithRetryMode(aws.RetryModeStandard), config.WithRetryMaxAttempts(7)},
			change: byHand, mode: "adaptive", attempts: 8,
		},
		{
			name: "the options of Install beat all", load: []load{config.WithRetryMaxAttempts(7)}, change: byHand,
			opts: []awsretry.Option{awsretry.WithMaxAttempts(2), awsretry.WithMode(awsretry.ModeStandard)}, mode: "standard", attempts: 2,
		},
		{name: "no files", load: []load{config.WithSharedConfigFiles([]string{})}, mode: "standard", attempts: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			home(t)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			cfg, err := config.LoadDefaultConfig(t.Context(), c.load...)
			require.NoError(t, err)
			if c.change != nil {
				c.change(&cfg)
			}
			require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(c.opts...)))
			require.Equal(t, c.mode, strategyOf(t, cfg).Snapshot().Mode)
			require.Equal(t, c.attempts, cfg.Retryer().MaxAttempts())
		})
	}
}

func TestInstallTakesAlongTheFiles(t *testing.T) {
	path := home(t)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithSharedConfigFiles([]string{path}))
	require.NoError(t, err)
	require.NoError(t, awssdk.Install(&cfg))
	require.Equal(t, 4, cfg.Retryer().MaxAttempts())

	more := filepath.Join(t.TempDir(), "more")
	require.NoError(t, os.WriteFile(more, []byte("[default]\nmax_attempts = 6\n"), 0o600))
	cfg, err = config.LoadDefaultConfig(t.Context(), config.WithSharedConfigFiles([]string{path, more}))
	require.NoError(t, err)
	require.NoError(t, awssdk.Install(&cfg))
	require.Equal(t, 6, cfg.Retryer().MaxAttempts())
	s, err := standard.New(standard.Config{MaxAttempts: 5})
	require.NoError(t, err)
	require.NoError(t, awssdk.Install(&cfg, awssdk.WithStrategy(s)))
	require.Equal(t, 5, cfg.Retryer().MaxAttempts())
}

// TestRetryerGoesWhereTheSDKWantsIt: with a retryer config.LoadDefaultConfig resolves neither
// mode nor attempts.
func TestRetryerGoesWhereTheSDKWantsIt(t *testing.T) {
	home(t)
	retryer, err := awssdk.Load(t.Context(), awssdk.WithSettings(awsretry.WithProfile("busy")))
	require.NoError(t, err)
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRetryer(retryer))
	require.NoError(t, err)
	s := newScript(fail(500, ""))
	cfg.HTTPClient, cfg.BaseEndpoint = s, aws.String("http://service.test")
	inBubble(t, func(t *testing.T) {
		t.Helper()
		require.ErrorContains(t, describe(t, cfg), "exceeded maximum number of attempts, 9")
	})
	require.Equal(t, 9, s.requests())
	first := retryer()
	require.Same(t, first, retryer(), "one strategy, however often it is asked for")

	_, err = awssdk.Load(t.Context(), awssdk.WithSettings(awsretry.WithProfile("absent")))
	require.ErrorContains(t, err, `"absent"`)
}

func TestStrategyInAWrapperLimitsAsItDoesWithout(t *testing.T) {
	bothWays(t, func(t *testing.T, setup setup) {
		t.Helper()
		inner, err := standard.New(standard.Config{MaxAttempts: 4})
		require.NoError(t, err)
		s := newScript(fail(500, ""))
		cfg := setup(t, s, awssdk.WithStrategy(struct{ retry.Strategy }{inner}))
		require.Equal(t, 4, cfg.Retryer().MaxAttempts())
		require.ErrorContains(t, describe(t, cfg), "exceeded maximum number of attempts, 4")
		require.Equal(t, 4, s.requests())
	})
}

// TestWhatTheSDKResolvedIsResolvedAgain: it does not count as a value that code has set.
func TestWhatTheSDKResolvedIsResolvedAgain(t *testing.T) {
	home(t)
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	require.Equal(t, aws.RetryModeStandard, cfg.RetryMode)
	elsewhere := map[string]string{"AWS_RETRY_MODE": "adaptive", "AWS_MAX_ATTEMPTS": "6"}
	require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithEnv(func(name string) (string, bool) {
		value, ok := elsewhere[name]
		return value, ok
	}))))
	require.Equal(t, "adaptive", strategyOf(t, cfg).Snapshot().Mode)
	require.Equal(t, 6, cfg.Retryer().MaxAttempts())
}

// What code has given to the SDK counts like WithMaxAttempts, and WithSettings overrides it.
func TestInstallUsesTheFlagsAndTheFileOfAProgram(t *testing.T) {
	home(t)
	var values awsretry.Values
	flags := flag.NewFlagSet("program", flag.ContinueOnError)
	values.AddFlags(flags, "aws-")
	require.NoError(t, flags.Parse([]string{"-aws-max-attempts=5", "-aws-max-elapsed=30s"}))
	require.NoError(t, json.Unmarshal([]byte(`{"retry_mode": "adaptive", "max_attempts": 6, "min_delay": "300ms"}`), &values))
	for _, load := range [][]func(*config.LoadOptions) error{nil, {config.WithRetryMaxAttempts(8), config.WithRetryMode(aws.RetryModeStandard)}} {
		cfg, err := config.LoadDefaultConfig(t.Context(), load...)
		require.NoError(t, err)
		require.NoError(t, awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithValues(values))))
		plan := strategyOf(t, cfg).Plan(retry.Operation{})
		require.Equal(t, "adaptive", strategyOf(t, cfg).Snapshot().Mode)
		require.Equal(t, []any{5, 300 * time.Millisecond, 30 * time.Second}, []any{plan.MaxAttempts, plan.MinDelay, plan.MaxElapsed})
	}
	values.MaxBackoff = "soon"
	values.From("file app.json")
	cfg, err := config.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	require.EqualError(t, awssdk.Install(&cfg, awssdk.WithSettings(awsretry.WithValues(values))),
		`config: file app.json: max_backoff: "soon": must be a duration above zero, such as 20s`)
}
