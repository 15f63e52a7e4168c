package awsretry_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a user of the core and of awssdk has to look through. A feature that needs names raises the limits in
// its own commit; nothing else does.
func TestExportedNamesStayFew(t *testing.T) {
	t.Parallel()
	var all names
	for _, dir := range []string{
		".", "retry", "classify", "clock", "config", "ratelimit", "modes/standard", "modes/adaptive", "httpretry", "awssdk",
	} {
		n := namesOf(t, dir)
		t.Logf("%-15s %3d at top level, %3d with methods, %3d with fields", dir, n.top, n.top+n.methods, n.all())
		all = names{all.top + n.top, all.methods + n.methods, all.fields + n.fields}
	}
	t.Logf("%-15s %3d at top level, %3d with methods, %3d with fields", "together", all.top, all.top+all.methods, all.all())
	require.LessOrEqual(t, all.top, 210, "names at top level")
	require.LessOrEqual(t, all.all(), 596, "names with methods and fields")
}

// names counts the exported names of a package: constants, variables, functions and types, the
// methods of these types, those of interfaces included, and the fields of these structs.
type names struct{ top, methods, fields int }

func (n names) all() int { return n.top + n.methods + n.fields }

func namesOf(t *testing.T, dir string) (n names) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	if len(files) == 0 {
		_, err := os.Stat(dir)
		require.NotErrorIs(t, err, fs.ErrNotExist)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declared := range file.Decls {
			n.add(declared)
		}
	}
	return n
}

func (n *names) add(declared ast.Decl) {
	switch d := declared.(type) {
	case *ast.FuncDecl:
		switch {
		case !d.Name.IsExported():
		case d.Recv == nil:
			n.top++
		case receiver(d.Recv.List[0].Type).IsExported():
			n.methods++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				n.top += exportedOf(s.Names)
			case *ast.TypeSpec:
				if !s.Name.IsExported() {
					continue
				}
				n.top++
				switch underlying := s.Type.(type) {
				case *ast.StructType:
					n.fields += members(underlying.Fields)
				case *ast.InterfaceType:
					n.methods += members(underlying.Methods)
				}
			}
		}
	}
}

func receiver(of ast.Expr) *ast.Ident {
	switch e := of.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	default:
		return of.(*ast.Ident)
	}
}

func members(list *ast.FieldList) (n int) {
	for _, field := range list.List {
		n += exportedOf(field.Names)
	}
	return n
}

func exportedOf(list []*ast.Ident) (n int) {
	for _, name := range list {
		if name.IsExported() {
			n++
		}
	}
	return n
}
