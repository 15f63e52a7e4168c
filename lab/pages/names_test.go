//go:build !race

package pages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var filePattern = regexp.MustCompile(`\w[\w/]*\.go\b`)

// TestFilesOfTheArchitecturePageExist takes a name without a folder for a file of one of the
// packages that the drawings with such names are about.
func TestFilesOfTheArchitecturePageExist(t *testing.T) {
	t.Parallel()
	names := filePattern.FindAllString(read(t, "docs/architecture.md"), -1)
	require.Greater(t, len(names), 30)
	for _, name := range names {
		found := slices.ContainsFunc([]string{".", "awssdk", "httpretry", "config"}, func(folder string) bool {
			_, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
			return err == nil
		})
		require.True(t, found, name)
	}
}

// exported returns the exported top-level names of a package, as other packages write them.
func exported(t *testing.T, folder string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	var names []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		add := func(name *ast.Ident) {
			if name.IsExported() {
				names = append(names, file.Name.Name+"."+name.Name)
			}
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						add(s.Name)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							add(name)
						}
					}
				}
			}
		}
	}
	require.NotEmpty(t, names, folder)
	return names
}

// TestEveryExportedNameIsShownOrExplained holds that a page names each exported name as code,
// or that an example uses it.
func TestEveryExportedNameIsShownOrExplained(t *testing.T) {
	t.Parallel()
	shown := examples(t) + files(t, "examples/*/*.go", "awssdk/examples/*/main.go")
	var explained strings.Builder
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "README.md", "lab/conformance/README.md") {
		for _, code := range codePattern.FindAllString(strings.Join(prose(t, page), "\n"), -1) {
			explained.WriteString(code)
		}
	}
	for _, folder := range []string{
		".", "retry", "classify", "clock", "config", "ratelimit", "modes/standard", "modes/adaptive", "httpretry", "awssdk",
		"metrics/promretry", "metrics/otelretry", "fleet", "fleet/redisstore",
	} {
		for _, name := range exported(t, folder) {
			_, bare, _ := strings.Cut(name, ".")
			known := regexp.MustCompile(`\b`+name+`\b`).MatchString(shown) ||
				regexp.MustCompile(`\b`+bare+`\b`).MatchString(explained.String())
			require.True(t, known, "no example and no page has %s", name)
		}
	}
}
