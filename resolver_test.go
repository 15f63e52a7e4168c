package awsretry_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/modes/standard"
)

func TestOptionsWithEmptyArgumentsAreAsIfTheyWereAbsent(t *testing.T) {
	t.Parallel()
	const file = "[default]\nmax_attempts = 4\n[profile a]\nmax_attempts = 5\n"
	full := []awsretry.ResolveOption{
		awsretry.WithSources(awsretry.Sources{Profile: "b", ConfigFile: "/none"}),
		awsretry.WithSources(awsretry.Sources{Profile: "a", CredentialsFile: "/none"}), awsretry.WithSources(awsretry.Sources{ConfigFile: "/config"}),
		awsretry.WithMode(awsretry.ModeAdaptive), awsretry.WithDefaultMode(awsretry.ModeStandard),
	}
	want := resolved(t, nil, file, full...)
	require.Equal(t, []any{"a", awsretry.ModeAdaptive, 5, "/config", "/none"},
		[]any{want.Profile.Value, want.RetryMode.Value, want.MaxAttempts.Value, want.Files[0].Path, want.Files[1].Path})
	empty := []awsretry.ResolveOption{awsretry.WithSources(awsretry.Sources{}), nil, awsretry.WithMode(""), awsretry.WithDefaultMode("")}
	require.Equal(t, want, resolved(t, nil, file, append(full, empty...)...))
	require.Equal(t, resolved(t, nil, file), resolved(t, nil, file, empty...))
	_, reads := awsretry.WithSources(awsretry.Sources{}).(awsretry.SourceOption)
	require.False(t, reads)
}

func TestDoneContextResolvesNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := awsretry.Resolve(ctx, awsretry.WithSources(awsretry.Sources{LookupEnv: func(string) (string, bool) {
		require.Fail(t, "the environment is read")
		return "", false
	}}))
	require.ErrorIs(t, err, context.Canceled)
}

func TestBadArgumentOfAnOptionIsAnErrorThatNamesTheOption(t *testing.T) {
	t.Parallel()
	for want, option := range map[string]awsretry.ResolveOption{
		`WithMode: retry_mode: "x": must be standard or adaptive`:                                    awsretry.WithMode("x"),
		`WithDefaultMode: retry_mode: "x": must be standard or adaptive`:                             awsretry.WithDefaultMode("x"),
		`WithStandard: behavior: "v3": must be v2.0 or v2.1`:                                         awsretry.WithStandard(standard.Config{Behavior: "v3"}),
		`WithStandard: max_backoff: "-1s": must be a duration above zero, such as 20s`:               awsretry.WithStandard(standard.Config{MaxBackoff: -time.Second}),
		`WithStandard: min_delay: "-1s": must be a duration of zero or more, such as 300ms or 1m30s`: awsretry.WithStandard(standard.Config{MinDelay: -time.Second}),
	} {
		_, err := awsretry.Load(t.Context(), with(nil, "", option)...)
		require.EqualError(t, err, "config: option "+want)
	}
}

func TestResolveReadsTheProcessByDefault(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".aws"), 0o700))
	file := filepath.Join(home, ".aws", "config")
	require.NoError(t, os.WriteFile(file, []byte("[profile p]\nretry_mode = adaptive\n"), 0o600))
	t.Setenv("HOME", home)
	t.Setenv("AWS_PROFILE", "p")
	t.Setenv("AWS_MAX_ATTEMPTS", "8")
	t.Setenv("AWS_CONFIG_FILE", "")
	s, err := awsretry.Resolve(t.Context(), awsretry.WithSources(awsretry.Sources{CredentialsFile: filepath.Join(home, "none")}))
	require.NoError(t, err)
	require.Equal(t, 8, s.MaxAttempts.Value)
	require.Equal(t, file, s.RetryMode.Origin.File)
}

// TestOptionsCompileOnlyWhereTheyHaveAnEffect checks the result types of all options. A call
// such as New(settings, WithMode(m)) compiles if the result of WithMode can be assigned to the
// type of the parameter, which is what AssignableTo reports.
func TestOptionsCompileOnlyWhereTheyHaveAnEffect(t *testing.T) {
	t.Parallel()
	takes := func(function any) reflect.Type {
		f := reflect.TypeOf(function)
		return f.In(f.NumIn() - 1).Elem()
	}
	for _, c := range []struct {
		resolves, builds bool // Whether Resolve takes it, and whether New and NewFactory do.
		options          []any
	}{
		{true, false, []any{
			awsretry.WithSources, awsretry.WithStrict, awsretry.WithMode, awsretry.WithMaxAttempts, awsretry.WithDefaultMode, awsretry.WithValues,
		}},
		{true, true, []any{awsretry.WithConfig, awsretry.WithStandard}},
		{false, true, []any{
			awsretry.WithClock, awsretry.WithObserver, awsretry.WithRetryIf, awsretry.WithClassifier, awsretry.WithRandom, awsretry.WithoutQuota,
		}},
	} {
		for i, option := range c.options {
			result := reflect.TypeOf(option).Out(0)
			require.Equal(t, c.resolves, result.AssignableTo(takes(awsretry.Resolve)), "%d of %v", i, c)
			require.Equal(t, c.builds, result.AssignableTo(takes(awsretry.New)), "%d of %v", i, c)
			require.True(t, result.AssignableTo(takes(awsretry.Load)), "%d of %v", i, c)
		}
	}
	require.Equal(t, takes(awsretry.New), takes(awsretry.NewFactory))
}
