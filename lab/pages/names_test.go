//go:build !race

package pages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
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
		found := slices.ContainsFunc([]string{".", "awssdk", "httpretry", "config", "cmd/awsretry/internal/lint"}, func(folder string) bool {
			_, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
			return err == nil
		})
		require.True(t, found, name)
	}
}

var (
	rowPattern   = regexp.MustCompile(`(?m)^\| (.*) \|$`)
	roomPattern  = regexp.MustCompile(`\$\{config-path\}/([^"]*)/\*`)
	bracePattern = regexp.MustCompile(`^(.*)\{([^}]*)\}(.*)$`)
)

// TestEveryPackageOfTheCoreHasALevel holds that the architecture page says what each package is for and on which level it
// is, and that a rule of depguard holds it there.
func TestEveryPackageOfTheCoreHasALevel(t *testing.T) {
	t.Parallel()
	levels, contents, found := strings.Cut(read(t, "docs/architecture.md"), "| package | contents |")
	require.True(t, found)
	contents, _, _ = strings.Cut(contents, "\n\n")
	var rooms []string
	for _, room := range roomPattern.FindAllStringSubmatch(read(t, ".golangci.yml"), -1) {
		rooms = append(rooms, expanded(room[1])...)
	}
	checked := 0
	for _, pattern := range []string{"*", "internal/*", "modes/*"} {
		folders, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, folder := range folders {
			sources, err := filepath.Glob(folder + "/*.go")
			require.NoError(t, err)
			if _, nested := os.Stat(folder + "/go.mod"); len(sources) == 0 || nested == nil || folder == "testdata" {
				continue
			}
			checked++
			matches := func(room string) bool {
				ok, err := filepath.Match(room, folder)
				require.NoError(t, err)
				return ok
			}
			require.True(t, slices.ContainsFunc(rooms, matches), "no rule of depguard is about %s", folder)
			require.Regexp(t, `\b`+strings.TrimPrefix(folder, "internal/")+`\b`, levels, "its level")
			require.Contains(t, contents, "`"+folder+"`", "its contents")
		}
	}
	require.Greater(t, checked, 20)
}

// expanded returns the patterns that one with braces stands for.
func expanded(pattern string) (all []string) {
	braces := bracePattern.FindStringSubmatch(pattern)
	if braces == nil {
		return []string{pattern}
	}
	for part := range strings.SplitSeq(braces[2], ",") {
		all = append(all, expanded(braces[1]+part+braces[3])...)
	}
	return all
}

// TestUsesOfInternalAreOnThePage compares what each module uses of the root's internal with the table of modules.
func TestUsesOfInternalAreOnThePage(t *testing.T) {
	t.Parallel()
	const internal = "github.com/awsretry/awsretry/internal/"
	_, table, found := strings.Cut(read(t, "docs/architecture.md"), "\n## Modules\n")
	require.True(t, found)
	checked := 0
	for _, row := range rowPattern.FindAllStringSubmatch(table, -1) {
		cells := strings.Split(row[1], " | ")
		module := strings.Trim(cells[0], "`")
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err != nil || module == "lab" {
			continue
		}
		checked++
		used := map[string]bool{}
		for _, path := range paths(t, ".go") {
			if !strings.HasPrefix(path, module+"/") || strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			require.NoError(t, err)
			for _, imported := range file.Imports {
				if of, ok := strings.CutPrefix(strings.Trim(imported.Path.Value, `"`), internal); ok && !strings.HasPrefix(of, "testonly/") {
					used["`"+of+"`"] = true
				}
			}
		}
		require.Equal(t, strings.Join(slices.Sorted(maps.Keys(used)), ", "), cells[2], module)
	}
	require.Equal(t, 5, checked)
}

// packages are the folders of the packages that programs import.
var packages = []string{
	".", "retry", "classify", "clock", "config", "ratelimit", "modes/standard", "modes/adaptive", "httpretry", "awssdk",
	"metrics/promretry", "metrics/otelretry", "fleet", "fleet/redisstore",
}

// foreignNames are names of other modules that pages write as code, and that no code here uses.
var foreignNames = map[string]bool{
	"config.LoadDefaultConfig": true, "retry.MaxAttemptsError": true, "retry.Standard": true, // aws-sdk-go-v2
	"ratelimit.None": true, "ratelimit.NewTokenRateLimit": true, "ratelimit.QuotaExceededError": true, "NoRetryIncrement": true,
	"UploadPart": true, "CompleteMultipartUpload": true, "CopyObject": true, // operations of S3
	"CreateDefault21CapacityManager": true, // aws-sdk-net
	"CredentialsProviderContext":     true, // go-redis
}

// names holds the exported names of a package at top level, each with the exported fields and methods of a type.
type names map[string]map[string]bool

// exported returns the name of the package in a folder and its exported names.
func exported(t *testing.T, folder string) (pkg string, all names) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	all = names{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		pkg = file.Name.Name
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					all.put(n.Name.Name)
				} else {
					all.put(firstName(n.Recv.List[0].Type), n.Name.Name)
				}
				return false
			case *ast.TypeSpec:
				all.put(n.Name.Name, members(n.Type)...)
				return false
			case *ast.ValueSpec:
				for _, name := range n.Names {
					all.put(name.Name)
				}
				return false
			}
			return true
		})
	}
	require.NotEmpty(t, all, folder)
	return pkg, all
}

