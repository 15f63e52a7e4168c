package awsretry_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
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
		awsretry.WithFS(sharedfile.Machine{FS: files, Platform: "linux", HomeDir: func() (string, error) { return "/home/me", nil }}),
		awsretry.WithEnv(variables(env).lookup),
	}
}

func (w world) mustResolve(t *testing.T) *awsretry.Settings {
	t.Helper()
	s, err := w.resolve(t)
	require.NoError(t, err)
	return s
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
		awsretry.WithService(""), nil, awsretry.WithMode(""), awsretry.WithBehavior(""), awsretry.WithDefaultMode(""),
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

func TestLosingDefaultsInCodeAreOnlyWarnings(t *testing.T) {
	t.Parallel()
	s := world{opts: []awsretry.ResolveOption{awsretry.WithMode("standard"), awsretry.WithDefaultMode("nope")}}.mustResolve(t)
	require.Len(t, s.Diagnostics, 1)
	require.Equal(t, "invalid-value", s.Diagnostics[0].Code)
	require.False(t, s.RetryMode.Overridden[0].Valid)
}

func TestBadArgumentOfAnOptionIsAnErrorThatNamesTheOption(t *testing.T) {
	t.Parallel()
	for want, option := range map[string]awsretry.ResolveOption{
		`WithMode: "x": must be standard or adaptive`:                                     awsretry.WithMode("x"),
		`WithDefaultMode: "x": must be standard or adaptive`:                              awsretry.WithDefaultMode("x"),
		`WithBehavior: "v3": must be v2.0 or v2.1`:                                        awsretry.WithBehavior("v3"),
		`WithMaxBackoff: "-1s": must be a duration above zero, such as 20s`:               awsretry.WithMaxBackoff(-time.Second),
		`WithMinDelay: "-1s": must be a duration of zero or more, such as 300ms or 1m30s`: awsretry.WithMinDelay(-time.Second),
		`WithStandard: max_backoff: "-1ns": must be a duration above zero, such as 20s`:   awsretry.WithStandard(standard.Config{MaxBackoff: -1}),
	} {
		_, err := world{opts: []awsretry.ResolveOption{option}}.resolve(t)
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
	s, err := awsretry.Resolve(t.Context(), awsretry.WithCredentialsFile(filepath.Join(home, "none")))
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
	all := 0
	for _, c := range []struct {
		resolves, builds bool // Whether Resolve takes it, and whether New and NewFactory do.
		options          []any
	}{
		{true, false, []any{
			awsretry.WithProfile, awsretry.WithConfigFile, awsretry.WithCredentialsFile, awsretry.WithEnv, awsretry.WithFS, awsretry.WithService,
			awsretry.WithStrict, awsretry.WithMode, awsretry.WithMaxAttempts, awsretry.WithBehavior, awsretry.WithDefaultMode, awsretry.WithValues,
			awsretry.WithMaxBackoff, awsretry.WithMinDelay,
		}},
		{true, true, []any{awsretry.WithConfig, awsretry.WithStandard}},
		{false, true, []any{
			awsretry.WithClock, awsretry.WithObserver, awsretry.WithRetryIf, awsretry.WithClassifier, awsretry.WithRandom, awsretry.WithoutQuota,
		}},
	} {
		all += len(c.options)
		for i, option := range c.options {
			result := reflect.TypeOf(option).Out(0)
			require.Equal(t, c.resolves, result.AssignableTo(takes(awsretry.Resolve)), "%d of %v", i, c)
			require.Equal(t, c.builds, result.AssignableTo(takes(awsretry.New)), "%d of %v", i, c)
			require.True(t, result.AssignableTo(takes(awsretry.Load)), "%d of %v", i, c)
		}
	}
	require.Equal(t, takes(awsretry.New), takes(awsretry.NewFactory))
	require.Len(t, optionsInSource(t), all)
}

// optionsInSource returns the names of all functions of this package that begin with With.
func optionsInSource(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var names []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "With") {
				names = append(names, f.Name.Name)
			}
		}
	}
	require.NotEmpty(t, names)
	return names
}
