package awsretry_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

// Paths of the shared files in a world.
const (
	configPath      = "/home/me/.aws/config"
	credentialsPath = "/home/me/.aws/credentials"
)

// world is everything that Resolve can read.
type world struct {
	env         map[string]string
	config      string
	credentials string
	opts        []awsretry.ResolveOption
}

// resolve resolves the settings of the world. A file with an empty text does not exist.
func (w world) resolve(t *testing.T) (*awsretry.Settings, error) {
	t.Helper()
	files := fstest.MapFS{}
	if w.config != "" {
		files["home/me/.aws/config"] = &fstest.MapFile{Data: []byte(w.config)}
	}
	if w.credentials != "" {
		files["home/me/.aws/credentials"] = &fstest.MapFile{Data: []byte(w.credentials)}
	}
	return awsretry.Resolve(t.Context(), append(inFiles(files, w.env), w.opts...)...)
}

func inFiles(files fs.FS, env map[string]string) []awsretry.ResolveOption {
	return []awsretry.ResolveOption{
		awsretry.WithFS(files),
		awsretry.WithPlatform("linux"),
		awsretry.WithHomeDir(func() (string, error) { return "/home/me", nil }),
		awsretry.WithEnv(func(key string) (string, bool) {
			value, ok := env[key]
			return value, ok
		}),
	}
}

func (w world) mustResolve(t *testing.T) *awsretry.Settings {
	t.Helper()
	s, err := w.resolve(t)
	require.NoError(t, err)
	return s
}

// codes returns the codes of findings in their order.
func codes(found []config.Diagnostic) []string {
	list := []string{}
	for _, d := range found {
		list = append(list, d.Code)
	}
	return list
}

func TestResolveWithoutAnythingGivesBuiltInDefaults(t *testing.T) {
	t.Parallel()
	s := world{}.mustResolve(t)
	builtIn := config.Origin{Kind: "default"}
	require.Equal(t, &awsretry.Settings{
		Profile:     config.Setting[string]{Value: "default", Raw: "default", Origin: builtIn, Overridden: []config.Candidate{}},
		RetryMode:   config.Setting[config.Mode]{Value: awsretry.ModeStandard, Raw: "standard", Origin: builtIn, Overridden: []config.Candidate{}},
		MaxAttempts: config.Setting[int]{Value: 3, Raw: "3", Origin: builtIn, Overridden: []config.Candidate{}},
		MaxBackoff:  config.Setting[time.Duration]{Value: 20 * time.Second, Raw: "20s", Origin: builtIn, Overridden: []config.Candidate{}},
		MinDelay:    config.Setting[time.Duration]{Raw: "0s", Origin: builtIn, Overridden: []config.Candidate{}},
		MaxElapsed:  config.Setting[time.Duration]{Raw: "0s", Origin: builtIn, Overridden: []config.Candidate{}},
		Behavior:    config.Setting[retry.Behavior]{Value: retry.V21, Raw: "v2.1", Origin: builtIn, Overridden: []config.Candidate{}},
		Files: []config.FileStatus{
			{Kind: "config", Path: configPath, Status: "missing"},
			{Kind: "credentials", Path: credentialsPath, Status: "missing"},
		},
		Diagnostics: []config.Diagnostic{},
	}, s)
}

func TestValuesOfAProfileCarryFileAndLine(t *testing.T) {
	t.Parallel()
	s := world{
		env:    map[string]string{"AWS_PROFILE": "x"},
		config: "[profile x]\nretry_mode = adaptive\nmax_attempts = 7\n",
	}.mustResolve(t)
	require.Equal(t, awsretry.ModeAdaptive, s.RetryMode.Value)
	require.Equal(t, 7, s.MaxAttempts.Value)
	want := config.Origin{Kind: "shared-config", File: configPath, Line: 2, Profile: "x", Key: "retry_mode"}
	require.Equal(t, want, s.RetryMode.Origin)
	want.Line, want.Key = 3, "max_attempts"
	require.Equal(t, want, s.MaxAttempts.Origin)
	require.Equal(t, config.Origin{Kind: "environment", Name: "AWS_PROFILE"}, s.Profile.Origin)
	require.Empty(t, s.Diagnostics)
}