func (n names) put(name string, members ...string) {
	if !ast.IsExported(name) {
		return
	}
	if n[name] == nil {
		n[name] = map[string]bool{}
	}
	for _, member := range members {
		if ast.IsExported(member) {
			n[name][member] = true
		}
	}
}

// firstName is the name of a type, without what stands around it.
func firstName(of ast.Expr) (first string) {
	ast.Inspect(of, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && first == "" {
			first = name.Name
		}
		return first == ""
	})
	return first
}

// members returns the fields of a struct, an embedded one included, or the methods of an interface.
func members(of ast.Expr) (found []string) {
	ast.Inspect(of, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok {
			for _, name := range field.Names {
				found = append(found, name.Name)
			}
			if len(field.Names) == 0 {
				found = append(found, firstName(field.Type))
			}
		}
		_, isFunc := n.(*ast.FuncType)
		return !isFunc
	})
	return found
}

// TestEveryExportedNameIsShownOrExplained holds that a page names each exported name as code, that an example uses it, or that
// the comment of its package links to it.
func TestEveryExportedNameIsShownOrExplained(t *testing.T) {
	t.Parallel()
	shown := examples(t) + files(t, "examples/*/*.go", "lab/sdktest/*/main.go")
	var explained strings.Builder
	for _, page := range readersPages(t) {
		for _, code := range codePattern.FindAllString(strings.Join(prose(t, page), "\n"), -1) {
			explained.WriteString(code)
		}
	}
	for _, folder := range packages {
		pkg, all := exported(t, folder)
		comment := packageComment(t, folder)
		for name := range all {
			known := strings.Contains(comment, "["+name+"]") || regexp.MustCompile(`\b`+pkg+`\.`+name+`\b`).MatchString(shown) ||
				regexp.MustCompile(`\b`+name+`\b`).MatchString(explained.String())
			require.True(t, known, "no example and no page has %s.%s", pkg, name)
		}
	}
}

// packageComment returns the text that godoc shows first.
func packageComment(t *testing.T, folder string) string {
	t.Helper()
	var text strings.Builder
	for _, path := range paths(t, ".go") {
		if filepath.Dir(path) != folder || strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		require.NoError(t, err)
		text.WriteString(file.Doc.Text())
	}
	return text.String()
}

var (
	qualifiedPattern = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	memberPattern    = regexp.MustCompile(`(?:^|[^.\w])([A-Z]\w*)\.([A-Z]\w*)`)
	barePattern      = regexp.MustCompile("^`[*&\\[\\]]*([A-Z][a-z]\\w*)(?:\\(\\))?`$")
	typeInRow        = regexp.MustCompile("^\\| `[*]?([A-Z]\\w*)` \\|")
)

// TestNamesInThePagesExist holds that names which pages write as code exist: names behind one of our packages, fields and
// methods behind one of our types, and names alone, which may also be written somewhere in the code. In the row of a
// table that is about a type, a name alone is a field of the type, a setting or a name at top level.
func TestNamesInThePagesExist(t *testing.T) {
	t.Parallel()
	api, types, anywhere := map[string]names{}, map[string][]map[string]bool{}, map[string]bool{}
	for _, folder := range packages {
		pkg, all := exported(t, folder)
		api[pkg] = all
		for name, members := range all {
			anywhere[name] = true
			types[name] = append(types[name], members)
			for member := range members {
				anywhere[member] = true
			}
		}
	}
	isMember := func(of, name string) bool {
		return slices.ContainsFunc(types[of], func(members map[string]bool) bool { return members[name] })
	}
	hasMembers := func(of string) bool {
		return slices.ContainsFunc(types[of], func(members map[string]bool) bool { return len(members) > 0 })
	}
	words := map[string]bool{}
	for _, path := range paths(t, ".go") {
		if path == filepath.Join("lab", "pages", "names_test.go") {
			continue // its list of foreign names
		}
		for _, word := range regexp.MustCompile(`\w+`).FindAllString(read(t, path), -1) {
			words[word] = true
		}
	}
	checked := 0
	for _, page := range readersPages(t) {
		for _, line := range prose(t, page) {
			row := typeInRow.FindStringSubmatch(line)
			for _, code := range codePattern.FindAllString(line, -1) {
				for _, m := range qualifiedPattern.FindAllStringSubmatch(code, -1) {
					if all, ours := api[m[1]]; ours {
						checked++
						require.True(t, all[m[2]] != nil || foreignNames[m[1]+"."+m[2]], "%s: %s", page, code)
						require.True(t, m[3] == "" || all[m[2]][m[3]], "%s: %s: %s has no %s", page, code, m[2], m[3])
					}
				}
				for _, m := range memberPattern.FindAllStringSubmatch(code, -1) {
					if _, ours := types[m[1]]; ours {
						checked++
						require.True(t, isMember(m[1], m[2]), "%s: %s: %s has no %s", page, code, m[1], m[2])
					}
				}
				m := barePattern.FindStringSubmatch(code)
				if m == nil {
					continue
				}
				checked++
				name := m[1]
				require.True(t, anywhere[name] || words[name] || foreignNames[name], "%s: %s: no such name", page, code)
				if row == nil || row[1] == name || !hasMembers(row[1]) {
					continue
				}
				_, top := types[name]
				isSetting := api["standard"]["Config"][name] || api["adaptive"]["Config"][name] || api["awsretry"]["Settings"][name]
				require.True(t, top || isSetting || isMember(row[1], name) || !anywhere[name], "%s: %s in the row of %s", page, code, row[1])
			}
		}
	}
	require.Greater(t, checked, 300)
}
