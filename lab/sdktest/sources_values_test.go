//go:build !race

package sdktest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/retry"
)

// reading is what the SDK and awsretry make of the same files, environment and code.
type reading struct {
	name                string
	config, credentials string
	env                 map[string]string
	load                []load
	change              func(cfg *aws.Config) // what code does to the config before Install

	// sdk is the mode and the attempts of a client without Install. It is "refused: ..." if
	// config.LoadDefaultConfig returns an error, and "panics" if it panics. A number below zero is no
	// limit.
	sdk string
	// ours is the same after Install, where the mode differs: the clients of the SDK are in standard mode.
	ours string
}

func readings() []reading {
	type env = map[string]string
	section := func(lines ...string) string { return "[default]\n" + strings.Join(lines, "\n") + "\n" }
	number := func(raw string) string { return section("max_attempts = " + raw) }
	mode := func(raw string) string { return section("retry_mode = " + raw) }
	attempts := func(raw string) env { return env{"AWS_MAX_ATTEMPTS": raw} }
	profile := func(name string) env { return env{"AWS_PROFILE": name} }
	const (
		unset     = "standard 3"
		seven     = "standard 7"
		most      = "standard 2147483647"
		noNumber  = "refused: expect integer"
		noMode    = "refused: unknown RetryMode"
		noEnv     = "refused: invalid value AWS_MAX_ATTEMPTS"
		noProfile = "refused: failed to get shared config profile"
	)
	return []reading{
		{name: "nothing is set", sdk: unset},
		{name: "number", config: number("7"), sdk: seven},
		{name: "number below zero", config: number("-1"), sdk: "standard -1"},
		{name: "one quote", config: number(`"`), sdk: "panics"},
		{name: "number with a leading zero", config: number("010"), sdk: "standard 8"},
		{name: "word for a number", config: number("seven"), sdk: noNumber},
		{name: "number above the greatest", config: number("2147483648"), sdk: "standard 2147483648"},
		{name: "number of 64 bits", config: number("9223372036854775807"), sdk: "standard 9223372036854775807"},
		{name: "unknown mode", config: mode("foo"), sdk: noMode},
		{name: "mode in quotes and attempts in quotes", config: section(`retry_mode = 'adaptive'`, `max_attempts = '7'`), sdk: "adaptive 7"},
		{name: "profile by option over variable", config: number("7") + "[profile x]\nmax_attempts = 5\n", env: profile("x"), load: []load{config.WithSharedConfigProfile("default")}, sdk: seven},
		{name: "profile that is missing", env: profile("x"), sdk: noProfile},
		{name: "AWS_DEFAULT_PROFILE that is missing, and zero", env: env{"AWS_DEFAULT_PROFILE": "x", "AWS_MAX_ATTEMPTS": "0", "AWS_RETRY_MODE": "adaptive"}, sdk: "adaptive 3"},
		{name: "mode of one file, quoted number of the other", config: mode("adaptive"), credentials: number("'7'"), sdk: "adaptive 7"},
		{name: "two config files", config: number("5"), load: []load{config.WithSharedConfigFiles([]string{"home/.aws/config", "work/config"})}, sdk: "standard 30"},
		{name: "two config files, the last with zero", config: number("0"), load: []load{config.WithSharedConfigFiles([]string{"work/config", "home/.aws/config"})}, sdk: unset},
		{name: "two config files, the last below zero", config: number("-1"), load: []load{config.WithSharedConfigFiles([]string{"work/config", "home/.aws/config"})}, sdk: "standard -1"},
		{name: "variable of zero over file", config: number("7"), env: attempts("0"), sdk: seven},
		{name: "variable below zero over file", config: number("7"), env: attempts("-1"), sdk: "standard -1"},
		{name: "hexadecimal variable", env: attempts("0x10"), sdk: noEnv},
		{name: "options over variables", env: env{"AWS_RETRY_MODE": "standard", "AWS_MAX_ATTEMPTS": "6"}, load: []load{config.WithRetryMode(aws.RetryModeAdaptive), config.WithRetryMaxAttempts(7)}, sdk: "adaptive 7"},
		{name: "no files", config: number("7"), load: []load{config.WithSharedConfigFiles([]string{})}, sdk: unset},
		{name: "option of zero", config: number("7"), load: []load{config.WithRetryMaxAttempts(0)}, sdk: seven},
		{name: "option below zero over variable", env: attempts("7"), load: []load{config.WithRetryMaxAttempts(-1)}, sdk: "standard -1"},
		{name: "option above the greatest", load: []load{config.WithRetryMaxAttempts(1 << 40)}, sdk: "standard 1099511627776"},
		{name: "unknown mode by option", config: mode("adaptive"), load: []load{config.WithRetryMode("foo")}, sdk: "foo 3", ours: unset},
		{name: "mode by option in another case", load: []load{config.WithRetryMode("Adaptive")}, sdk: "Adaptive 3", ours: unset},
		{name: "attempts in the config", config: number("5"), change: func(cfg *aws.Config) { cfg.RetryMaxAttempts = 7 }, sdk: seven},
		{name: "attempts that code has cleared in the config", config: number("7"), change: func(cfg *aws.Config) { cfg.RetryMaxAttempts = 0 }, sdk: unset},
		{name: "mode that code has cleared in the config", config: mode("adaptive"), change: func(cfg *aws.Config) { cfg.RetryMode = "" }, sdk: unset},
		{name: "attempts below zero in the config", config: number("7"), change: func(cfg *aws.Config) { cfg.RetryMaxAttempts = -1 }, sdk: "standard -1"},
		{name: "unknown mode in the config", change: func(cfg *aws.Config) { cfg.RetryMode = "foo" }, sdk: "foo 3", ours: unset},
		{name: "file above the limit", config: number("7") + strings.Repeat("#\n", 3<<20), sdk: seven},
		{name: "profile of a file above the limit", config: "[profile x]\nmax_attempts = 7\n" + strings.Repeat("#\n", 3<<20), env: profile("x"), sdk: seven},
	}
}