func TestStrongestCandidateWinsAndListsTheOthersInOrder(t *testing.T) {
	t.Parallel()
	candidate := func(raw string, valid bool, origin config.Origin) config.Candidate {
		return config.Candidate{Raw: raw, Valid: valid, Origin: origin}
	}
	override := candidate("2", true, config.Origin{Kind: "option", Name: "WithMaxAttempts"})
	variable := candidate(" 3 ", true, config.Origin{Kind: "environment", Name: "AWS_MAX_ATTEMPTS"})
	credentials2 := candidate("5", true, config.Origin{Kind: "shared-credentials", File: credentialsPath, Line: 4, Profile: "default", Key: "max_attempts"})
	credentials1 := candidate("4", true, config.Origin{Kind: "shared-credentials", File: credentialsPath, Line: 2, Profile: "default", Key: "max_attempts"})
	file := candidate("six", false, config.Origin{Kind: "shared-config", File: configPath, Line: 2, Profile: "default", Key: "max_attempts"})
	fallback := candidate("7", true, config.Origin{Kind: "default", Name: "WithStandard"})

	all := world{
		env:         map[string]string{"AWS_MAX_ATTEMPTS": " 3 "},
		credentials: "[default]\nmax_attempts = 4\nregion = x\nMax_Attempts = 5\n",
		config:      "[default]\nmax_attempts = six\n",
		opts:        []awsretry.ResolveOption{awsretry.WithStandard(standard.Config{MaxAttempts: 7}), awsretry.WithMaxAttempts(2)},
	}
	for _, step := range []struct {
		name   string
		change func(w *world)
		winner config.Candidate
		value  int
		losers []config.Candidate
	}{
		{"override", func(*world) {}, override, 2, []config.Candidate{variable, credentials2, credentials1, file, fallback}},
		{"variable", func(w *world) { w.opts = w.opts[:1] }, variable, 3, []config.Candidate{credentials2, credentials1, file, fallback}},
		{"credentials", func(w *world) { w.env = nil }, credentials2, 5, []config.Candidate{credentials1, file, fallback}},
		{"default in code", func(w *world) { w.credentials, w.config = "", "" }, fallback, 7, []config.Candidate{}},
	} {
		step.change(&all)
		s := all.mustResolve(t)
		require.Equal(t, step.value, s.MaxAttempts.Value, step.name)
		require.Equal(t, step.winner.Raw, s.MaxAttempts.Raw, step.name)
		require.Equal(t, step.winner.Origin, s.MaxAttempts.Origin, step.name)
		require.Equal(t, step.losers, s.MaxAttempts.Overridden, step.name)
	}
}

func TestSettingsHaveTheirOwnWinners(t *testing.T) {
	t.Parallel()
	s := world{
		env:         map[string]string{"AWS_RETRY_MODE": "standard"},
		config:      "[default]\nretry_mode = adaptive\nmax_attempts = 6\n",
		credentials: "[default]\nretry_mode = standard\n",
		opts:        []awsretry.ResolveOption{awsretry.WithDefaultMode(awsretry.ModeAdaptive), awsretry.WithBehavior(retry.V21)},
	}.mustResolve(t)
	require.Equal(t, "AWS_RETRY_MODE", s.RetryMode.Origin.String())
	require.Len(t, s.RetryMode.Overridden, 3)
	require.Equal(t, "option WithDefaultMode", s.RetryMode.Overridden[2].Origin.String())
	require.Equal(t, configPath+":3: [default] max_attempts", s.MaxAttempts.Origin.String())
	require.Equal(t, "option WithBehavior", s.Behavior.Origin.String())
	require.Equal(t, "built-in default", s.Profile.Origin.String())
}

func TestProfileComesFromOptionThenVariable(t *testing.T) {
	t.Parallel()
	w := world{
		env:    map[string]string{"AWS_PROFILE": "b"},
		config: "[profile a]\nmax_attempts = 4\n[profile b]\nmax_attempts = 5\n",
		opts:   []awsretry.ResolveOption{awsretry.WithProfile("a")},
	}
	s := w.mustResolve(t)
	require.Equal(t, 4, s.MaxAttempts.Value)
	require.Equal(t, []config.Candidate{{
		Raw: "b", Valid: true, Origin: config.Origin{Kind: "environment", Name: "AWS_PROFILE"},
	}}, s.Profile.Overridden)
	w.opts = []awsretry.ResolveOption{awsretry.WithProfile("")}
	require.Equal(t, 5, w.mustResolve(t).MaxAttempts.Value)
	w.env = map[string]string{"AWS_PROFILE": ""}
	require.Equal(t, 3, w.mustResolve(t).MaxAttempts.Value)
}

