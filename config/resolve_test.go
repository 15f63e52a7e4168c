package config_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/lint"
	"github.com/awsretry/awsretry/internal/testonly/world"
	"github.com/awsretry/awsretry/retry"
)

func TestProfileIsChosenByOptionThenVariablesThenDefault(t *testing.T) {
	t.Parallel()
	variable := func(name string) config.Origin { return config.Origin{Kind: "environment", Name: name} }
	lost := func(name, value string) config.Candidate {
		return config.Candidate{Raw: value, Valid: true, Origin: variable(name)}
	}
	const beside = "warning: AWS_DEFAULT_PROFILE is set and has no effect: AWS_PROFILE comes before it [no-effect]"
	for _, c := range []struct {
		name       string
		env        map[string]string
		option     string
		want       string
		origin     config.Origin
		overridden []config.Candidate
		found      []string
	}{
		{name: "nothing", want: "default", origin: config.Origin{Kind: "default"}},
		{name: "AWS_PROFILE", env: map[string]string{"AWS_PROFILE": "a"}, want: "a", origin: variable("AWS_PROFILE")},
		{name: "AWS_DEFAULT_PROFILE", env: map[string]string{"AWS_DEFAULT_PROFILE": "b"}, want: "b", origin: variable("AWS_DEFAULT_PROFILE")},
		{
			name: "both", env: map[string]string{"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": "b"},
			want: "a", origin: variable("AWS_PROFILE"),
			overridden: []config.Candidate{lost("AWS_DEFAULT_PROFILE", "b")}, found: []string{beside},
		},
		{
			name: "the same in both", env: map[string]string{"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": "a"},
			want: "a", origin: variable("AWS_PROFILE"),
			overridden: []config.Candidate{lost("AWS_DEFAULT_PROFILE", "a")}, found: []string{beside},
		},
		{
			name: "empty AWS_PROFILE", env: map[string]string{"AWS_PROFILE": "", "AWS_DEFAULT_PROFILE": "b"},
			want: "b", origin: variable("AWS_DEFAULT_PROFILE"),
		},
		{
			name: "empty AWS_DEFAULT_PROFILE", env: map[string]string{"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": ""},
			want: "a", origin: variable("AWS_PROFILE"),
		},
		{
			name: "AWS_DEFAULT_PROFILE of whitespace", env: map[string]string{"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": " \t\u00a0"},
			want: "a", origin: variable("AWS_PROFILE"),
			overridden: []config.Candidate{lost("AWS_DEFAULT_PROFILE", " \t\u00a0")},
		},
		{
			name: "whitespace is part of a name", env: map[string]string{"AWS_PROFILE": " c "},
			want: " c ", origin: variable("AWS_PROFILE"),
		},
		{
			name: "option", option: "b", env: map[string]string{"AWS_PROFILE": "a", "AWS_DEFAULT_PROFILE": "none"},
			want: "b", origin: config.Origin{Kind: "option", Name: "WithProfile"},
			overridden: []config.Candidate{lost("AWS_PROFILE", "a"), lost("AWS_DEFAULT_PROFILE", "none")}, found: []string{beside},
		},
		{
			name: "option above AWS_DEFAULT_PROFILE", option: "b", env: map[string]string{"AWS_DEFAULT_PROFILE": "a"},
			want: "b", origin: config.Origin{Kind: "option", Name: "WithProfile"},
			overridden: []config.Candidate{lost("AWS_DEFAULT_PROFILE", "a")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := world.Texts("[profile a]\n[profile b]\n[profile ' c ']\n", "")
			src.LookupEnv = world.LookupIn(c.env)
			settings, err := lint.Resolve(config.Query{Sources: src, Profile: c.option})
			require.NoError(t, err)
			require.Equal(t, config.Setting[string]{
				Value: c.want, Raw: c.want, Origin: c.origin, Overridden: append([]config.Candidate{}, c.overridden...),
			}, settings.Profile)
			require.Equal(t, append([]string{}, c.found...), world.Lines(world.Without(settings.Diagnostics)))
		})
	}
}

func TestNamedProfileMustExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"AWS_PROFILE", "AWS_DEFAULT_PROFILE"} {
		for _, profile := range []string{"none", "default", " "} {
			src := world.Texts("[profile staging]\n", "")
			src.LookupEnv = world.LookupIn(map[string]string{name: profile})
			_, err := lint.Resolve(config.Query{Sources: src})
			missing, ok := errors.AsType[*config.ProfileNotFoundError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, profile, missing.Profile)
			require.Equal(t, config.Origin{Kind: "environment", Name: name}, missing.Origin)
			require.EqualError(t, err, "config: "+name+": profile "+strconv.Quote(profile)+" not found in /c or /k")
		}
	}
	settings, err := lint.Resolve(config.Query{Sources: world.Texts("", "")})
	require.NoError(t, err)
	require.Equal(t, "default", settings.Profile.Value)
}

func TestVariablesWithoutEffectAreFindings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"AWS_NEW_RETRIES_2026", "AWS_SDK_LOAD_CONFIG"} {
		for value, warns := range map[string]bool{
			"true": true, "false": true, "0": true, "1": true, "anything": true, " x ": true,
			"": false, " ": false, "\t\u00a0": false,
		} {
			src := world.Texts("", "")
			src.LookupEnv = world.LookupIn(map[string]string{name: value})
			settings, err := lint.Resolve(config.Query{Sources: src})
			require.NoError(t, err)
			require.Equal(t, config.Setting[retry.Behavior]{
				Value: retry.V21, Raw: "v2.1", Origin: config.Origin{Kind: "default"}, Overridden: []config.Candidate{},
			}, settings.Behavior)
			if !warns {
				require.Empty(t, settings.Diagnostics, "%s=%q", name, value)
				continue
			}
			require.Len(t, settings.Diagnostics, 1, "%s=%q", name, value)
			require.Equal(t, "no-effect", settings.Diagnostics[0].Code)
			require.Contains(t, settings.Diagnostics[0].Message, name+" is set and has no effect")
		}
	}
}

func TestVariableOfWhitespaceIsUnset(t *testing.T) {
	t.Parallel()
	src := world.Texts("[default]\nretry_mode = adaptive\nmax_attempts = 7\n", "")
	src.LookupEnv = world.LookupIn(map[string]string{"AWS_RETRY_MODE": " \t", "AWS_MAX_ATTEMPTS": "\u00a0"})
	settings, err := lint.Resolve(config.Query{Sources: src})
	require.NoError(t, err)
	require.Equal(t, "/c:2: [default] retry_mode", settings.RetryMode.Origin.String())
	require.Equal(t, "/c:3: [default] max_attempts", settings.MaxAttempts.Origin.String())
	require.Empty(t, settings.RetryMode.Overridden)
	require.Empty(t, settings.MaxAttempts.Overridden)
}

func TestOverriddenListsTheLastHundredValuesOfAFile(t *testing.T) {
	t.Parallel()
	text := func(header string) string {
		return header + strings.Repeat("retry_mode = standard\n", 3) + strings.Repeat("max_attempts = 5\nMax_Attempts: 6\n", 500)
	}
	src := world.Texts(text("[profile a]\n"), text("[a]\n"))
	lastLines := func(candidates []config.Candidate) (all []int) {
		for _, c := range candidates {
			all = append(all, c.Origin.Line)
		}
		return all
	}
	down := func(from, to int) (all []int) {
		for n := from; n >= to; n-- {
			all = append(all, n)
		}
		return all
	}
	settings, err := lint.Resolve(config.Query{Sources: src, Profile: "a"})
	require.NoError(t, err)
	require.Equal(t, "/k:1004: [a] max_attempts", settings.MaxAttempts.Origin.String())
	require.Equal(t, append(down(1003, 905), down(1004, 905)...), lastLines(settings.MaxAttempts.Overridden))
	require.Equal(t, []int{3, 2, 4, 3, 2}, lastLines(settings.RetryMode.Overridden))

	src.LookupEnv = world.LookupIn(map[string]string{"AWS_MAX_ATTEMPTS": "2"})
	settings, err = lint.Resolve(config.Query{Sources: src, Profile: "a"})
	require.NoError(t, err)
	require.Equal(t, append(down(1004, 905), down(1004, 905)...), lastLines(settings.MaxAttempts.Overridden))
}

func TestOriginNamesTheSectionAsTheFileDoes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[default]\nmax_attempts = 4\n":                         "/c:2: [default] max_attempts",
		"[profile default]\nmax_attempts = 4\n[default]\na = b": "/c:2: [profile default] max_attempts",
	} {
		s, err := lint.Resolve(config.Query{Sources: world.Texts(text, "")})
		require.NoError(t, err)
		require.Equal(t, want, s.MaxAttempts.Origin.String())
	}
}

