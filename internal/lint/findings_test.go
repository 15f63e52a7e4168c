package lint_test

import (
	"fmt"
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
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/lint"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// coded returns the findings of one code about one file.
func coded(found []config.Diagnostic, file, code string) []config.Diagnostic {
	return slices.DeleteFunc(slices.Clone(found), func(d config.Diagnostic) bool { return d.File != file || d.Code != code })
}

// numbered returns a text n times, with the numbers from 1 to n in it.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

func TestFindingsOfOneCodeAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code         string
		lint         bool // Only lint looks at all profiles.
		text         func(n int) string
		credentials  string // Beside the config file.
		first, every int    // The lines of the findings.
	}{
		{
			code: "malformed-line", first: 2, every: 1,
			text: func(n int) string { return "[default]\n" + strings.Repeat("x\n", n) },
		},
		{
			code: "read-differently", first: 2, every: 1,
			text: func(n int) string { return "[default]\n" + strings.Repeat("# \xff\n", n) },
		},
		{
			code: "misspelt-key", first: 2, every: 1,
			text: func(n int) string { return "[default]\n" + strings.Repeat("retry-mode = x\n", n) },
		},
		{
			code: "indented-key", first: 3, every: 1,
			text: func(n int) string { return "[default]\ns3 =\n" + strings.Repeat(" retry_mode = x\n", n) },
		},
		{
			code: "duplicate-key", first: 3, every: 1,
			text: func(n int) string { return "[default]\n" + strings.Repeat("region = x\n", n+1) },
		},
		{
			code: "duplicate-section", first: 2, every: 1,
			text: func(n int) string { return strings.Repeat("[default]\n", n+1) },
		},
		{
			code: "shadowed-key", first: 2, every: 2, lint: true,
			text:        func(n int) string { return numbered("[profile p%04d]\nmax_attempts = 3\n", n) },
			credentials: numbered("[p%04d]\nmax_attempts = 3\n", 300),
		},
		{
			code: "invalid-value", first: 2, every: 2, lint: true,
			text: func(n int) string { return numbered("[profile p%04d]\nmax_attempts = x\n", n) },
		},
		{
			code: "mapped-mode", first: 2, every: 2, lint: true,
			text: func(n int) string { return numbered("[profile p%04d]\nretry_mode = legacy\n", n) },
		},
	} {
		t.Run(c.code, func(t *testing.T) {
			t.Parallel()
			for n, counted := range map[int]string{
				99: "", 100: "", 101: "and 1 more findings of this kind", 250: "and 150 more findings of this kind",
			} {
				found := findings(t, world.Texts(c.text(n), c.credentials), false)
				if !c.lint {
					settings, err := lint.Resolve(config.Query{Sources: world.Texts(c.text(n), c.credentials)})
					require.NoError(t, err)
					require.Equal(t, coded(found, "/c", c.code), coded(settings.Diagnostics, "/c", c.code))
				}
				found = coded(found, "/c", c.code)
				if counted != "" {
					require.Len(t, found, 101)
					last := found[100]
					require.Equal(t, counted, last.Message)
					require.Zero(t, last.Line)
					require.Equal(t, found[0].Severity, last.Severity)
					found = found[:100]
				}
				require.Len(t, found, min(n, 100))
				for i, d := range found {
					require.Equal(t, c.first+i*c.every, d.Line)
				}
			}
		})
	}
}

func TestEachFileHasItsOwnBound(t *testing.T) {
	t.Parallel()
	text := "[default]\n" + strings.Repeat("x\n", 120)
	found := coded(findings(t, world.Texts(text, text), false), "/k", "malformed-line")
	require.Len(t, found, 101)
	require.Equal(t, "/k: warning: and 20 more findings of this kind [malformed-line]", found[100].String())
	require.Len(t, world.Without(findings(t, world.Texts(text, text), false)), 202)
}

func TestFindingsAboutValuesOfOneProfileAreBoundedAndCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		counted string // Of the findings invalid-value.
	}{
		"one setting":          {strings.Repeat("max_attempts = x\n", 250) + "max_attempts = 4\n", "and 150 more findings of this kind"},
		"both settings":        {strings.Repeat("max_attempts = x\nretry_mode = x\n", 90) + "max_attempts = 4\nretry_mode = standard\n", "and 80 more findings of this kind"},
		"fewer than the bound": {strings.Repeat("max_attempts = x\nretry_mode = x\n", 50) + "max_attempts = 4\nretry_mode = standard\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := world.Texts("[default]\n"+c.text, "")
			settings, err := lint.Resolve(config.Query{Sources: src})
			require.NoError(t, err)
			for _, found := range [][]config.Diagnostic{findings(t, src, false), settings.Diagnostics} {
				found = coded(found, "/c", "invalid-value")
				if c.counted != "" {
					require.Len(t, found, 101)
					require.Equal(t, c.counted, found[100].Message)
					require.Zero(t, found[100].Line)
					continue
				}
				require.Len(t, found, 100)
			}
		})
	}
}

