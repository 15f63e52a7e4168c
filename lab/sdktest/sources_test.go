//go:build !race

package sdktest

import (
	"cmp"
	"math"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
)

// tree has the files of the tests below. Every profile of every file has another number of
// attempts, so that the number tells what was read.
var tree = map[string]string{
	"home/.aws/config": `[default]
retry_mode = standard
max_attempts = 10
[profile busy]
retry_mode = adaptive
max_attempts = 11
[profile plain]
region = eu-central-1
[profile both]
retry_mode = adaptive
max_attempts = 12
`,
	"home/.aws/credentials": `[both]
max_attempts = 15
[keys]
aws_access_key_id = AKID
aws_secret_access_key = SECRET
retry_mode = adaptive
max_attempts = 16
`,
	"work/config": "[default]\nmax_attempts = 30\n[profile busy]\nmax_attempts = 31\n[profile both]\nmax_attempts = 32\n",
	"more/config": "[profile busy]\nretry_mode = standard\n[profile extra]\nmax_attempts = 41\n",
	"~/config":    "[default]\nmax_attempts = 50\n",
	"home/config": "[default]\nmax_attempts = 60\n", // what ~/config means to other tools
	"empty":       "",
}

// places are the variables that say where the files are.
var places = []string{
	"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS",
	"AWS_SDK_LOAD_CONFIG", "AWS_DEFAULTS_MODE", "AWS_REGION", "AWS_DEFAULT_REGION",
}

// start changes the process of the test to one that was started in a directory with the tree,
// with these variables.
func start(t *testing.T, env map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	writeFiles(t, ".", tree)
	for _, name := range places {
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
	}
	t.Setenv("HOME", "home")
	setenv(t, env)
	// The SDK looks for the home directory once, when the process starts.
	before, beforeCredentials := config.DefaultSharedConfigFiles, config.DefaultSharedCredentialsFiles
	t.Cleanup(func() {
		config.DefaultSharedConfigFiles, config.DefaultSharedCredentialsFiles = before, beforeCredentials
	})
	config.DefaultSharedConfigFiles = []string{config.DefaultSharedConfigFilename()}
	config.DefaultSharedCredentialsFiles = []string{config.DefaultSharedCredentialsFilename()}
}

func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
}

type load = func(*config.LoadOptions) error