func TestDefaultProfileVariableCountsWhereTheOtherIsUnset(t *testing.T) {
	t.Parallel()
	w := world{
		env:    map[string]string{"AWS_DEFAULT_PROFILE": "a", "AWS_PROFILE": ""},
		config: "[profile a]\nmax_attempts = 4\n[profile b]\nmax_attempts = 5\n",
	}
	s := w.mustResolve(t)
	require.Equal(t, 4, s.MaxAttempts.Value)
	require.Equal(t, config.Origin{Kind: "environment", Name: "AWS_DEFAULT_PROFILE"}, s.Profile.Origin)
	require.Equal(t, []string{"read-differently", "read-differently", "unused-profile"}, codes(s.Diagnostics))
	w.env["AWS_PROFILE"] = "b"
	s = w.mustResolve(t)
	require.Equal(t, 5, s.MaxAttempts.Value)
	require.Equal(t, []config.Candidate{{
		Raw: "a", Valid: true, Origin: config.Origin{Kind: "environment", Name: "AWS_DEFAULT_PROFILE"},
	}}, s.Profile.Overridden)
	require.Equal(t, []string{"no-effect", "read-differently", "unused-profile"}, codes(s.Diagnostics))
	w.env = map[string]string{"AWS_DEFAULT_PROFILE": "nowhere"}
	_, err := w.resolve(t)
	require.ErrorContains(t, err, `AWS_DEFAULT_PROFILE: profile "nowhere" not found`)
}

func TestBuiltInAttemptsDependOnBehaviorAndService(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		behavior retry.Behavior
		service  string
		want     int
	}{
		{retry.V20, "dynamodb", 3},
		{retry.V21, "", 3},
		{retry.V21, "s3", 3},
		{retry.V21, "dynamodb", 4},
		{retry.V21, "DynamoDB Streams", 4},
		{retry.V21, "dynamodb-streams", 4},
		{retry.V21, "dynamodbx", 3},
	} {
		s := world{opts: []awsretry.ResolveOption{awsretry.WithBehavior(c.behavior), awsretry.WithService(c.service)}}.mustResolve(t)
		require.Equal(t, c.want, s.MaxAttempts.Value, "%v", c)
		require.Equal(t, c.service, s.Service)
	}
	s := world{
		env:  map[string]string{"AWS_MAX_ATTEMPTS": "2"},
		opts: []awsretry.ResolveOption{awsretry.WithService("dynamodb")},
	}.mustResolve(t)
	require.Equal(t, 2, s.MaxAttempts.Value)
}

func TestNewRetriesVariableDecidesNothing(t *testing.T) {
	t.Parallel()
	for raw, found := range map[string][]string{
		"": {}, " \t": {}, "true": {"no-effect"}, "false": {"no-effect"}, "1": {"no-effect"}, "no\n": {"no-effect"},
	} {
		for _, b := range []retry.Behavior{retry.V20, retry.V21} {
			s := world{
				env:  map[string]string{"AWS_NEW_RETRIES_2026": raw},
				opts: []awsretry.ResolveOption{awsretry.WithBehavior(b)},
			}.mustResolve(t)
			require.Equal(t, b, s.Behavior.Value, "%q", raw)
			require.Equal(t, found, codes(s.Diagnostics), "%q", raw)
		}
	}
	s := world{env: map[string]string{"AWS_NEW_RETRIES_2026": "false"}}.mustResolve(t)
	require.Equal(t, retry.V21, s.Behavior.Value)
	require.Contains(t, s.Diagnostics[0].Message, "AWS removed it on 2026-11-10")
}

func TestLaterOptionsCountAndNilOnesAreSkipped(t *testing.T) {
	t.Parallel()
	s := world{opts: []awsretry.ResolveOption{
		awsretry.WithMode(awsretry.ModeStandard), nil, awsretry.WithMode(awsretry.ModeAdaptive),
	}}.mustResolve(t)
	require.Equal(t, awsretry.ModeAdaptive, s.RetryMode.Value)
	require.Empty(t, s.RetryMode.Overridden)
	require.Equal(t, "default", s.Behavior.Origin.Kind)
}