// TestInstallReadsWhatTheSDKReads compares Install and LoadDefaultConfig with the SDK alone. Where
// the SDK starts, so do they.
func TestInstallReadsWhatTheSDKReads(t *testing.T) {
	for _, r := range readings() {
		t.Run(r.name, func(t *testing.T) {
			start(t, r.env)
			writeFiles(t, ".", map[string]string{"home/.aws/config": r.config, "home/.aws/credentials": r.credentials})
			cfg, refusal := loadPlain(t, r.load)
			if want, refused := strings.CutPrefix(r.sdk, "refused: "); refused || want == "panics" {
				require.ErrorContains(t, refusal, want)
				_, err := loadOurs(t, r.load)
				require.EqualError(t, err, refusal.Error())
				return
			}
			require.NoError(t, refusal)
			if r.change != nil {
				r.change(&cfg)
			}
			client := sts.NewFromConfig(cfg).Options()
			require.Equal(t, r.sdk, fmt.Sprint(client.RetryMode, " ", client.Retryer.MaxAttempts()), "the SDK")

			want := r.sdk
			if r.ours != "" {
				require.NotEqual(t, r.sdk, r.ours)
				want = r.ours
			}
			require.NoError(t, awssdk.Install(&cfg))
			require.Equal(t, want, numbers(t, cfg), "Install")
			if r.change != nil {
				return
			}
			cfg, err := loadOurs(t, r.load)
			require.NoError(t, err)
			require.Equal(t, want, numbers(t, cfg), "LoadDefaultConfig")
		})
	}
}

// numbers returns the mode and the attempts of clients after Install.
func numbers(t *testing.T, cfg aws.Config) string {
	t.Helper()
	strategy, ok := awssdk.StrategyOf(cfg)
	require.True(t, ok)
	attempts := sts.NewFromConfig(cfg).Options().Retryer.MaxAttempts()
	if attempts > 0 {
		require.Equal(t, min(attempts, math.MaxInt32), strategy.Plan(retry.Operation{}).MaxAttempts)
	}
	return fmt.Sprint(strategy.Snapshot().Mode, " ", attempts)
}

func loadPlain(t *testing.T, opts []load) (cfg aws.Config, err error) {
	t.Helper()
	defer recovered(&err)
	return config.LoadDefaultConfig(t.Context(), opts...)
}