// TestSettingsOfInstallOverrideTheSDK has settings beside what the SDK has resolved.
func TestSettingsOfInstallOverrideTheSDK(t *testing.T) {
	several := config.WithSharedConfigFiles([]string{"home/.aws/config", "work/config"})
	variables := awsretry.WithSources(awsretry.Sources{LookupEnv: func(name string) (string, bool) {
		value, ok := map[string]string{"AWS_PROFILE": "both", "HOME": "home"}[name]
		return value, ok
	}})
	zero := map[string]string{"AWS_MAX_ATTEMPTS": "0", "AWS_CONFIG_FILE": "work/odd"}
	quoted := map[string]string{"AWS_CONFIG_FILE": "work/odd"}
	limit := awsretry.WithConfig(adaptive.Config{MaxSendWait: 1})
	for _, c := range []struct {
		name     string
		env      map[string]string
		load     []load
		byHand   int
		settings []awsretry.Option
		mode     string // if it matters
		attempts int
		err      string
	}{
		{name: "none", env: zero, mode: "standard", attempts: 7},
		{name: "profile, odd values", env: zero, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "x"})}, err: `AWS_MAX_ATTEMPTS: "0"`},
		{name: "profile with such a value", env: quoted, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "y"})}, err: `work/odd:7: [profile y] max_attempts: "-1"`},
		{name: "profile that is missing", env: zero, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "z"})}, err: `profile "z" not found`},
		{name: "file", env: quoted, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{ConfigFile: "work/config"})}, mode: "standard", attempts: 30},
		{name: "attempts, odd values", env: zero, settings: []awsretry.Option{awsretry.WithMaxAttempts(2)}, mode: "standard", attempts: 2},
		{name: "attempts of zero", env: zero, settings: []awsretry.Option{awsretry.WithMaxAttempts(0)}, mode: "standard", attempts: 7},
		{name: "default attempts, odd values", env: map[string]string{"AWS_MAX_ATTEMPTS": "0", "AWS_CONFIG_FILE": "empty"}, settings: []awsretry.Option{awsretry.WithStandard(standard.Config{MaxAttempts: 9})}, mode: "standard", attempts: 9},
		{name: "default mode that the SDK has", env: quoted, settings: []awsretry.Option{awsretry.WithDefaultMode(awsretry.ModeAdaptive)}, mode: "standard", attempts: 7},
		{name: "default mode", env: map[string]string{"AWS_CONFIG_FILE": "empty"}, settings: []awsretry.Option{awsretry.WithDefaultMode(awsretry.ModeAdaptive)}, mode: "adaptive", attempts: 3},
		{name: "mode", env: zero, settings: []awsretry.Option{awsretry.WithMode(awsretry.ModeAdaptive)}, mode: "adaptive", attempts: 7},
		{name: "fields for adaptive mode beside a file with standard mode", env: quoted, settings: []awsretry.Option{limit}, mode: "standard", attempts: 7},
		{name: "fields that contradict each other", env: zero, settings: []awsretry.Option{awsretry.WithConfig(adaptive.Config{Standard: standard.Config{MinDelay: time.Minute}})}, err: "min_delay"},
		{name: "strict reading of a malformed line that the SDK has read", env: map[string]string{"AWS_CONFIG_FILE": "work/malformed"}, settings: []awsretry.Option{awsretry.WithStrict()}, err: "work/malformed:2:"},
		{name: "strict reading of a malformed line of a file", settings: []awsretry.Option{awsretry.WithStrict(), awsretry.WithSources(awsretry.Sources{ConfigFile: "work/malformed"})}, err: "work/malformed:2:"},
		{name: "an environment of its own", settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{LookupEnv: func(name string) (string, bool) { return "0", name == "AWS_MAX_ATTEMPTS" }})}, err: `AWS_MAX_ATTEMPTS: "0"`},
		{name: "profile", env: map[string]string{"AWS_PROFILE": "busy"}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "keys"})}, attempts: 16},
		{name: "profile beside an option", load: []load{config.WithSharedConfigProfile("busy")}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "keys"})}, attempts: 16},
		{name: "profile of a file by option", load: []load{config.WithSharedConfigFiles([]string{"work/config"})}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "busy"})}, attempts: 31},
		{name: "profile beside no files by option", load: []load{config.WithSharedConfigFiles([]string{})}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "both"})}, attempts: 15},
		{name: "profile beside attempts in code", load: []load{config.WithRetryMaxAttempts(8)}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "keys"})}, attempts: 8},
		{name: "profile beside one that no file has", env: map[string]string{"AWS_DEFAULT_PROFILE": "gone"}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "keys"})}, attempts: 16},
		{name: "profile that no file has", settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "gone"})}, err: `option WithSources: profile "gone" not found in home/.aws/config or home/.aws/credentials`},
		{name: "config file", settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{ConfigFile: "work/config"})}, attempts: 30},
		{name: "config file beside an option", load: []load{config.WithSharedConfigFiles([]string{"more/config"})}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{ConfigFile: "work/config"})}, attempts: 30},
		{name: "config file in the home directory", settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{ConfigFile: "~/config"})}, attempts: 60},
		{name: "config file that has not the profile", env: map[string]string{"AWS_PROFILE": "busy"}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{ConfigFile: "empty"})}, err: `AWS_PROFILE: profile "busy" not found in empty`},
		{name: "environment", settings: []awsretry.Option{variables}, attempts: 15},
		{name: "attempts", load: []load{config.WithRetryMaxAttempts(8)}, settings: []awsretry.Option{awsretry.WithMaxAttempts(2)}, attempts: 2},
		{name: "default attempts beside those of a file", settings: []awsretry.Option{awsretry.WithStandard(standard.Config{MaxAttempts: 2})}, attempts: 10},
		{name: "default attempts", load: []load{config.WithSharedConfigFiles([]string{})}, settings: []awsretry.Option{awsretry.WithStandard(standard.Config{MaxAttempts: 2})}, attempts: 2},
		{name: "attempts beside several files", load: []load{several}, settings: []awsretry.Option{awsretry.WithMaxAttempts(2)}, attempts: 2},
		{name: "default attempts beside several files", load: []load{several}, settings: []awsretry.Option{awsretry.WithStandard(standard.Config{MaxAttempts: 2})}, attempts: 30},
		{name: "profile of several files", load: []load{several}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "both"})}, attempts: 15},
		{name: "profile of the first of several files", load: []load{several}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "plain"})}, err: `option WithSources: profile "plain" not found in work/config or home/.aws/credentials`},
		{name: "file system", settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{FS: fstest.MapFS{"f": {Data: []byte("[default]\nmax_attempts = 70\n")}}, LookupEnv: func(name string) (string, bool) { return "/f", name == "AWS_CONFIG_FILE" }})}, attempts: 70},
		{name: "file system beside the environment of the process", env: map[string]string{"AWS_CONFIG_FILE": "f"}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{FS: fstest.MapFS{"f": {Data: []byte("[default]\nmax_attempts = 70\n")}}})}, attempts: 70},
		{name: "one value is set by hand", load: []load{config.WithRetryMaxAttempts(8)}, byHand: 9, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{Profile: "keys"})}, attempts: 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			start(t, c.env)
			writeFiles(t, ".", map[string]string{
				"work/odd":       "[default]\nmax_attempts = '7'\nretry_mode = standard\n[profile x]\nmax_attempts = 8\n[profile y]\nmax_attempts = -1\n",
				"work/malformed": "[default]\nmalformed\n",
			})
			cfg, err := config.LoadDefaultConfig(t.Context(), c.load...)
			require.NoError(t, err)
			cfg.RetryMaxAttempts = cmp.Or(c.byHand, cfg.RetryMaxAttempts)
			err = awssdk.Install(&cfg, awssdk.WithSettings(c.settings...))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.Nil(t, cfg.Retryer)
				return
			}
			require.NoError(t, err)
			if c.mode != "" {
				require.Equal(t, c.mode, strategyOf(t, cfg).Snapshot().Mode)
			}
			require.Equal(t, c.attempts, cfg.Retryer().MaxAttempts())
		})
	}
}

