package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/internal/sharedfile"
	"github.com/awsretry/awsretry/internal/testonly/world"
)

// coded returns the findings of one code about the config file.
func coded(found []lint.Diagnostic, code string) []lint.Diagnostic {
	return slices.DeleteFunc(slices.Clone(found), func(d lint.Diagnostic) bool { return d.File != "/c" || d.Code != code })
}

// numbered returns a text n times, with the numbers from 1 to n in it.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

// codes returns the codes of findings in their order.
func codes(found []lint.Diagnostic) []string {
	list := []string{}
	for _, d := range found {
		list = append(list, d.Code)
	}
	return list
}

// lines returns findings as text.
func lines(found []lint.Diagnostic) []string {
	all := []string{}
	for _, d := range found {
		d.Column = 0 // TestColumns checks it.
		all = append(all, d.String())
	}
	return all
}

// without drops the findings about other tools, which file_test.go checks.
func without(found []lint.Diagnostic) []lint.Diagnostic {
	return slices.DeleteFunc(slices.Clone(found), func(d lint.Diagnostic) bool { return d.Code == "read-differently" })
}

func TestFindingsOfOneCodeAreBounded(t *testing.T) {
	t.Parallel()
	const d = "[default]\n"
	for code, c := range map[string]struct {
		head, format string // The config file: its beginning, and a text that stands n times.
		credentials  string
		first, every int // The lines of the findings.
	}{
		"malformed-line":   {d, "x\n", "", 2, 1},
		"read-differently": {"", "[profile p%04d]\nmax_attempts = 010\n", "", 2, 2},
		"misspelt-key":     {d, "retry-mode = x\n", "", 2, 1},
		"indented-key":     {d + "s3 =\n", " retry_mode = x\n", "", 3, 1},
		"shadowed-key":     {"", "[profile p%04d]\nmax_attempts = 3\n", numbered("[p%04d]\nmax_attempts = 3\n", 300), 2, 2},
		"invalid-value":    {"", "[profile p%04d]\nmax_attempts = x\n", "", 2, 2},
		"mapped-mode":      {"", "[profile p%04d]\nretry_mode = legacy\n", "", 2, 2},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			for n, counted := range map[int]string{100: "", 101: "and 1 more findings of this kind", 250: "and 150 more findings of this kind"} {
				text := c.head + strings.Repeat(c.format, n)
				if strings.Contains(c.format, "%") {
					text = numbered(c.format, n)
				}
				src := world.Texts(text, c.credentials)
				found := coded(findings(t, src, false), code)
				if c.head != "" { // Only lint looks at all profiles.
					settings, err := lint.Resolve(config.Query{Sources: src})
					require.NoError(t, err)
					require.Equal(t, found, coded(settings.Diagnostics, code))
				}
				if counted != "" {
					require.Len(t, found, 101)
					require.Equal(t, lint.Diagnostic{Severity: found[0].Severity, Code: code, File: "/c", Message: counted}, found[100])
					found = found[:100]
				}
				require.Len(t, found, 100)
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
	for strict, want := range map[bool]string{
		false: "/k: warning: and 20 more findings of this kind [malformed-line]", true: "/k: error: and 20 more findings of this kind [parse-error]",
	} {
		found := lines(without(findings(t, world.Texts(text, text), strict)))
		require.Len(t, found, 202)
		require.Equal(t, want, found[201])
	}
}

func TestErrorsAreKeptBeforeWarnings(t *testing.T) {
	t.Parallel()
	losers, winners := numbered("[profile p%04d]\nmax_attempts = x\n", 150), numbered("[p%04d]\nmax_attempts = 3\n", 150)
	for errors, text := range map[int]string{
		0: losers, 1: losers + "[profile q]\nretry_mode = x\n", 100: losers + numbered("[profile q%04d]\nretry_mode = x\n", 150),
	} {
		found := coded(findings(t, world.Texts(text, winners), false), "invalid-value")
		require.Len(t, found, 101)
		kept := 0
		for i, d := range found[:100] {
			if d.Severity == lint.SeverityError {
				kept++
			}
			require.True(t, i == 0 || found[i-1].Line < d.Line, "by line")
		}
		require.Equal(t, errors, kept)
		require.Equal(t, errors == 100, found[100].Severity == lint.SeverityError)
	}
}

func TestFindingsAboutOneLineAreOneInTheCountToo(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"MAX_ATTEMPTS = 10\n", "MAX_ATTEMPTS : 010\n"} {
		found := coded(findings(t, world.Texts(numbered("[profile p%04d]\n"+line, 1000), ""), false), "read-differently")
		require.Len(t, found, 101)
		require.Equal(t, "and 900 more findings of this kind", found[100].Message)
	}
}

func TestPathWithBlanksAtAnEndIsQuoted(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"  ": `"  "`, "/a ": `"/a "`, "\u00a0b": `"\u00a0b"`, "/a b": "/a b"} {
		found := findings(t, shared(nil, nil, map[string]string{"AWS_CONFIG_FILE": path}), false)
		require.Equal(t, want+": error: the config file that AWS_CONFIG_FILE names does not exist [missing-file]", found[0].String())
		require.ErrorContains(t, &config.ParseError{File: path, Line: 1, Msg: "m"}, "config: "+want+":")
		require.ErrorContains(t, &config.UnreadableError{File: path, Err: sharedfile.ErrNotRegular}, "config: "+want+":")
		require.Equal(t, want+":2: [default] retry_mode", config.Origin{Kind: "shared-config", File: path, Line: 2, Profile: "default", Key: "retry_mode"}.String())
	}
}

// The guide has the table of rules. The codes are the texts of words with hyphens in the code of this package.
func TestEveryCodeIsInTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../../docs/settings.md")
	require.NoError(t, err)
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	known := map[string]bool{"aws-cli": true}
	for _, rule := range lint.Rules() {
		row := fmt.Sprintf("| <a id=\"%s\"></a>`%[1]s` | %s | %s | %s |\n", rule.Code, rule.Example, rule.Meaning, rule.Cure)
		require.Contains(t, string(guide), row)
		known[rule.Code] = true
	}
	for _, source := range slices.DeleteFunc(sources, func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		text, err := os.ReadFile(source)
		require.NoError(t, err)
		for _, code := range regexp.MustCompile(`"([a-z]+(?:-[a-z]+)+)"`).FindAllStringSubmatch(string(text), -1) {
			require.True(t, known[code[1]], code[1])
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[default]\nretry-mode = x":             "2:1 misspelt-key",
		"[default]\nmax_attempts\t=  ten # c":   "2:17 invalid-value",
		"\uFEFF[default]\nx = 1\nmax_attempts:": "3:14 invalid-value",
		"\uFEFF  [prod]":                        "1:3 ignored-section",
		"[default]\n\u2003é\xff":                "2:2 malformed-line", // In characters,
		"[default]\n\xff \U0001F600\n\u00a0x":   "2:1 malformed-line, 3:2 malformed-line",
		"[default]\n  retry_mode = legacy":      "2:16 mapped-mode",
		"[\x00d\x00]\x00":                       "1:0 malformed-line", // and none where there are none.
	} {
		var places []string
		for _, d := range without(findings(t, world.Texts(text, ""), false)) {
			places = append(places, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code))
		}
		require.Equal(t, want, strings.Join(places, ", "), "%q", text)
	}
}