func loadOurs(t *testing.T, opts []load) (cfg aws.Config, err error) {
	t.Helper()
	defer recovered(&err)
	return awssdk.LoadDefaultConfig(t.Context(), awssdk.WithLoadOptions(opts...))
}

func recovered(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("panics: %v", panicked)
	}
}

// edit is what code sets in a config, in the options of a client or in those of a call.
type edit struct {
	attempts *int
	retryer  func(r aws.Retryer) aws.Retryer
}

func (e edit) String() string {
	text := "attempts unset"
	if e.attempts != nil {
		text = fmt.Sprint("attempts ", *e.attempts)
	}
	if e.retryer != nil {
		text += fmt.Sprintf(", %T", e.retryer(sdkretry.NewStandard()))
	}
	return text
}

// undoes reports whether an edit leaves only the attempts of the strategy, which has those of the config with WithOperation.
func (e edit) undoes() bool { return e.retryer != nil || e.attempts != nil && *e.attempts == 0 }

func (e edit) config(cfg *aws.Config) {
	if e.attempts != nil {
		cfg.RetryMaxAttempts = *e.attempts
	}
	if inner := cfg.Retryer; e.retryer != nil {
		if inner == nil { // the one that clients of the SDK have by themselves
			inner = situation{}.sdks(cfg.RetryMode)
		}
		cfg.Retryer = func() aws.Retryer { return e.retryer(inner()) }
	}
}

func (e edit) options(o *dynamodb.Options) {
	if e.attempts != nil {
		o.RetryMaxAttempts = *e.attempts
	}
	if e.retryer != nil {
		o.Retryer = e.retryer(o.Retryer)
	}
}

