package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
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
	}{
		{name: "nothing", want: "default from built-in default"},
		{name: "AWS_DEFAULT_PROFILE", env: map[string]string{second: "b"}, want: "b from AWS_DEFAULT_PROFILE"},
		{name: "AWS_DEFAULT_PROFILE that no file has", env: map[string]string{second: "none"}, want: "none from AWS_DEFAULT_PROFILE"},
		{name: "both", env: map[string]string{first: "a", second: "b"}, want: "a from AWS_PROFILE", lost: []string{second}},
		{name: "empty AWS_PROFILE", env: map[string]string{first: "", second: "b"}, want: "b from AWS_DEFAULT_PROFILE"},
		{name: "empty AWS_DEFAULT_PROFILE", env: map[string]string{first: "a", second: ""}, want: "a from AWS_PROFILE"},
		{
			name: "AWS_DEFAULT_PROFILE of whitespace", env: map[string]string{first: "a", second: " \t\u00a0"},
			want: "a from AWS_PROFILE", lost: []string{second},
		},
		{name: "whitespace is part of a name", env: map[string]string{first: " c "}, want: " c  from AWS_PROFILE"},
		{
			name: "option", option: "b", env: map[string]string{first: "a", second: "none"},
			want: "b from option WithSources", lost: []string{first, second},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := world.Texts("[profile a]\n[profile b]\n[profile ' c ']\n", "")
			src.LookupEnv = world.LookupIn(c.env)
			settings, err := config.Query{Sources: world.As(src, c.option)}.Resolve()
			require.NoError(t, err)
			require.Equal(t, c.want, settings.Profile.Value+" from "+settings.Profile.Origin.String())
			lost := []config.Candidate{}
			for _, name := range c.lost {
				lost = append(lost, config.Candidate{Raw: c.env[name], Valid: true, Origin: config.Origin{Kind: "environment", Name: name}})
			}
			require.Equal(t, lost, settings.Profile.Overridden)
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
		settings, err := config.Query{Sources: world.As(src, "a")}.Resolve()
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

func TestOneProfileAllocatesTheSameInAnyFile(t *testing.T) {
	count := func(n int) float64 {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "[profile p%[1]d]\nregion = eu-west-1\nmax_attempts = %[1]d\nrole_arn = arn:aws:iam::1:role/r%[1]d\n", i+1)
		}
		src := world.Texts(text.String(), "[p5]\naws_access_key_id = x\n")
		return testing.AllocsPerRun(2, func() {
			settings, err := config.Query{Sources: world.As(src, "p5")}.Resolve()
			require.NoError(t, err)
			require.Equal(t, 5, settings.MaxAttempts.Value)
		})
	}
	require.InDelta(t, count(200), count(5000), 2)
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
