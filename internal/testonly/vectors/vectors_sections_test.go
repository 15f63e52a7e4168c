package vectors_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

// vectorFile is a file of vectors: its type, the members that only describe it, and the folders whose tests
// run each of the others. The lowest package that can express a section runs it. Sections of whole
// operations run at each door as well.
type vectorFile struct {
	of          any
	descriptive string
	sections    map[string]string
}

// vectorFiles has all files of vectors by name.
func vectorFiles() map[string]vectorFile {
	const about = "kind format_version about description rules"
	return map[string]vectorFile{
		"standard.json": {vectors.Standard{}, about, map[string]string{
			"defaults":       "modes/standard",
			"sequences":      "modes/standard httpretry lab/sdktest",
			"concurrent":     "modes/standard lab/sdktest",
			"pools":          "modes/standard",
			"quota_ops":      "internal/limit",
			"backoff_tables": "internal/backoff",
			"retry_after":    "internal/backoff",
			"full_hints":     "httpretry",
			"losses":         "modes/standard",
			"debt_limits":    "modes/standard",
		}},
		"adaptive.json": {vectors.Adaptive{}, about, map[string]string{
			"defaults":     "internal/sendrate",
			"cubic":        "internal/sendrate",
			"rate_clocker": "internal/sendrate",
			"e2e":          "internal/sendrate",
			"send_bucket":  "internal/sendrate",
			"waiters":      "internal/sendrate",
			"operations":   "modes/adaptive",
		}},
		"classification.json": {vectors.Classification{}, about + " carrier_sources", map[string]string{
			"error_codes":          "classify",
			"status_codes":         "classify",
			"transport_kinds":      "classify",
			"combinations":         "classify",
			"clock_skew":           "classify",
			"clock_skew_decisions": "classify",
			"clock_skew_sequences": "classify",
		}},
		"shared-config.json": {vectors.SharedConfig{}, about, map[string]string{"cases": "config"}},
		"tools-agree.json":   {vectors.ToolsAgree{}, about, map[string]string{"cases": "config cmd/awsretry/internal/tools"}},
		"tools-table.json":   {vectors.ToolsTable{}, about, map[string]string{"cases": "cmd/awsretry/internal/lint cmd/awsretry/internal/tools"}},
		// Load adds the other parts of cross-checks.json to the files with their form.
		"cross-checks.json": {vectors.CrossChecks{}, about + " standard adaptive classification", map[string]string{
			"sources":     "internal/testonly/vectors",
			"decisions":   "internal/testonly/vectors",
			"differences": "internal/testonly/vectors",
			"long_polls":  "awssdk",
		}},
	}
}

const (
	root = "../../.."
	own  = root + "/testdata"
)

// folders returns the folders with vectors.
func folders() []string {
	if shared := os.Getenv("AWSRETRY_CONFORMANCE"); shared != "" {
		return []string{own, shared}
	}
	return []string{own}
}

// members returns the members of the files in a folder, by the name of the file. Those of the parts of
// cross-checks.json are among those of the files with the same form.
func members(t *testing.T, folder string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths, "no vectors in %s", folder)
	found := map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var all map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &all), path)
		name := filepath.Base(path)
		found[name] = append(found[name], slices.Collect(maps.Keys(all))...)
		if name != "cross-checks.json" {
			continue
		}
		for _, part := range []string{"standard", "adaptive", "classification"} {
			var lists map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(all[part], &lists), part)
			found[part+".json"] = append(found[part+".json"], slices.Collect(maps.Keys(lists))...)
		}
	}
	return found
}

func TestEverySectionOfTheVectorsIsListed(t *testing.T) {
	t.Parallel()
	listed := vectorFiles()
	for _, folder := range folders() {
		for name, all := range members(t, folder) {
			require.Contains(t, listed, name, "a file in %s that no test is known to run", folder)
			for _, member := range all {
				_, runs := listed[name].sections[member]
				describes := slices.Contains(strings.Fields(listed[name].descriptive), member)
				require.True(t, runs || describes, "%s in %s of %s is not listed", member, name, folder)
			}
		}
	}
}

// TestSectionsOfTheVectorsRunInTheListedFoldersAndNowhereElse leaves out what this package does with a section that
// another one runs.
func TestSectionsOfTheVectorsRunInTheListedFoldersAndNowhereElse(t *testing.T) {
	t.Parallel()
	uses := map[string][]use{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == ".bin" { // A check of releases may be building there.
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if folder = filepath.ToSlash(folder); err == nil && uses[folder] == nil {
			uses[folder] = testsIn(t, folder)
		}
		return err
	}))
	for name, file := range vectorFiles() {
		kind := reflect.TypeOf(file.of)
		for section, folders := range file.sections {
			field := fieldOf(kind, section)
			require.NotEmpty(t, field, "vectors.%s has no field for %s", kind.Name(), section)
			var running []string
			for folder, tests := range uses {
				if folder == "internal/testonly/vectors" && folders != folder {
					continue
				}
				if slices.ContainsFunc(tests, func(u use) bool { return u.reads[kind.Name()] && u.selects[field] }) {
					running = append(running, folder)
				}
			}
			require.ElementsMatch(t, strings.Fields(folders), running, "the folders that run %s of %s", section, name)
		}
	}
}

// fieldOf returns the field of a type for a member of its file.
func fieldOf(kind reflect.Type, member string) string {
	for field := range kind.Fields() {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == member {
			return field.Name
		}
	}
	return ""
}

// use is what a function of a test does with vectors, itself or through functions of its package: the
// types of the files that it reads, and the fields that it selects.
type use struct {
	reads, selects, calls map[string]bool
}

// testsIn returns the uses of the tests in a folder.
func testsIn(t *testing.T, folder string) (tests []use) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	require.NoError(t, err)
	functions := map[string]use{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Recv == nil {
				functions[f.Name.Name] = useOf(f.Body)
			}
		}
	}
	for name := range functions {
		if strings.HasPrefix(name, "Test") {
			all := use{map[string]bool{}, map[string]bool{}, map[string]bool{}}
			collect(functions, name, all)
			tests = append(tests, all)
		}
	}
	return tests
}

func useOf(body ast.Node) use {
	u := use{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr: // vectors.Load[vectors.Standard]
			kind, ok := n.Index.(*ast.SelectorExpr)
			if load, is := n.X.(*ast.SelectorExpr); ok && is && load.Sel.Name == "Load" {
				u.reads[kind.Sel.Name] = true
			}
		case *ast.SelectorExpr:
			u.selects[n.Sel.Name] = true
			if n.Sel.Name == "ReadCrossChecks" {
				u.reads["CrossChecks"] = true
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok {
				u.calls[f.Name] = true
			}
		}
		return true
	})
	return u
}

// collect adds the use of a function and of those that it calls.
func collect(functions map[string]use, name string, all use) {
	f, known := functions[name]
	if !known || all.calls[name] {
		return
	}
	all.calls[name] = true
	maps.Copy(all.reads, f.reads)
	maps.Copy(all.selects, f.selects)
	for call := range f.calls {
		collect(functions, call, all)
	}
}
