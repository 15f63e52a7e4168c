//go:build !race

package sdktest

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
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
[profile Busy]
max_attempts = 13
[profile  two words ]
max_attempts = 14
`,
	"home/.aws/credentials": `[both]
max_attempts = 15
[keys]
aws_access_key_id = AKID
aws_secret_access_key = SECRET
retry_mode = adaptive
max_attempts = 16
`,
	"moved/.aws/config":      "[default]\nmax_attempts = 20\n[profile busy]\nmax_attempts = 21\n",
	"moved/.aws/credentials": "[keys]\nmax_attempts = 22\n",
	"work/config":            "[default]\nmax_attempts = 30\n[profile busy]\nmax_attempts = 31\n[profile both]\nmax_attempts = 32\n",
	"work/credentials":       "[default]\nretry_mode = adaptive\n[keys]\nmax_attempts = 33\n[both]\nmax_attempts = 34\n",
	"more/config":            "[profile busy]\nretry_mode = standard\n[profile extra]\nmax_attempts = 41\n",
	"more/credentials":       "[busy]\nmax_attempts = 42\n[keys]\nretry_mode = standard\n",
	"~/config":               "[default]\nmax_attempts = 50\n",
	"home/config":            "[default]\nmax_attempts = 60\n", // what ~/config means to other tools
	"empty":                  "",
	"directory/file":         "",
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
	dir := t.TempDir()
	for path, text := range tree {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	t.Chdir(dir)
	for _, name := range places {
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
	}
	t.Setenv("HOME", "home")
	setenv(t, env)
	// The SDK looks for the home directory once, when the process starts.
	defaults(t, []string{config.DefaultSharedConfigFilename()}, []string{config.DefaultSharedCredentialsFilename()})
}

func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// defaults changes the files that the SDK reads by default.
func defaults(t *testing.T, configFiles, credentialsFiles []string) {
	t.Helper()
	before, beforeCredentials := config.DefaultSharedConfigFiles, config.DefaultSharedCredentialsFiles
	config.DefaultSharedConfigFiles, config.DefaultSharedCredentialsFiles = configFiles, credentialsFiles
	t.Cleanup(func() {
		config.DefaultSharedConfigFiles, config.DefaultSharedCredentialsFiles = before, beforeCredentials
	})
}

type load = func(*config.LoadOptions) error

// resolved is the mode and the attempts of a world. A field is empty for a value that is not set.
type resolved struct {
	mode     string
	attempts int
}

type world struct {
	name  string
	env   map[string]string
	load  []load
	start func(t *testing.T) // before config.LoadDefaultConfig, if it takes more than variables
	later map[string]string  // the environment of Install, where it is another
	want  resolved
}

func worlds() []world {
	files := func(paths ...string) load { return config.WithSharedConfigFiles(paths) }
	credentials := func(paths ...string) load { return config.WithSharedCredentialsFiles(paths) }
	none := []string{}
	type env = map[string]string
	const home = "home/.aws/config"
	return []world{
		// The profile.
		{name: "no profile is named", want: resolved{"standard", 10}},
		{name: "profile by option", load: []load{config.WithSharedConfigProfile("busy")}, want: resolved{"adaptive", 11}},
		{name: "empty profile by option", env: env{"AWS_PROFILE": "busy"}, load: []load{config.WithSharedConfigProfile("")}, want: resolved{"adaptive", 11}},
		{name: "default by option", env: env{"AWS_PROFILE": "busy"}, load: []load{config.WithSharedConfigProfile("default")}, want: resolved{"standard", 10}},
		{name: "AWS_PROFILE", env: env{"AWS_PROFILE": "busy"}, want: resolved{"adaptive", 11}},
		{name: "AWS_PROFILE of another case", env: env{"AWS_PROFILE": "Busy"}, want: resolved{"", 13}},
		{name: "AWS_PROFILE with a blank in it", env: env{"AWS_PROFILE": "two words"}, want: resolved{"", 14}},
		{name: "AWS_PROFILE without retry settings", env: env{"AWS_PROFILE": "plain"}, want: resolved{"", 0}},
		{name: "AWS_PROFILE in the credentials file", env: env{"AWS_PROFILE": "keys"}, want: resolved{"adaptive", 16}},
		{name: "AWS_PROFILE in both files", env: env{"AWS_PROFILE": "both"}, want: resolved{"adaptive", 15}},
		{name: "empty AWS_PROFILE", env: env{"AWS_PROFILE": ""}, want: resolved{"standard", 10}},
		{name: "AWS_DEFAULT_PROFILE", env: env{"AWS_DEFAULT_PROFILE": "busy"}, want: resolved{"adaptive", 11}},
		{name: "AWS_DEFAULT_PROFILE and empty AWS_PROFILE", env: env{"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "keys"}, want: resolved{"adaptive", 16}},
		{name: "AWS_DEFAULT_PROFILE and AWS_PROFILE", env: env{"AWS_PROFILE": "keys", "AWS_DEFAULT_PROFILE": "busy"}, want: resolved{"adaptive", 16}},
		{name: "AWS_DEFAULT_PROFILE and AWS_PROFILE alike", env: env{"AWS_PROFILE": "keys", "AWS_DEFAULT_PROFILE": "keys"}, want: resolved{"adaptive", 16}},
		{name: "AWS_DEFAULT_PROFILE and an option", env: env{"AWS_DEFAULT_PROFILE": "keys"}, load: []load{config.WithSharedConfigProfile("busy")}, want: resolved{"adaptive", 11}},
		{name: "empty AWS_PROFILE and AWS_DEFAULT_PROFILE", env: env{"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": ""}, want: resolved{"standard", 10}},
		{name: "AWS_DEFAULT_PROFILE that no file has", env: env{"AWS_DEFAULT_PROFILE": "gone"}},
		{name: "AWS_DEFAULT_PROFILE that no file has beside variables", env: env{"AWS_DEFAULT_PROFILE": "gone", "AWS_MAX_ATTEMPTS": "7"}, want: resolved{"", 7}},

		// Files of the environment.
		{name: "AWS_CONFIG_FILE", env: env{"AWS_CONFIG_FILE": "work/config"}, want: resolved{"", 30}},
		{name: "AWS_CONFIG_FILE and profile", env: env{"AWS_CONFIG_FILE": "work/config", "AWS_PROFILE": "both"}, want: resolved{"", 15}},
		{name: "empty AWS_CONFIG_FILE", env: env{"AWS_CONFIG_FILE": ""}, want: resolved{"standard", 10}},
		{name: "AWS_CONFIG_FILE that is missing", env: env{"AWS_CONFIG_FILE": "work/missing"}},
		{name: "AWS_CONFIG_FILE that is empty", env: env{"AWS_CONFIG_FILE": "empty"}},
		{name: "AWS_CONFIG_FILE below a file", env: env{"AWS_CONFIG_FILE": "empty/config"}},
		{name: "AWS_CONFIG_FILE that is the null device", env: env{"AWS_CONFIG_FILE": os.DevNull}},
		{name: "AWS_CONFIG_FILE with ~", env: env{"AWS_CONFIG_FILE": "~/config"}, want: resolved{"", 50}},
		{name: "AWS_CONFIG_FILE with ~ that is missing", env: env{"AWS_CONFIG_FILE": "~/.aws/config"}},
		{name: "AWS_SHARED_CREDENTIALS_FILE", env: env{"AWS_SHARED_CREDENTIALS_FILE": "work/credentials"}, want: resolved{"adaptive", 10}},
		{name: "AWS_SHARED_CREDENTIALS_FILE and profile", env: env{"AWS_SHARED_CREDENTIALS_FILE": "work/credentials", "AWS_PROFILE": "keys"}, want: resolved{"", 33}},
		{name: "empty AWS_SHARED_CREDENTIALS_FILE", env: env{"AWS_SHARED_CREDENTIALS_FILE": "", "AWS_PROFILE": "keys"}, want: resolved{"adaptive", 16}},
		{name: "AWS_SHARED_CREDENTIALS_FILE with ~", env: env{"AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials", "AWS_PROFILE": "both"}, want: resolved{"adaptive", 12}},
		{name: "both file variables", env: env{"AWS_CONFIG_FILE": "work/config", "AWS_SHARED_CREDENTIALS_FILE": "work/credentials", "AWS_PROFILE": "both"}, want: resolved{"", 34}},

		// The home directory.
		{name: "HOME with a slash at its end", env: env{"HOME": "moved/"}, want: resolved{"", 20}},
		{name: "HOME without files", env: env{"HOME": "directory"}},
		{name: "HOME that is missing", env: env{"HOME": "nowhere"}},
		{
			name: "HOME that a program changes after its start", start: func(t *testing.T) { t.Helper(); t.Setenv("HOME", "moved") },
			want: resolved{"standard", 10},
		},
		{
			name: "other default files", start: func(t *testing.T) {
				t.Helper()
				defaults(t, []string{"work/config"}, []string{"work/credentials"})
			}, env: env{"AWS_PROFILE": "both"}, want: resolved{"", 34},
		},
		{
			name: "no default files", start: func(t *testing.T) { t.Helper(); defaults(t, none, none) },
		},

		// Files by option.
		{name: "config file by option", load: []load{files("work/config")}, want: resolved{"", 30}},
		{name: "config file by option and variable", env: env{"AWS_CONFIG_FILE": "more/config"}, load: []load{files("work/config")}, want: resolved{"", 30}},
		{name: "nil config files", load: []load{config.WithSharedConfigFiles(nil)}, want: resolved{"standard", 10}},
		{name: "no config files", load: []load{config.WithSharedConfigFiles(none)}},
		{name: "no config files beside a variable", env: env{"AWS_CONFIG_FILE": "work/config"}, load: []load{config.WithSharedConfigFiles(none)}},
		{name: "no config files and a profile of the credentials file", env: env{"AWS_PROFILE": "both"}, load: []load{config.WithSharedConfigFiles(none)}, want: resolved{"", 15}},
		{name: "config file without a name", load: []load{files("")}},
		{name: "missing config file", load: []load{files("work/missing")}},
		{name: "config file below a file", load: []load{files("empty/config")}},
		{name: "config file that is the null device", load: []load{files(os.DevNull)}, env: env{"AWS_PROFILE": "keys"}, want: resolved{"adaptive", 16}},
		{name: "config file with ~", load: []load{files("~/config")}, want: resolved{"", 50}},
		{name: "nil credentials files", env: env{"AWS_PROFILE": "both"}, load: []load{config.WithSharedCredentialsFiles(nil)}, want: resolved{"adaptive", 15}},
		{name: "no credentials files", env: env{"AWS_PROFILE": "both"}, load: []load{config.WithSharedCredentialsFiles(none)}, want: resolved{"adaptive", 12}},
		{name: "credentials file by option and variable", env: env{"AWS_PROFILE": "both", "AWS_SHARED_CREDENTIALS_FILE": "more/credentials"}, load: []load{credentials("work/credentials")}, want: resolved{"adaptive", 34}},
		{name: "both files by option", load: []load{files("work/config"), credentials("work/credentials"), config.WithSharedConfigProfile("keys")}, want: resolved{"", 33}},
		{name: "the last of two options", load: []load{files("more/config"), files("work/config")}, want: resolved{"", 30}},
		{name: "missing files beside one", load: []load{files("nowhere", "work/config", "", "empty/config")}, want: resolved{"", 30}},
		{name: "the same file twice", load: []load{files("work/config", "work/config")}, want: resolved{"", 30}},

		// Several files by option, which only the SDK reads.
		{name: "two config files", env: env{"AWS_PROFILE": "busy"}, load: []load{files(home, "work/config")}, want: resolved{"adaptive", 31}},
		{name: "two config files, the other way round", env: env{"AWS_PROFILE": "busy"}, load: []load{files("work/config", home)}, want: resolved{"adaptive", 11}},
		{name: "a profile of the first file only", load: []load{files(home, "more/config"), config.WithSharedConfigProfile("plain")}, want: resolved{"", 0}},
		{name: "a profile of the second file only", load: []load{files("work/config", "more/config"), config.WithSharedConfigProfile("extra")}, want: resolved{"", 41}},
		{name: "each file has one of the settings", load: []load{files("work/config", "more/config"), config.WithSharedConfigProfile("busy")}, want: resolved{"standard", 31}},
		{name: "two credentials files", load: []load{credentials("work/credentials", "more/credentials"), config.WithSharedConfigProfile("keys")}, want: resolved{"standard", 33}},
		{name: "two of both", load: []load{files(home, "work/config"), credentials("work/credentials", "more/credentials"), config.WithSharedConfigProfile("busy")}, want: resolved{"adaptive", 42}},
		{name: "two config files and the environment", env: env{"AWS_MAX_ATTEMPTS": "7", "AWS_RETRY_MODE": "standard"}, load: []load{files(home, "work/config"), config.WithSharedConfigProfile("busy")}, want: resolved{"standard", 7}},
		{name: "two config files and options", load: []load{files(home, "work/config"), config.WithRetryMaxAttempts(8), config.WithRetryMode(aws.RetryModeAdaptive)}, want: resolved{"adaptive", 8}},
		{name: "two default files", start: func(t *testing.T) {
			t.Helper()
			defaults(t, []string{"work/config", home}, none)
		}, want: resolved{"standard", 10}},

		// Mode and attempts.
		{name: "variables", env: env{"AWS_RETRY_MODE": "adaptive", "AWS_MAX_ATTEMPTS": "7"}, want: resolved{"adaptive", 7}},
		{name: "empty variables", env: env{"AWS_RETRY_MODE": "", "AWS_MAX_ATTEMPTS": ""}, want: resolved{"standard", 10}},
		{name: "attempts with zeros and a sign", env: env{"AWS_MAX_ATTEMPTS": "+010"}, want: resolved{"standard", 10}},
		{name: "options", env: env{"AWS_RETRY_MODE": "standard", "AWS_MAX_ATTEMPTS": "7"}, load: []load{config.WithRetryMode(aws.RetryModeAdaptive), config.WithRetryMaxAttempts(8)}, want: resolved{"adaptive", 8}},
		{name: "one option and one variable", env: env{"AWS_RETRY_MODE": "adaptive"}, load: []load{config.WithRetryMaxAttempts(8)}, want: resolved{"adaptive", 8}},
		{name: "mode of the environment, attempts of the profile", env: env{"AWS_RETRY_MODE": "standard", "AWS_PROFILE": "keys"}, want: resolved{"standard", 16}},
		{name: "defaults mode", load: []load{config.WithDefaultsMode(aws.DefaultsModeInRegion)}, want: resolved{"standard", 10}},
		{name: "defaults mode and no files", load: []load{config.WithDefaultsMode(aws.DefaultsModeMobile), config.WithSharedConfigFiles(none)}},

		// An environment that changes after the SDK has read it.
		{name: "AWS_PROFILE is set later", later: env{"AWS_PROFILE": "busy"}, want: resolved{"standard", 10}},
		{name: "AWS_PROFILE of nothing is set later", later: env{"AWS_PROFILE": "gone"}, want: resolved{"standard", 10}},
		{name: "AWS_PROFILE is changed", env: env{"AWS_PROFILE": "busy"}, later: env{"AWS_PROFILE": "keys"}, want: resolved{"adaptive", 11}},
		{name: "AWS_PROFILE is cleared", env: env{"AWS_PROFILE": "busy"}, later: env{"AWS_PROFILE": ""}, want: resolved{"adaptive", 11}},
		{name: "AWS_DEFAULT_PROFILE is set later", later: env{"AWS_DEFAULT_PROFILE": "busy"}, want: resolved{"standard", 10}},
		{name: "AWS_PROFILE is set over AWS_DEFAULT_PROFILE", env: env{"AWS_DEFAULT_PROFILE": "busy"}, later: env{"AWS_PROFILE": "keys"}, want: resolved{"adaptive", 11}},
		{name: "AWS_CONFIG_FILE is set later", later: env{"AWS_CONFIG_FILE": "work/config"}, want: resolved{"standard", 10}},
		{name: "AWS_CONFIG_FILE is cleared", env: env{"AWS_CONFIG_FILE": "work/config"}, later: env{"AWS_CONFIG_FILE": ""}, want: resolved{"", 30}},
		{name: "AWS_SHARED_CREDENTIALS_FILE is set later", env: env{"AWS_PROFILE": "both"}, later: env{"AWS_SHARED_CREDENTIALS_FILE": "work/credentials"}, want: resolved{"adaptive", 15}},
		{name: "HOME is changed", later: env{"HOME": "moved"}, want: resolved{"standard", 10}},
		{name: "mode and attempts are set later", later: env{"AWS_RETRY_MODE": "adaptive", "AWS_MAX_ATTEMPTS": "7"}, want: resolved{"standard", 10}},
		{name: "mode and attempts are changed", env: env{"AWS_RETRY_MODE": "adaptive", "AWS_MAX_ATTEMPTS": "7"}, later: env{"AWS_RETRY_MODE": "standard", "AWS_MAX_ATTEMPTS": "9"}, want: resolved{"adaptive", 7}},
		{name: "mode and attempts become nonsense", later: env{"AWS_RETRY_MODE": "none", "AWS_MAX_ATTEMPTS": "many"}, want: resolved{"standard", 10}},
		{name: "everything is cleared", env: env{"AWS_PROFILE": "keys", "AWS_CONFIG_FILE": "work/config", "AWS_SHARED_CREDENTIALS_FILE": "work/credentials", "AWS_RETRY_MODE": "adaptive"}, later: env{"AWS_PROFILE": "", "AWS_CONFIG_FILE": "", "AWS_SHARED_CREDENTIALS_FILE": "", "AWS_RETRY_MODE": ""}, want: resolved{"adaptive", 33}},
	}
}

// TestInstallResolvesWhatTheSDKHasResolved compares the two. The files are gone when Install is called.
func TestInstallResolvesWhatTheSDKHasResolved(t *testing.T) {
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			start(t, w.env)
			if w.start != nil {
				w.start(t)
			}
			cfg, err := config.LoadDefaultConfig(t.Context(), w.load...)
			require.NoError(t, err)
			setenv(t, w.later)
			require.Equal(t, w.want, resolved{string(cfg.RetryMode), cfg.RetryMaxAttempts}, "the SDK")
			for path := range tree { // No file is read again.
				require.NoError(t, os.Remove(path))
			}
			require.NoError(t, awssdk.Install(&cfg))
			require.Equal(t, cmp.Or(w.want.mode, "standard"), string(cfg.RetryMode))
			require.Equal(t, cmp.Or(w.want.attempts, 3), cfg.Retryer().MaxAttempts())
		})
	}
}

// TestWhatTheSDKDoesNotStartWith has worlds in which there is no config to install into.
func TestWhatTheSDKDoesNotStartWith(t *testing.T) {
	for name, w := range map[string]world{
		"AWS_PROFILE that no file has":                  {env: map[string]string{"AWS_PROFILE": "gone"}},
		"profile by option that no file has":            {load: []load{config.WithSharedConfigProfile("gone")}},
		"AWS_CONFIG_FILE that is a directory":           {env: map[string]string{"AWS_CONFIG_FILE": "directory"}},
		"config file by option that is a directory":     {load: []load{config.WithSharedConfigFiles([]string{"directory"})}},
		"AWS_SHARED_CREDENTIALS_FILE that is one":       {env: map[string]string{"AWS_SHARED_CREDENTIALS_FILE": "directory"}},
		"profile of the home's file without that file":  {env: map[string]string{"AWS_PROFILE": "busy", "HOME": "nowhere"}},
		"profile of ~/.aws/config, which is no place":   {env: map[string]string{"AWS_PROFILE": "busy", "AWS_CONFIG_FILE": "~/.aws/config"}},
		"AWS_RETRY_MODE that is none":                   {env: map[string]string{"AWS_RETRY_MODE": "none"}},
		"AWS_MAX_ATTEMPTS that is no number":            {env: map[string]string{"AWS_MAX_ATTEMPTS": "many"}},
		"profile by option beside no files by option":   {load: []load{config.WithSharedConfigProfile("busy"), config.WithSharedConfigFiles([]string{})}},
		"profile by option of another case in the file": {load: []load{config.WithSharedConfigProfile("BUSY")}},
	} {
		t.Run(name, func(t *testing.T) {
			start(t, w.env)
			_, err := config.LoadDefaultConfig(t.Context(), w.load...)
			require.Error(t, err)
		})
	}
}

// TestSettingsOfInstallOverrideTheSDK has settings beside what the SDK has resolved.
func TestSettingsOfInstallOverrideTheSDK(t *testing.T) {
	several := config.WithSharedConfigFiles([]string{"home/.aws/config", "work/config"})
	variables := awsretry.WithEnv(func(name string) (string, bool) {
		value, ok := map[string]string{"AWS_PROFILE": "both", "HOME": "home"}[name]
		return value, ok
	})
	for _, c := range []struct {
		name     string
		env      map[string]string
		load     []load
		byHand   int
		settings []awsretry.Option
		attempts int
		err      string
	}{
		{name: "profile", env: map[string]string{"AWS_PROFILE": "busy"}, settings: []awsretry.Option{awsretry.WithProfile("keys")}, attempts: 16},
		{name: "profile beside an option", load: []load{config.WithSharedConfigProfile("busy")}, settings: []awsretry.Option{awsretry.WithProfile("keys")}, attempts: 16},
		{name: "profile of a file by option", load: []load{config.WithSharedConfigFiles([]string{"work/config"})}, settings: []awsretry.Option{awsretry.WithProfile("busy")}, attempts: 31},
		{name: "profile beside no files by option", load: []load{config.WithSharedConfigFiles([]string{})}, settings: []awsretry.Option{awsretry.WithProfile("both")}, attempts: 15},
		{name: "profile beside attempts in code", load: []load{config.WithRetryMaxAttempts(8)}, settings: []awsretry.Option{awsretry.WithProfile("keys")}, attempts: 8},
		{name: "profile beside one that no file has", env: map[string]string{"AWS_DEFAULT_PROFILE": "gone"}, settings: []awsretry.Option{awsretry.WithProfile("keys")}, attempts: 16},
		{name: "profile that no file has", settings: []awsretry.Option{awsretry.WithProfile("gone")}, err: `option WithProfile: profile "gone" not found in home/.aws/config or home/.aws/credentials`},
		{name: "config file", settings: []awsretry.Option{awsretry.WithConfigFile("work/config")}, attempts: 30},
		{name: "config file beside an option", load: []load{config.WithSharedConfigFiles([]string{"more/config"})}, settings: []awsretry.Option{awsretry.WithConfigFile("work/config")}, attempts: 30},
		{name: "config file in the home directory", settings: []awsretry.Option{awsretry.WithConfigFile("~/config")}, attempts: 60},
		{name: "config file that has not the profile", env: map[string]string{"AWS_PROFILE": "busy"}, settings: []awsretry.Option{awsretry.WithConfigFile("empty")}, err: `AWS_PROFILE: profile "busy" not found in empty`},
		{name: "environment", settings: []awsretry.Option{variables}, attempts: 15},
		{name: "attempts", load: []load{config.WithRetryMaxAttempts(8)}, settings: []awsretry.Option{awsretry.WithMaxAttempts(2)}, attempts: 2},
		{name: "default attempts beside those of a file", settings: []awsretry.Option{awsretry.WithStandard(standard.Config{MaxAttempts: 2})}, attempts: 10},
		{name: "default attempts", load: []load{config.WithSharedConfigFiles([]string{})}, settings: []awsretry.Option{awsretry.WithStandard(standard.Config{MaxAttempts: 2})}, attempts: 2},
		{name: "attempts beside several files", load: []load{several}, settings: []awsretry.Option{awsretry.WithMaxAttempts(2)}, attempts: 2},
		{name: "default attempts beside several files", load: []load{several}, settings: []awsretry.Option{awsretry.WithStandard(standard.Config{MaxAttempts: 2})}, attempts: 30},
		{name: "profile of several files", load: []load{several}, settings: []awsretry.Option{awsretry.WithProfile("both")}, attempts: 15},
		{name: "profile of the first of several files", load: []load{several}, settings: []awsretry.Option{awsretry.WithProfile("plain")}, err: `option WithProfile: profile "plain" not found in work/config or home/.aws/credentials`},
		{name: "file system", settings: []awsretry.Option{awsretry.WithFS(fstest.MapFS{"f": {Data: []byte("[default]\nmax_attempts = 70\n")}}), awsretry.WithEnv(func(name string) (string, bool) { return "/f", name == "AWS_CONFIG_FILE" })}, attempts: 70},
		{name: "file system beside the environment of the process", env: map[string]string{"AWS_CONFIG_FILE": "f"}, settings: []awsretry.Option{awsretry.WithFS(fstest.MapFS{"f": {Data: []byte("[default]\nmax_attempts = 70\n")}})}, attempts: 70},
		{name: "one value is set by hand", load: []load{config.WithRetryMaxAttempts(8)}, byHand: 9, settings: []awsretry.Option{awsretry.WithProfile("keys")}, attempts: 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			start(t, c.env)
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
		{name: "mode beside an environment", cfg: aws.Config{RetryMode: aws.RetryModeAdaptive}, settings: []awsretry.Option{awsretry.WithEnv(func(name string) (string, bool) { return "6", name == "AWS_MAX_ATTEMPTS" })}, mode: "adaptive", attempts: 6},
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
