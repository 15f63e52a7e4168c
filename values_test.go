package awsretry_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/standard"
)

// TestInputsThatOtherToolsGetWrong has inputs that other tools drop, leak or refuse, as their
// users have reported.
func TestInputsThatOtherToolsGetWrong(t *testing.T) {
	t.Parallel()
	legacy := "[default]\nretry_mode = legacy\n"
	for _, c := range []struct {
		name     string
		in       world
		mode     config.Mode
		attempts int
		codes    []string
	}{
		{
			"legacy overridden by code",
			world{config: legacy, opts: []awsretry.ResolveOption{awsretry.WithMode("adaptive")}},
			"adaptive", 3,
			[]string{"read-differently"},
		},
		{
			"legacy overridden by the environment",
			world{config: legacy, env: map[string]string{"AWS_RETRY_MODE": "adaptive"}},
			"adaptive", 3,
			[]string{"read-differently"},
		},
		{"legacy that wins", world{config: legacy}, "standard", 3, []string{"mapped-mode", "read-differently"}},
		{
			"legacy in an unused profile",
			world{config: "[profile old]\nretry_mode = legacy\n[default]\nmax_attempts = 4\n"},
			"standard", 4,
			[]string{"unused-profile"},
		},
		{"adaptive_v2 in capitals", world{env: map[string]string{"AWS_RETRY_MODE": "ADAPTIVE_V2"}}, "adaptive", 3, []string{"read-differently", "mapped-mode"}},
		{"capitalised mode", world{config: "[default]\nretry_mode = Standard\n"}, "standard", 3, []string{"read-differently"}},
		{
			"unknown mode that loses",
			world{config: "[default]\nretry_mode = bogus\n", env: map[string]string{"AWS_RETRY_MODE": "adaptive"}},
			"adaptive", 3,
			[]string{"invalid-value", "read-differently"},
		},
		{"comment after a blank", world{config: "[default]\nmax_attempts = 5 # five\n"}, "standard", 5, []string{"read-differently"}},
		{"blanks around a variable", world{env: map[string]string{"AWS_MAX_ATTEMPTS": " 9\t"}}, "standard", 9, []string{"read-differently"}},
		{"blank variable", world{env: map[string]string{"AWS_MAX_ATTEMPTS": " "}, config: "[default]\nmax_attempts = 7\n"}, "standard", 7, []string{"read-differently"}},
		{
			"misspelt keys",
			world{config: "[default]\nretry-mode = adaptive\nmax_attempt = 9\n"},
			"standard", 3,
			[]string{"misspelt-key", "misspelt-key"},
		},
		{
			"both spellings of the default profile",
			world{config: "[profile default]\nmax_attempts = 6\n[default]\nmax_attempts = 4\n"},
			"standard", 6,
			[]string{"default-twice", "read-differently"},
		},
		{
			"both files",
			world{config: "[default]\nmax_attempts = 6\n", credentials: "[default]\nmax_attempts = 2\n"},
			"standard", 2,
			[]string{"read-differently", "shadowed-key"},
		},
		{
			"same key twice",
			world{config: "[default]\nmax_attempts = 6\nmax_attempts = 2\n"},
			"standard", 2,
			[]string{"duplicate-key", "read-differently"},
		},
		{
			"same section twice",
			world{config: "[default]\nmax_attempts = 6\n[default]\nretry_mode = adaptive\n"},
			"adaptive", 6,
			[]string{"duplicate-section", "read-differently"},
		},
		{
			"file variable that points nowhere",
			world{env: map[string]string{"AWS_CONFIG_FILE": "/nowhere"}},
			"standard", 3,
			[]string{"missing-file"},
		},
		{
			"switches of other tools",
			world{env: map[string]string{"AWS_SDK_LOAD_CONFIG": "1", "AWS_NEW_RETRIES_2026": "true"}},
			"standard", 3,
			[]string{"no-effect", "no-effect"},
		},
		{
			"setting in a section without the word profile",
			world{config: "[x]\nmax_attempts = 9\n[default]\n"},
			"standard", 3,
			[]string{"ignored-section"},
		},
		{
			"indented setting",
			world{config: "[default]\nregion = x\n  max_attempts = 9\n"},
			"standard", 3,
			[]string{"indented-key", "read-differently"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.in.mustResolve(t)
			require.Equal(t, c.mode, s.RetryMode.Value)
			require.Equal(t, c.attempts, s.MaxAttempts.Value)
			require.Equal(t, c.codes, codes(s.Diagnostics))
		})
	}
}

