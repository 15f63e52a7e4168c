//go:build !race

package pages_test

import (
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

// TestMain runs the tests in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

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
		case entry.IsDir() && strings.HasPrefix(path, ".") && path != "." && path != ".github":
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
	wordPattern = regexp.MustCompile(`([Nn]o|[Ss]ome|[Ee]very|[Aa]ny)body|[Ww]hoever`)
)

// readersPages returns the pages that users and contributors read: README.md, CONTRIBUTING.md, docs, and the README.md
// of each module.
func readersPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range markdown(t) {
		folder, name := filepath.Split(page)
		_, err := os.Stat(filepath.Join(folder, "go.mod"))
		if name == "README.md" && err == nil {
			pages = append(pages, page)
		}
	}
	rules, err := filepath.Glob("testdata/*.md")
	require.NoError(t, err)
	return append(append(pages, rules...), ".github/CONTRIBUTING.md", "lab/bench/README.md")
}

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

// TestListOfPagesIsComplete holds that docs/README.md names every page.
func TestListOfPagesIsComplete(t *testing.T) {
	t.Parallel()
	list := read(t, "docs/README.md")
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" {
			require.Regexp(t, `(?m)^\| \[[^\]]+\]\(`+regexp.QuoteMeta(name)+`\) \|`, list)
		}
	}
}

// TestThirtyQuestionsAreTwoClicksAway holds that README.md leads to the list of questions, and that each of these leads to a
// section that answers it.
func TestThirtyQuestionsAreTwoClicksAway(t *testing.T) {
	t.Parallel()
	require.Contains(t, read(t, "README.md"), "(docs/README.md)")
	_, list, found := strings.Cut(read(t, "docs/README.md"), "\n## Thirty questions\n")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n## ")
	questions := regexp.MustCompile(`(?m)^- \[[^\]]+\?\]\([\w./-]+\.md#[\w-]+\)`).FindAllString(list, -1)
	require.Len(t, questions, strings.Count(list, "\n- "), "each is a link to a section")
	require.GreaterOrEqual(t, len(questions), 30)
}

// TestPagesBeginWithSomethingThatRuns holds that the first block of a page, which a reader copies first, comes before
// its second heading. README.md and the list of pages begin so too.
func TestPagesBeginWithSomethingThatRuns(t *testing.T) {
	t.Parallel()
	for _, page := range readersPages(t) {
		if page == ".github/CONTRIBUTING.md" || page == "docs/recipes.md" {
			continue // a table of commands, a table of programs
		}
		begin, _, _ := strings.Cut(read(t, page), "\n## ")
		require.Contains(t, begin, "```", page)
	}
}

// TestWordsOfTheGlossaryAreLinked holds that each page of docs that uses a word of the glossary links to it. The page about
// modes links to all words at once.
func TestWordsOfTheGlossaryAreLinked(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(read(t, "docs/README.md"), "\n## Six words\n")
	require.True(t, found)
	var words []string
	for _, row := range regexp.MustCompile(`(?m)^\| \*\*([^*]+)\*\* \|`).FindAllStringSubmatch(table, -1) {
		words = append(words, row[1])
	}
	require.Len(t, words, 6)
	used := regexp.MustCompile(`(?i)\b(quota|` + strings.Join(words, "|") + `)s?\b`)
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "README.md") {
		text := codePattern.ReplaceAllString(strings.Join(prose(t, page), "\n"), "")
		if word := used.FindString(text); word != "" && page != "docs/README.md" {
			require.Contains(t, text, "README.md#six-words", "%s has the word %q", page, word)
		}
	}
}
