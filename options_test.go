package awsretry_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry"
)

// TestOptionsCompileOnlyWhereTheyHaveAnEffect checks the result types of all options. A call
// such as New(settings, WithMode(m)) compiles if the result of WithMode can be assigned to the
// type of the parameter, which is what AssignableTo reports.
func TestOptionsCompileOnlyWhereTheyHaveAnEffect(t *testing.T) {
	t.Parallel()
	resolves, builds, both := [2]bool{true, false}, [2]bool{false, true}, [2]bool{true, true}
	options := map[string]struct {
		function any
		want     [2]bool // Whether Resolve takes it, and whether New and NewFactory do.
	}{
		"WithProfile":         {awsretry.WithProfile, resolves},
		"WithConfigFile":      {awsretry.WithConfigFile, resolves},
		"WithCredentialsFile": {awsretry.WithCredentialsFile, resolves},
		"WithEnv":             {awsretry.WithEnv, resolves},
		"WithFS":              {awsretry.WithFS, resolves},
		"WithService":         {awsretry.WithService, resolves},
		"WithStrict":          {awsretry.WithStrict, resolves},
		"WithMode":            {awsretry.WithMode, resolves},
		"WithMaxAttempts":     {awsretry.WithMaxAttempts, resolves},
		"WithBehavior":        {awsretry.WithBehavior, resolves},
		"WithDefaultMode":     {awsretry.WithDefaultMode, resolves},
		"WithValues":          {awsretry.WithValues, resolves},
		"WithMaxBackoff":      {awsretry.WithMaxBackoff, resolves},
		"WithMinDelay":        {awsretry.WithMinDelay, resolves},
		"WithConfig":          {awsretry.WithConfig, both},
		"WithStandard":        {awsretry.WithStandard, both},
		"WithClock":           {awsretry.WithClock, builds},
		"WithObserver":        {awsretry.WithObserver, builds},
		"WithRetryIf":         {awsretry.WithRetryIf, builds},
		"WithClassifier":      {awsretry.WithClassifier, builds},
		"WithRandom":          {awsretry.WithRandom, builds},
	}
	takes := func(function any) reflect.Type {
		f := reflect.TypeOf(function)
		return f.In(f.NumIn() - 1).Elem()
	}
	for name, o := range options {
		result := reflect.TypeOf(o.function).Out(0)
		require.Equal(t, o.want, [2]bool{
			result.AssignableTo(takes(awsretry.Resolve)), result.AssignableTo(takes(awsretry.New)),
		}, name)
		require.True(t, result.AssignableTo(takes(awsretry.Load)), name)
	}
	require.Equal(t, takes(awsretry.New), takes(awsretry.NewFactory))
	for _, name := range optionsInSource(t) {
		require.Contains(t, options, name)
	}
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