func TestErrorsAreKeptBeforeWarnings(t *testing.T) {
	t.Parallel()
	losers := numbered("[profile p%04d]\nmax_attempts = x\n", 150)
	winners := numbered("[p%04d]\nmax_attempts = 3\n", 150)
	for _, c := range []struct {
		name, config   string
		errors         int
		countIsAnError bool
	}{
		{"warnings alone", losers, 0, false},
		{"an error behind the bound", losers + "[profile q]\nretry_mode = x\n", 1, false},
		{"an error within the bound", "[profile q]\nretry_mode = x\n" + losers, 1, false},
		{"errors beyond the bound", losers + numbered("[profile q%04d]\nretry_mode = x\n", 150), 100, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := coded(findings(t, world.Texts(c.config, winners), false), "/c", "invalid-value")
			require.Len(t, found, 101)
			errors := 0
			for i, d := range found[:100] {
				if d.Severity == config.SeverityError {
					errors++
				}
				require.True(t, i == 0 || found[i-1].Line < d.Line, "by line")
			}
			require.Equal(t, c.errors, errors)
			require.Equal(t, c.countIsAnError, found[100].Severity == config.SeverityError)
		})
	}
}

func TestCountOfMalformedLinesIsAnErrorInStrictReading(t *testing.T) {
	t.Parallel()
	found := world.Without(findings(t, world.Texts("", strings.Repeat("x\n", 103)), true))
	require.Len(t, found, 101)
	for _, d := range found {
		require.Equal(t, "parse-error", d.Code)
		require.Equal(t, config.SeverityError, d.Severity)
	}
	require.Equal(t, "/k: error: and 3 more findings of this kind [parse-error]", found[100].String())
}

func TestFindingsAboutOneLineAreOneInTheCountToo(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"two tools":         "MAX_ATTEMPTS = 10\n",
		"several reasons":   "max_attempts : 010 # c\n",
		"and the line's CR": "MAX_ATTEMPTS : 010\r1 # c\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "[default]\n" + strings.Repeat(line, 1000)
			found := coded(findings(t, world.Texts(text, ""), false), "/c", "read-differently")
			require.Len(t, found, 101)
			require.Equal(t, "and 900 more findings of this kind", found[100].Message)
		})
	}
}

func TestPathWithBlanksAtAnEndIsQuoted(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"  ": `"  "`, "/a ": `"/a "`, "\u00a0b": `"\u00a0b"`, "/a b": "/a b"} {
		found := findings(t, shared(nil, nil, map[string]string{"AWS_CONFIG_FILE": path}), false)
		require.Equal(t, want+": error: the config file that AWS_CONFIG_FILE names does not exist [missing-file]", found[0].String())
		require.Equal(t, path, found[0].File)

		_, err := lint.Resolve(config.Query{Sources: config.Sources{ConfigFile: path, CredentialsFile: "/k", FS: fstest.MapFS{}}, Profile: "x"})
		require.EqualError(t, err, `config: option WithProfile: profile "x" not found in `+want+" (missing) or /k (missing)")
	}
	for _, err := range []error{&config.ParseError{File: " ", Line: 1, Msg: "m"}, &config.UnreadableError{File: " ", Err: sharedfile.ErrNotRegular}} {
		require.ErrorContains(t, err, `config: " ":`)
	}
	require.Equal(t, `" ":2: [default] retry_mode`, config.Origin{Kind: "shared-config", File: " ", Line: 2, Profile: "default", Key: "retry_mode"}.String())
}

func TestFindingsComeByFileThenLineWithTheCountsLast(t *testing.T) {
	t.Parallel()
	text := "[default]\nretry-mode = x\n" + strings.Repeat("x\n", 101) + "max-attempts = 3\n"
	src := world.Texts(text, "y\n")
	src.LookupEnv = world.LookupIn(map[string]string{"AWS_NEW_RETRIES_2026": "true"})
	settings, err := lint.Resolve(config.Query{Sources: src})
	require.NoError(t, err)
	var listed []string
	for _, d := range settings.Diagnostics {
		if d.Code != "read-differently" && (d.Code != "malformed-line" || d.Line == 0 || d.File == "/k") {
			listed = append(listed, fmt.Sprintf("%s:%d %s", d.File, d.Line, d.Code))
		}
	}
	require.Equal(t, []string{
		":0 no-effect", "/c:2 misspelt-key", "/c:104 misspelt-key", "/c:0 malformed-line", "/k:1 malformed-line",
	}, listed)
}

// codes returns the codes of all findings: the texts of words with hyphens in the code of this package.
func codes(t *testing.T) []string {
	t.Helper()
	words := regexp.MustCompile(`^"[a-z]+(-[a-z]+)+"$`)
	found := map[string]bool{}
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && words.MatchString(text.Value) && text.Value != `"aws-cli"` {
				found[strings.Trim(text.Value, `"`)] = true
			}
			return true
		})
	}
	require.NotEmpty(t, found)
	return slices.Sorted(maps.Keys(found))
}

func TestEveryCodeIsInTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/settings.md")
	require.NoError(t, err)
	for _, code := range codes(t) {
		require.Contains(t, string(guide), "| `"+code+"` |")
	}
}