func TestWinnerThatIsNotAcceptedNamesPlaceValueAndRange(t *testing.T) {
	t.Parallel()
	const attempts = "must be a decimal integer from 1 to 2147483647"
	const multiLine = "must be a single line (in a file, a line that is indented deeper continues the one above)"
	for _, c := range []struct {
		name string
		in   world
		want string
	}{
		{"unknown mode", world{env: map[string]string{"AWS_RETRY_MODE": "bogus"}}, `AWS_RETRY_MODE: "bogus": must be standard or adaptive`},
		{
			"unknown mode in a profile",
			world{config: "[profile x]\nretry_mode = bogus\n", opts: []awsretry.ResolveOption{awsretry.WithProfile("x")}},
			configPath + `:2: [profile x] retry_mode: "bogus": must be standard or adaptive`,
		},
		{
			"word for a number in credentials",
			world{credentials: "[x]\n\nmax_attempts = ten\n", env: map[string]string{"AWS_PROFILE": "x"}},
			credentialsPath + `:3: [x] max_attempts: "ten": ` + attempts,
		},
		{"comment that touches", world{config: "[default]\nmax_attempts = 5; five\n"}, configPath + `:2: [default] max_attempts: "5; five": ` + attempts},
		{"empty in a file", world{config: "[default]\nmax_attempts =\n"}, configPath + `:2: [default] max_attempts: "": ` + attempts},
		{"empty in credentials over config", world{config: "[default]\nretry_mode = adaptive\n", credentials: "[default]\nretry_mode =\n"}, credentialsPath + `:2: [default] retry_mode: "": must be standard or adaptive`},
		{"group", world{config: "[default]\nmax_attempts =\n a = 1\n"}, configPath + `:2: [default] max_attempts: "": ` + attempts},
		{
			"zero over a good file",
			world{env: map[string]string{"AWS_MAX_ATTEMPTS": "0"}, config: "[default]\nmax_attempts = 7\n"},
			`AWS_MAX_ATTEMPTS: "0": ` + attempts,
		},
		{"negative", world{env: map[string]string{"AWS_MAX_ATTEMPTS": "-1"}}, `AWS_MAX_ATTEMPTS: "-1": ` + attempts},
		{"newline in a variable", world{env: map[string]string{"AWS_RETRY_MODE": "standard\nx"}}, `AWS_RETRY_MODE: "standard\nx": ` + multiLine},
		{"indented line below", world{config: "[default]\nmax_attempts = 5\n region = x\n"}, configPath + `:2: [default] max_attempts: "5\n...": ` + multiLine},
		{"override of zero", world{opts: []awsretry.ResolveOption{awsretry.WithMaxAttempts(0)}}, `option WithMaxAttempts: "0": ` + attempts},
		{"override that does not exist", world{opts: []awsretry.ResolveOption{awsretry.WithMode("x")}}, `option WithMode: "x": must be standard or adaptive`},
		{"default that does not exist", world{opts: []awsretry.ResolveOption{awsretry.WithDefaultMode("x")}}, `option WithDefaultMode: "x": must be standard or adaptive`},
		{"behavior that does not exist", world{opts: []awsretry.ResolveOption{awsretry.WithBehavior("v3")}}, `option WithBehavior: "v3": must be v2.0 or v2.1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := c.in.resolve(t)
			require.EqualError(t, err, "config: "+c.want)
			value, ok := errors.AsType[*config.ValueError](err)
			require.True(t, ok)
			require.NotEmpty(t, value.Key)
			require.ErrorIs(t, err, value.Err)
		})
	}
}

func TestNumbersOfAttempts(t *testing.T) {
	t.Parallel()
	attempts := func(raw string) (*awsretry.Settings, error) {
		return world{env: map[string]string{"AWS_MAX_ATTEMPTS": raw}}.resolve(t)
	}
	for raw, want := range map[string]int{
		"1": 1, "+5": 5, "010": 10, "\t2 ": 2, "2147483647": math.MaxInt32, "00000000000000000000007": 7, "\u00a04\r\n": 4,
	} {
		s, err := attempts(raw)
		require.NoError(t, err, raw)
		require.Equal(t, want, s.MaxAttempts.Value, raw)
		require.Equal(t, raw, s.MaxAttempts.Raw)
	}
	for _, raw := range []string{
		"+", "-", "0", "000", "-1", "+-1", "++1", "3.5", "abc", "0x3", "1e3", "1_000", "2147483648",
		"99999999999999999999999", "٣", "1 2", "\u200b1",
	} {
		_, err := attempts(raw)
		require.ErrorContains(t, err, ": must be a decimal integer from 1 to 2147483647", raw)
	}
	_, err := world{opts: []awsretry.ResolveOption{awsretry.WithMaxAttempts(math.MaxInt32)}}.resolve(t)
	require.NoError(t, err)
}

func TestLosingDefaultsInCodeAreOnlyWarnings(t *testing.T) {
	t.Parallel()
	s := world{
		env: map[string]string{"AWS_MAX_ATTEMPTS": "2"},
		opts: []awsretry.ResolveOption{
			awsretry.WithStandard(standard.Config{MaxAttempts: -3}), awsretry.WithBehavior("v2.0"),
			awsretry.WithMode("standard"), awsretry.WithDefaultMode("nope"),
		},
	}.mustResolve(t)
	require.Equal(t, []string{"invalid-value", "invalid-value"}, codes(s.Diagnostics))
	require.False(t, s.MaxAttempts.Overridden[0].Valid)
}