func TestConfigIsWeakerThanAnOptionAndStrongerThanTheBuiltInDefaults(t *testing.T) {
	t.Parallel()
	q := config.Query{Sources: world.Texts("", "")}
	q.Given = []config.Candidate{world.InConfig("max_attempts", 5), world.InConfig("behavior", retry.V20)}
	s, err := lint.Resolve(q)
	require.NoError(t, err)
	ofConfig := config.Origin{Kind: "default", Name: "WithConfig"}
	require.Equal(t, config.Setting[int]{Value: 5, Raw: "5", Origin: ofConfig, Overridden: []config.Candidate{}}, s.MaxAttempts)
	require.Equal(t, config.Setting[retry.Behavior]{
		Value: retry.V20, Raw: "v2.0", Origin: ofConfig, Overridden: []config.Candidate{},
	}, s.Behavior)

	q.Given = append(q.Given, world.Option("WithMaxAttempts", "max_attempts", 6), world.Option("WithBehavior", "behavior", retry.V21))
	s, err = lint.Resolve(q)
	require.NoError(t, err)
	require.Equal(t, 6, s.MaxAttempts.Value)
	require.Equal(t, "option WithMaxAttempts", s.MaxAttempts.Origin.String())
	require.Equal(t, []config.Candidate{{Raw: "5", Valid: true, Origin: ofConfig}}, s.MaxAttempts.Overridden)
	require.Equal(t, retry.V21, s.Behavior.Value)
	require.Equal(t, []config.Candidate{{Raw: "v2.0", Valid: true, Origin: ofConfig}}, s.Behavior.Overridden)
}

// TestInputsThatOtherToolsGetWrong has inputs that other tools drop, leak or refuse, as their
// users have reported.
func TestInputsThatOtherToolsGetWrong(t *testing.T) {
	t.Parallel()
	legacy := "[default]\nretry_mode = legacy\n"
	for _, c := range []struct {
		name     string
		in       world.Home
		mode     config.Mode
		attempts int
		codes    []string
	}{
		{
			"legacy overridden by the environment",
			world.Home{Config: legacy, Env: map[string]string{"AWS_RETRY_MODE": "adaptive"}},
			"adaptive", 3,
			[]string{"read-differently"},
		},
		{"legacy that wins", world.Home{Config: legacy}, "standard", 3, []string{"mapped-mode", "read-differently"}},
		{
			"legacy in an unused profile",
			world.Home{Config: "[profile old]\nretry_mode = legacy\n[default]\nmax_attempts = 4\n"},
			"standard", 4,
			[]string{"unused-profile"},
		},
		{"adaptive_v2 in capitals", world.Home{Env: map[string]string{"AWS_RETRY_MODE": "ADAPTIVE_V2"}}, "adaptive", 3, []string{"read-differently", "mapped-mode"}},
		{"capitalised mode", world.Home{Config: "[default]\nretry_mode = Standard\n"}, "standard", 3, []string{"read-differently"}},
		{
			"unknown mode that loses",
			world.Home{Config: "[default]\nretry_mode = bogus\n", Env: map[string]string{"AWS_RETRY_MODE": "adaptive"}},
			"adaptive", 3,
			[]string{"invalid-value", "read-differently"},
		},
		{"comment after a blank", world.Home{Config: "[default]\nmax_attempts = 5 # five\n"}, "standard", 5, []string{"read-differently"}},
		{"blanks around a variable", world.Home{Env: map[string]string{"AWS_MAX_ATTEMPTS": " 9\t"}}, "standard", 9, []string{"read-differently"}},
		{"blank variable", world.Home{Env: map[string]string{"AWS_MAX_ATTEMPTS": " "}, Config: "[default]\nmax_attempts = 7\n"}, "standard", 7, []string{"read-differently"}},
		{
			"misspelt keys",
			world.Home{Config: "[default]\nretry-mode = adaptive\nmax_attempt = 9\n"},
			"standard", 3,
			[]string{"misspelt-key", "misspelt-key"},
		},
		{
			"both spellings of the default profile",
			world.Home{Config: "[profile default]\nmax_attempts = 6\n[default]\nmax_attempts = 4\n"},
			"standard", 6,
			[]string{"default-twice", "read-differently"},
		},
		{
			"both files",
			world.Home{Config: "[default]\nmax_attempts = 6\n", Credentials: "[default]\nmax_attempts = 2\n"},
			"standard", 2,
			[]string{"read-differently", "shadowed-key"},
		},
		{
			"same key twice",
			world.Home{Config: "[default]\nmax_attempts = 6\nmax_attempts = 2\n"},
			"standard", 2,
			[]string{"duplicate-key", "read-differently"},
		},
		{
			"same section twice",
			world.Home{Config: "[default]\nmax_attempts = 6\n[default]\nretry_mode = adaptive\n"},
			"adaptive", 6,
			[]string{"duplicate-section", "read-differently"},
		},
		{
			"file variable that points nowhere",
			world.Home{Env: map[string]string{"AWS_CONFIG_FILE": "/nowhere"}},
			"standard", 3,
			[]string{"missing-file"},
		},
		{
			"switches of other tools",
			world.Home{Env: map[string]string{"AWS_SDK_LOAD_CONFIG": "1", "AWS_NEW_RETRIES_2026": "true"}},
			"standard", 3,
			[]string{"no-effect", "no-effect"},
		},
		{
			"setting in a section without the word profile",
			world.Home{Config: "[x]\nmax_attempts = 9\n[default]\n"},
			"standard", 3,
			[]string{"ignored-section"},
		},
		{
			"indented setting",
			world.Home{Config: "[default]\nregion = x\n  max_attempts = 9\n"},
			"standard", 3,
			[]string{"indented-key", "read-differently"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := lint.Resolve(c.in.Query())
			require.NoError(t, err)
			require.Equal(t, c.mode, s.RetryMode.Value)
			require.Equal(t, c.attempts, s.MaxAttempts.Value)
			require.Equal(t, c.codes, world.Codes(s.Diagnostics))
		})
	}
}