// TestInstallDoesWithGeneratedSettingsWhatTheSDKDoes has files of lines that one of the two could read in another way, and code
// that sets attempts and retryers before Install, after it, for a client and for a call. A call has as many attempts as with the
// SDK.
func TestInstallDoesWithGeneratedSettingsWhatTheSDKDoes(t *testing.T) {
	const cases = 1000
	random := rand.New(rand.NewPCG(51, 1))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	line := func() string {
		number := pick("7", "5", "0", "-1", "010", "08", "0x10", "1_0", "+3", "'7'", `"5"`, " 4 # four", "6#six", "", "many", "3.5", "2147483647", "7", "9")
		mode := pick("adaptive", "standard", "adaptive", "standard", "'adaptive'", "Adaptive", "legacy", "")
		indent := pick("", "", "", "", "  ", "\t")
		return indent + pick(
			"max_attempts"+pick("=", " = ", " : ")+number, "max_attempts = "+number, "retry_mode = "+mode,
			"region = eu-central-1", "s3 =", "malformed", "# comment", "; comment", "", "MAX_ATTEMPTS = "+number, "output = '",
			"[default]", "[default] # mine", "[profile x]", "[x]", "[profile default]", `[profile "x"]`, "[profile a;b]", "[default", "[ x ]",
		)
	}
	file := func() string {
		lines := []string{pick("", "", "", "", "", "", "", "", "\ufeff") + pick("[default]", "[default]", "[profile x]", "[x]", "# comment")}
		for range random.IntN(6) {
			lines = append(lines, line())
		}
		return strings.Join(lines, pick("\n", "\n", "\n", "\r\n")) + pick("\n", "\n", "")
	}
	retryers := []func(r aws.Retryer) aws.Retryer{
		func(aws.Retryer) aws.Retryer {
			return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) { o.MaxAttempts = 2 })
		},
		func(aws.Retryer) aws.Retryer { return aws.NopRetryer{} },
		func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 8) },
		func(r aws.Retryer) aws.Retryer { return sdkretry.AddWithMaxAttempts(r, 0) },
		func(r aws.Retryer) aws.Retryer { return bounds{v2(r), 0, longest} },
	}
	code := func() (e edit) {
		if numbers := []int{0, -1, 2, 6}; random.IntN(3) == 0 {
			e.attempts = &numbers[random.IntN(len(numbers))]
		}
		if random.IntN(5) == 0 {
			e.retryer = retryers[random.IntN(len(retryers))]
		}
		return e
	}
	given := func() (all []load) {
		if random.IntN(8) == 0 {
			all = append(all, config.WithSharedConfigProfile(pick("", "default", "x")))
		}
		if random.IntN(8) == 0 {
			all = append(all, config.WithSharedConfigFiles([][]string{nil, {}, {"work/config"}, {"home/.aws/config", "work/config"}, {"nowhere"}}[random.IntN(5)]))
		}
		if random.IntN(8) == 0 {
			all = append(all, config.WithRetryMaxAttempts(random.IntN(9)-1))
		}
		if random.IntN(8) == 0 {
			all = append(all, config.WithRetryMode(aws.RetryMode(pick("", "standard", "adaptive"))))
		}
		return all
	}
	started, set, retried := 0, 0, map[int]bool{}
	start(t, nil)
	for i := range cases {
		env := map[string]string{"AWS_REGION": "eu-central-1", "AWS_CA_BUNDLE": ""}
		for name, values := range map[string][]string{
			"AWS_PROFILE": {"", "", "x"}, "AWS_DEFAULT_PROFILE": {"", "", "x", "y"},
			"AWS_RETRY_MODE": {"", "", "", "adaptive", "standard"}, "AWS_MAX_ATTEMPTS": {"", "", "", "6", "010", "0", "-2", " 7"},
		} {
			env[name] = values[(i*len(name)+i/7)%len(values)]
		}
		setenv(t, env)
		text, keys := file(), file()
		writeFiles(t, ".", map[string]string{
			"home/.aws/config": text, "home/.aws/credentials": keys, "work/config": tree["work/config"],
		})
		before, after, client, call := edit{attempts: code().attempts}, code(), code(), code()
		made := fmt.Sprintf("case %d: %q, %q, %v; before: %v; after: %v; client: %v; call: %v", i, text, keys, env, before, after, client, call)

		options := given()
		sdk, refusal := loadPlain(t, options)
		own, err := loadOurs(t, options)
		if refusal != nil {
			require.EqualError(t, err, refusal.Error(), made)
			continue
		}
		require.NoError(t, err, made)
		const odd = "[default]\nmax_attempts = many\n" // Nothing is read again.
		writeFiles(t, ".", map[string]string{"home/.aws/config": odd, "home/.aws/credentials": odd, "work/config": odd})
		setenv(t, map[string]string{"AWS_PROFILE": "gone", "AWS_MAX_ATTEMPTS": "many", "AWS_RETRY_MODE": "none"})
		started++
		before.config(&sdk)
		installed := sdk.Copy()
		operations := installed.Copy()
		require.NoError(t, awssdk.Install(&installed), made)
		require.NoError(t, awssdk.Install(&operations, awssdk.WithOperation(func(_ context.Context, op retry.Operation, _ any) retry.Operation {
			return op
		})), made)
		mode := string(dynamodb.NewFromConfig(sdk).Options().RetryMode)
		require.Equal(t, mode, strategyOf(t, installed).Snapshot().Mode, made)
		require.Equal(t, mode, strategyOf(t, own).Snapshot().Mode, made)
		before.config(&own)

		attempts := func(cfg aws.Config) (requests int) {
			after.config(&cfg)
			synctest.Test(t, func(t *testing.T) {
				s := newScript(append(slices.Repeat([]answerFunc{fail(500, "")}, 11), fail(404, ""))...) // 12 stand for no limit
				cfg.HTTPClient, cfg.BaseEndpoint = s, aws.String("http://service.test")
				cfg.Credentials = configFor(nil).Credentials
				_, err := dynamodb.NewFromConfig(cfg, client.options).ListTables(t.Context(), nil, call.options)
				require.Error(t, err, made)
				requests = s.requests()
			})
			return requests
		}
		want := attempts(sdk)
		retried[want] = true
		if want != 4 {
			set++
		}
		configs := map[string]aws.Config{"Install": installed, "LoadDefaultConfig": own}
		if !after.undoes() && !client.undoes() {
			configs["WithOperation"] = operations
		}
		for name, cfg := range configs {
			if got := attempts(cfg); got != want {
				t.Errorf("%s: %d attempts, SDK %d, %s", name, got, want, made)
			}
		}
	}
	require.Greater(t, started, cases/3)
	require.Less(t, started, cases)
	require.Greater(t, set, started/2)
	require.Greater(t, len(retried), 8, "attempts of each origin: %v", retried)
}
