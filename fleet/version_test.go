package fleet_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// A parameter that is not in the digest would let two versions of the rules steer one key.
func TestKeyHasADigestOfAllParametersOfTheRules(t *testing.T) {
	t.Parallel()
	names := func(n ast.Node) (all []string) {
		ast.Inspect(n, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				all = append(all, name.Name)
			}
			return true
		})
		return all
	}
	parse := func(file string) *ast.File {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		return parsed
	}
	inDigest := names(parse("version.go"))
	rules, ok := parse("parameters.go").Decls[1].(*ast.GenDecl) // after the import
	require.True(t, ok)
	require.Greater(t, len(rules.Specs), 20)
	for _, spec := range rules.Specs {
		value, ok := spec.(*ast.ValueSpec)
		require.True(t, ok)
		for _, name := range value.Names {
			require.Contains(t, inDigest, name.Name)
		}
	}
}
