package config_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/lint"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

func TestProfileIsChosenByOptionThenVariablesThenDefault(t *testing.T) {
	t.Parallel()
	const first, second = "AWS_PROFILE", "AWS_DEFAULT_PROFILE"
	for _, c := range []struct {
		name, option string
		env          map[string]string
		want         string   // the profile and its origin
		lost         []string // variables
		warns        bool
	}{
		{name: "nothing", want: "default from built-in default"},
		{name: "AWS_PROFILE", env: map[string]string{first: "a"}, want: "a from AWS_PROFILE"},
		{name: "AWS_DEFAULT_PROFILE", env: map[string]string{second: "b"}, want: "b from AWS_DEFAULT_PROFILE"},
		{name: "both", env: map[string]string{first: "a", second: "b"}, want: "a from AWS_PROFILE", lost: []string{second}, warns: true},
		{name: "empty AWS_PROFILE", env: map[string]string{first: "", second: "b"}, want: "b from AWS_DEFAULT_PROFILE"},
		{name: "empty AWS_DEFAULT_PROFILE", env: map[string]string{first: "a", second: ""}, want: "a from AWS_PROFILE"},
		{
			name: "AWS_DEFAULT_PROFILE of whitespace", env: map[string]string{first: "a", second: " \t\u00a0"},
			want: "a from AWS_PROFILE", lost: []string{second},
		},
		{name: "whitespace is part of a name", env: map[string]string{first: " c "}, want: " c  from AWS_PROFILE"},
		{
			name: "option", option: "b", env: map[string]string{first: "a", second: "none"},
			want: "b from option WithProfile", lost: []string{first, second}, warns: true,
		},
		{name: "option above AWS_DEFAULT_PROFILE", option: "b", env: map[string]string{second: "a"}, want: "b from option WithProfile", lost: []string{second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := world.Texts("[profile a]\n[profile b]\n[profile ' c ']\n", "")
			src.LookupEnv = world.LookupIn(c.env)
			settings, err := lint.Resolve(config.Query{Sources: src, Profile: c.option})
			require.NoError(t, err)
			require.Equal(t, c.want, settings.Profile.Value+" from "+settings.Profile.Origin.String())
			lost := []config.Candidate{}
			for _, name := range c.lost {
				lost = append(lost, config.Candidate{Raw: c.env[name], Valid: true, Origin: config.Origin{Kind: "environment", Name: name}})
			}
			require.Equal(t, lost, settings.Profile.Overridden)
			found := []string{}
			if c.warns {
				found = append(found, "warning: AWS_DEFAULT_PROFILE is set and has no effect: AWS_PROFILE comes before it [no-effect]")
			}
			require.Equal(t, found, world.Lines(world.Without(settings.Diagnostics)))
		})
	}
}

func TestOverriddenListsTheLastHundredValuesOfAFile(t *testing.T) {
	t.Parallel()
	text := func(header string) string {
		return header + strings.Repeat("retry_mode = standard\n", 3) + strings.Repeat("max_attempts = 5\nMax_Attempts: 6\n", 500)
	}
	lines := func(candidates []config.Candidate) (all []int) {
		for _, c := range candidates {
			all = append(all, c.Origin.Line)
		}
		return all
	}
	for env, winner := range map[string]string{"": "/k:1004: [a] max_attempts", "2": "AWS_MAX_ATTEMPTS"} {
		src := world.Texts(text("[profile a]\n"), text("[a]\n"))
		src.LookupEnv = world.LookupIn(map[string]string{"AWS_MAX_ATTEMPTS": env})
		settings, err := config.Query{Sources: src, Profile: "a"}.Resolve()
		require.NoError(t, err)
		require.Equal(t, winner, settings.MaxAttempts.Origin.String())
		var want []int
		for i := range 200 {
			if want = append(want, 1004-i%100); i == 0 && env == "" {
				want = nil // It is the winner.
			}
		}
		require.Equal(t, want, lines(settings.MaxAttempts.Overridden))
		require.Equal(t, []int{3, 2, 4, 3, 2}, lines(settings.RetryMode.Overridden))
	}
}

