//go:build !race

package awsretry_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// markdown returns the path of every page of the repository.
func markdown(t *testing.T) []string {
	t.Helper()
	pages := paths(t, ".md")
	require.Greater(t, len(pages), 8)
	return pages
}

// paths returns the paths of all files of the repository whose names end in one of the endings.
func paths(t *testing.T, endings ...string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.IsDir() && slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(path, end) }):
			found = append(found, path)
		}
		return nil
	}))
	return found
}

// prose returns the lines of a page without its fenced blocks.
func prose(t *testing.T, page string) []string {
	t.Helper()
	var lines []string
	fenced := false
	for line := range strings.Lines(read(t, page)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	require.False(t, fenced, "%s: a block has no end", page)
	return lines
}

// anchors returns the anchors of the headings of a page, as GitHub makes them.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, line := range prose(t, page) {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			default:
				return -1
			}
		}, strings.TrimSpace(linkPattern.ReplaceAllString(heading, "$1")))
		unique := anchor
		for i := 1; found[unique]; i++ {
			unique = anchor + "-" + strconv.Itoa(i)
		}
		found[unique] = true
	}
	return found
}

var (
	codePattern = regexp.MustCompile("`[^`]*`")
	linkPattern = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]*)\)|(?:src|srcset)="([^"]*)"`)
	rulePattern = regexp.MustCompile(`\*\*([SARC]\d\d[a-z]?)\*\*`)
	filePattern = regexp.MustCompile(`\w[\w/]*\.go\b`)
	wordPattern = regexp.MustCompile(`([Nn]o|[Ss]ome|[Ee]very|[Aa]ny)body|[Ww]hoever`)
)

func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, page := range markdown(t) {
		// Code in the text of a link is part of the link, any other code is not.
		text := codePattern.ReplaceAllStringFunc(strings.Join(prose(t, page), "\n"), func(code string) string {
			return strings.NewReplacer("[", "", "]", "", "(", "", ")", "").Replace(code)
		})
		for _, link := range linkPattern.FindAllStringSubmatch(text, -1) {
			path, anchor, hasAnchor := strings.Cut(link[2]+link[3], "#") // of one kind or the other
			if strings.Contains(path, "://") {
				continue
			}
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
			}
			_, err := os.Stat(target)
			require.NoError(t, err, "%s: %s", page, link[0])
			if hasAnchor {
				require.True(t, anchors(t, target)[anchor], "%s: %s: no such heading", page, link[0])
			}
		}
	}
}

// Comments, names of tests and texts count like pages. A name such as http.NoBody does not match.
func TestPagesAndCodeSpeakOfThingsNotOfPeople(t *testing.T) {
	t.Parallel()
	found := paths(t, ".md", ".go", "Makefile")
	require.Greater(t, len(found), 300)
	for _, path := range found {
		require.Empty(t, wordPattern.FindAllString(read(t, path), -1), path)
	}
}

// vectorFiles are the files of vectors that have rules.
var vectorFiles = []string{"standard.json", "adaptive.json", "classification.json", "shared-config.json"}

// ruleIDs returns the ids of all rules that the vectors in a directory list or name.
func ruleIDs(t *testing.T, directory string) []string {
	t.Helper()
	var ids []string
	for _, name := range vectorFiles {
		var file struct {
			Rules json.RawMessage `json:"rules"`
			Cases []struct {
				Rule string `json:"rule"`
			} `json:"cases"`
		}
		require.NoError(t, json.Unmarshal([]byte(read(t, filepath.Join(directory, name))), &file), name)
		var texts map[string]string
		if err := json.Unmarshal(file.Rules, &texts); err == nil {
			for id := range texts {
				ids = append(ids, id)
			}
		}
		var list []string
		if err := json.Unmarshal(file.Rules, &list); err == nil {
			for _, text := range list {
				id, _, _ := strings.Cut(text, " ")
				ids = append(ids, id)
			}
		}
		for _, c := range file.Cases {
			ids = append(ids, c.Rule)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func TestRulesPageHasEveryRuleOnce(t *testing.T) {
	t.Parallel()
	var written []string
	for _, id := range rulePattern.FindAllStringSubmatch(read(t, "docs/rules.md"), -1) {
		written = append(written, id[1])
	}
	slices.Sort(written)
	require.Equal(t, ruleIDs(t, "testdata"), written)
	if shared := os.Getenv("AWSRETRY_CONFORMANCE"); shared != "" {
		require.Subset(t, written, ruleIDs(t, shared))
	}
}

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
	for _, page := range append(pages, "README.md", "conformance/README.md") {
		for _, code := range codePattern.FindAllString(strings.Join(prose(t, page), "\n"), -1) {
			explained.WriteString(code)
		}
	}
	for _, folder := range []string{
		".", "retry", "classify", "clock", "config", "ratelimit", "modes/standard", "modes/adaptive", "httpretry", "awssdk",
		"promretry", "otelretry", "fleet", "fleet/redisstore",
	} {
		for _, name := range exported(t, folder) {
			_, bare, _ := strings.Cut(name, ".")
			known := regexp.MustCompile(`\b`+name+`\b`).MatchString(shown) ||
				regexp.MustCompile(`\b`+bare+`\b`).MatchString(explained.String())
			require.True(t, known, "no example and no page has %s", name)
		}
	}
}