// TestConfigMadeByHandHasWhatItsFieldsSay whatever the process has, as in the SDK.
func TestConfigMadeByHandHasWhatItsFieldsSay(t *testing.T) {
	start(t, map[string]string{"AWS_PROFILE": "busy", "AWS_CONFIG_FILE": "work/config", "AWS_MAX_ATTEMPTS": "0"})
	for _, c := range []struct {
		name     string
		cfg      aws.Config
		settings []awsretry.Option
		mode     string
		attempts int
	}{
		{name: "nothing", mode: "standard", attempts: 3},
		{name: "both", cfg: aws.Config{RetryMode: aws.RetryModeAdaptive, RetryMaxAttempts: 5}, mode: "adaptive", attempts: 5},
		{name: "attempts below zero", cfg: aws.Config{RetryMaxAttempts: -1}, mode: "standard", attempts: math.MaxInt32},
		{name: "mode that does not exist", cfg: aws.Config{RetryMode: "foo"}, mode: "standard", attempts: 3},
		{name: "attempts beside an option", cfg: aws.Config{RetryMaxAttempts: 5}, settings: []awsretry.Option{awsretry.WithDefaultMode(awsretry.ModeAdaptive)}, mode: "adaptive", attempts: 5},
		{name: "mode beside an environment", cfg: aws.Config{RetryMode: aws.RetryModeAdaptive}, settings: []awsretry.Option{awsretry.WithSources(awsretry.Sources{LookupEnv: func(name string) (string, bool) { return "6", name == "AWS_MAX_ATTEMPTS" }})}, mode: "adaptive", attempts: 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, awssdk.Install(&c.cfg, awssdk.WithSettings(c.settings...)))
			require.Equal(t, c.mode, string(c.cfg.RetryMode))
			require.Equal(t, c.attempts, c.cfg.Retryer().MaxAttempts())
		})
	}
}

func TestSecondInstallBeginsWithWhatTheFirstOneFound(t *testing.T) {
	start(t, map[string]string{"AWS_MAX_ATTEMPTS": "6"})
	adaptively := awssdk.WithSettings(awsretry.WithMode(awsretry.ModeAdaptive))
	cleared := func(cfg *aws.Config) { cfg.RetryMaxAttempts = 0 }
	raised := func(cfg *aws.Config) { cfg.RetryMaxAttempts = 8 }
	nothing := func(*aws.Config) {}
	for name, c := range map[string]struct {
		first, since func(cfg *aws.Config)
		attempts     int
	}{
		"what the SDK has read": {nothing, nothing, 6},
		"set by hand":           {raised, nothing, 8},
		"cleared by hand":       {cleared, nothing, 3},
		"set since":             {nothing, raised, 8},
	} {
		cfg, err := config.LoadDefaultConfig(t.Context())
		require.NoError(t, err)
		c.first(&cfg)
		require.NoError(t, awssdk.Install(&cfg), name)
		c.since(&cfg)
		require.NoError(t, awssdk.Install(&cfg, adaptively), name)
		require.Equal(t, aws.RetryModeAdaptive, cfg.RetryMode, name)
		require.Equal(t, c.attempts, cfg.Retryer().MaxAttempts(), name)
	}
	cfg, err := awssdk.LoadDefaultConfig(t.Context())
	require.NoError(t, err)
	require.NoError(t, awssdk.Install(&cfg, adaptively))
	require.Equal(t, aws.RetryModeAdaptive, cfg.RetryMode)
	require.Equal(t, 6, cfg.Retryer().MaxAttempts())
}