func TestBuiltInAttemptsDependOnBehaviorAndService(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		behavior retry.Behavior
		service  string
		want     int
	}{
		{retry.V21, "", 3},
		{retry.V21, "s3", 3},
		{retry.V21, "DynamoDB Streams", 4},
		{retry.V20, "dynamodb", 3},
	} {
		q := world.Home{}.Query()
		q.Service, q.Given = c.service, []config.Candidate{world.Option("WithBehavior", "behavior", c.behavior)}
		s, err := lint.Resolve(q)
		require.NoError(t, err)
		require.Equal(t, config.Setting[int]{
			Value: c.want, Raw: strconv.Itoa(c.want), Origin: config.Origin{Kind: "default"}, Overridden: []config.Candidate{},
		}, s.MaxAttempts)
		require.Equal(t, c.service, s.Service)
	}
}

func TestStrictReadingLeavesOtherFindingsWarnings(t *testing.T) {
	t.Parallel()
	q := world.Home{
		Env:    map[string]string{"AWS_DEFAULT_PROFILE": "a", "AWS_PROFILE": "default", "AWS_SDK_LOAD_CONFIG": "1"},
		Config: "[default]\nretry-mode = adaptive\nx = 1\nx = 2\n[profile a]\nmax_attempts = 4\n",
	}.Query()
	loose, err := lint.Resolve(q)
	require.NoError(t, err)
	require.Len(t, loose.Diagnostics, 7)
	q.Strict = true
	strict, err := lint.Resolve(q)
	require.NoError(t, err)
	require.Equal(t, loose, strict)
}

func TestResolveAloneHasNoFindings(t *testing.T) {
	t.Parallel()
	src := world.Texts("[default]\nmax_attempts = 010\nretry-mode = x\nx\n[default]\nmax_attempts = ten\nretry_mode = legacy\n", "[default]\nmax_attempts = 5\n")
	alone, err := config.Query{Sources: src}.Resolve()
	require.NoError(t, err)
	require.Equal(t, []config.Diagnostic{}, alone.Diagnostics)
	full, err := lint.Resolve(config.Query{Sources: src})
	require.NoError(t, err)
	require.NotEmpty(t, full.Diagnostics)
	full.Diagnostics = alone.Diagnostics
	require.Equal(t, full, alone)
}

func TestValueOfAProgramCountsWhateverItsOriginIsCalled(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]int{"option": 9, "flag": 9, "": 9, "default": 7} {
		settings, err := config.Query{
			Given: []config.Candidate{{Raw: "9", Origin: config.Origin{Kind: kind, Key: "max_attempts"}}},
			Sources: config.Sources{
				LookupEnv: func(key string) (string, bool) { return "7", key == "AWS_MAX_ATTEMPTS" }, FS: fstest.MapFS{},
			},
		}.Resolve()
		require.NoError(t, err)
		require.Equal(t, want, settings.MaxAttempts.Value, "kind %q", kind)
	}
}