func TestOptionsWithEmptyArgumentsAreAsIfTheyWereAbsent(t *testing.T) {
	t.Parallel()
	w := world{
		config: "[default]\nmax_attempts = 4\n[profile a]\nmax_attempts = 5\n",
		opts: []awsretry.ResolveOption{
			awsretry.WithProfile("a"), awsretry.WithConfigFile(configPath), awsretry.WithCredentialsFile("/none"),
			awsretry.WithService("dynamodb"), awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithBehavior(retry.V20),
			awsretry.WithDefaultMode(awsretry.ModeStandard),
		},
	}
	want := w.mustResolve(t)
	require.Equal(t, []any{"a", awsretry.ModeAdaptive, 5, retry.V20, "dynamodb"},
		[]any{want.Profile.Value, want.RetryMode.Value, want.MaxAttempts.Value, want.Behavior.Value, want.Service})
	empty := []awsretry.ResolveOption{
		awsretry.WithProfile(""), awsretry.WithConfigFile(""), awsretry.WithCredentialsFile(""), awsretry.WithEnv(nil), awsretry.WithFS(nil),
		awsretry.WithService(""), awsretry.WithMode(""), awsretry.WithBehavior(""), awsretry.WithDefaultMode(""),
	}
	w.opts = append(w.opts, empty...)
	require.Equal(t, want, w.mustResolve(t))
	w.opts = empty
	require.Equal(t, world{config: w.config}.mustResolve(t), w.mustResolve(t))
}

func TestDoneContextResolvesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := awsretry.Resolve(ctx, awsretry.WithEnv(func(string) (string, bool) {
		require.Fail(t, "the environment is read")
		return "", false
	}))
	require.ErrorIs(t, err, context.Canceled)
}

func TestStrictReadingLeavesOtherFindingsWarnings(t *testing.T) {
	t.Parallel()
	w := world{
		env:    map[string]string{"AWS_DEFAULT_PROFILE": "a", "AWS_PROFILE": "default", "AWS_SDK_LOAD_CONFIG": "1"},
		config: "[default]\nretry-mode = adaptive\nx = 1\nx = 2\n[profile a]\nmax_attempts = 4\n",
	}
	loose := w.mustResolve(t)
	require.Len(t, loose.Diagnostics, 7)
	w.opts = []awsretry.ResolveOption{awsretry.WithStrict()}
	require.Equal(t, loose, w.mustResolve(t))
}

func TestSettingsAsJSON(t *testing.T) {
	t.Parallel()
	s := world{
		env:    map[string]string{"AWS_MAX_ATTEMPTS": "5"},
		config: "[default]\nmax_attempts = x\n",
	}.mustResolve(t)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"profile": {"value": "default", "raw": "default", "origin": {"kind": "default"}, "overridden": []},
		"retry_mode": {"value": "standard", "raw": "standard", "origin": {"kind": "default"}, "overridden": []},
		"max_attempts": {"value": 5, "raw": "5", "origin": {"kind": "environment", "name": "AWS_MAX_ATTEMPTS"}, "overridden": [
			{"raw": "x", "valid": false, "origin": {"kind": "shared-config", "file": "/home/me/.aws/config", "line": 2,
				"profile": "default", "key": "max_attempts"}}]},
		"max_backoff": {"value": 20000000000, "raw": "20s", "origin": {"kind": "default"}, "overridden": []},
		"min_delay": {"value": 0, "raw": "0s", "origin": {"kind": "default"}, "overridden": []},
		"max_elapsed": {"value": 0, "raw": "0s", "origin": {"kind": "default"}, "overridden": []},
		"behavior": {"value": "v2.1", "raw": "v2.1", "origin": {"kind": "default"}, "overridden": []},
		"files": [{"kind": "config", "path": "/home/me/.aws/config", "status": "loaded"},
			{"kind": "credentials", "path": "/home/me/.aws/credentials", "status": "missing"}],
		"diagnostics": [{"severity": "warning", "code": "invalid-value", "file": "/home/me/.aws/config", "line": 2,
			"message": "[default] max_attempts: \"x\": must be a decimal integer from 1 to 2147483647; another value wins, so it is ignored"},
			{"severity": "warning", "code": "read-differently", "file": "/home/me/.aws/config", "line": 2, "tools": ["aws-sdk-go-v2"],
			"message": "aws-sdk-go-v2: the value is refused, although AWS_MAX_ATTEMPTS overrides it"}]
	}`, string(data))
}