// TestInputsThatOtherToolsGetWrong has inputs that other tools drop, leak or refuse, as their
// users have reported.
func TestInputsThatOtherToolsGetWrong(t *testing.T) {
	t.Parallel()
	const mode, attempts = "AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS"
	for name, c := range map[string]struct {
		env                 map[string]string
		config, credentials string
		want                string // The mode, the attempts, and the codes of the findings.
	}{
		"legacy overridden by the environment":  {map[string]string{mode: "adaptive"}, "[default]\nretry_mode = legacy\n", "", "adaptive 3 read-differently"},
		"legacy that wins":                      {nil, "[default]\nretry_mode = legacy\n", "", "standard 3 mapped-mode read-differently"},
		"legacy in an unused profile":           {nil, "[profile old]\nretry_mode = legacy\n[default]\nmax_attempts = 4\n", "", "standard 4 unused-profile"},
		"adaptive_v2 in capitals":               {map[string]string{mode: "ADAPTIVE_V2"}, "", "", "adaptive 3 read-differently mapped-mode"},
		"capitalised mode":                      {nil, "[default]\nretry_mode = Standard\n", "", "standard 3 read-differently"},
		"unknown mode that loses":               {map[string]string{mode: "adaptive"}, "[default]\nretry_mode = bogus\n", "", "adaptive 3 invalid-value read-differently"},
		"comment after a blank":                 {nil, "[default]\nmax_attempts = 5 # five\n", "", "standard 5 read-differently"},
		"blanks around a variable":              {map[string]string{attempts: " 9\t"}, "", "", "standard 9 read-differently"},
		"blank variable":                        {map[string]string{attempts: " ", mode: "\u00a0"}, "[default]\nmax_attempts = 7\n", "", "standard 7 read-differently read-differently"},
		"misspelt keys":                         {nil, "[default]\nretry-mode = adaptive\nmax_attempt = 9\n", "", "standard 3 misspelt-key misspelt-key"},
		"both spellings of the default profile": {nil, "[profile default]\nmax_attempts = 6\n[default]\nmax_attempts = 4\n", "", "standard 6 default-twice read-differently"},
		"both files":                            {nil, "[default]\nmax_attempts = 6\n", "[default]\nmax_attempts = 2\n", "standard 2 read-differently shadowed-key"},
		"same key twice":                        {nil, "[default]\nmax_attempts = 6\nmax_attempts = 2\n", "", "standard 2 duplicate-key read-differently"},
		"same section twice":                    {nil, "[default]\nmax_attempts = 6\n[default]\nretry_mode = adaptive\n", "", "adaptive 6 duplicate-section read-differently"},
		"file variable that points nowhere":     {map[string]string{"AWS_CONFIG_FILE": "/nowhere"}, "", "", "standard 3 missing-file"},
		"switches of other tools":               {map[string]string{"AWS_SDK_LOAD_CONFIG": "1", "AWS_NEW_RETRIES_2026": "false"}, "", "", "standard 3 no-effect no-effect"},
		"empty switches of other tools":         {map[string]string{"AWS_SDK_LOAD_CONFIG": "", "AWS_NEW_RETRIES_2026": "\t\u00a0"}, "", "", "standard 3"},
		"section without the word profile":      {nil, "[x]\nmax_attempts = 9\n[default]\n", "", "standard 3 ignored-section"},
		"indented setting":                      {nil, "[default]\nregion = x\n  max_attempts = 9\n", "", "standard 3 indented-key read-differently"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := lint.Resolve(world.Home{Env: c.env, Config: c.config, Credentials: c.credentials}.Query())
			require.NoError(t, err)
			got := append([]string{string(s.RetryMode.Value), strconv.Itoa(s.MaxAttempts.Value)}, world.Codes(s.Diagnostics)...)
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

// Resolve has no findings, and those of lint are the same in strict reading.
func TestFindingsLeaveTheSettingsAsTheyAre(t *testing.T) {
	t.Parallel()
	q := world.Home{
		Env:         map[string]string{"AWS_DEFAULT_PROFILE": "a", "AWS_PROFILE": "default", "AWS_SDK_LOAD_CONFIG": "1"},
		Config:      "[default]\nretry-mode = adaptive\nx = 1\nx = 2\nmax_attempts = ten\n[profile a]\nmax_attempts = 4\n",
		Credentials: "[default]\nmax_attempts = 5\n",
	}.Query()
	loose, err := lint.Resolve(q)
	require.NoError(t, err)
	require.Len(t, loose.Diagnostics, 10)
	alone, err := q.Resolve()
	require.NoError(t, err)
	require.Equal(t, []config.Diagnostic{}, alone.Diagnostics)
	q.Strict = true
	strict, err := lint.Resolve(q)
	require.NoError(t, err)
	require.Equal(t, loose, strict)
	alone.Diagnostics = loose.Diagnostics
	require.Equal(t, loose, alone)
}

func TestValueOfAProgramCountsWhateverItsOriginIsCalled(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]int{"option": 9, "flag": 9, "": 9, "default": 7} {
		q := world.Home{Env: map[string]string{"AWS_MAX_ATTEMPTS": "7"}}.Query()
		q.Given = []config.Candidate{{Raw: "9", Origin: config.Origin{Kind: kind, Key: "max_attempts"}}}
		settings, err := q.Resolve()
		require.NoError(t, err)
		require.Equal(t, want, settings.MaxAttempts.Value, "kind %q", kind)
	}
}
