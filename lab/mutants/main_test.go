package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirstTestThatNoticesAChangeIsNamed(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                "module m\n\ngo 1.26\n",
		"low/low.go":            "package low\n\nconst Least = 5\n\nfunc More(a, b int) bool { return a > b }\n\nfunc Most() int {\n\treturn 9\n}\n\nfunc F() bool { return true }\n\nfunc S() string { return \"a\" + \"b\" }\n",
		"low/low_test.go":       "package low\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {\n\tif More(1, 1) {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestRed(t *testing.T) { t.Fatal() }\n",
		"high/high.go":          "package high\n\nimport \"m/low\"\n\nvar All = make([]int, low.Least)\n\nfunc Most() int { return low.Most() }\n",
		"high/high_test.go":     "package high_test\n\nimport (\n\t\"m/high\"\n\t\"testing\"\n)\n\nfunc TestAll(t *testing.T) {\n\tt.Run(\"five\", func(t *testing.T) {\n\t\tif len(high.All) != 5 || high.Most() > 10 {\n\t\t\tt.Fatal()\n\t\t}\n\t})\n}\n",
		"low/low_plan9.go":      "package low\n\nconst other = 1\n",
		"testonly/fake/fake.go": "package fake\n\nconst One = 1\n",
		"nested/go.mod":         "module m/nested\n\ngo 1.26\n",
		"nested/nested.go":      "package nested\n\nconst One = 1\n",
		"before.txt":            "low/low.go:3:15: 5 -> 5+1\tnot noticed\nlow/low.go:1:1: > -> <\n\n1 of 2\n",
	} {
		name = filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for args, want := range map[string]string{
		"-list -n 9": "low/low.go:13:30: + -> -\nlow/low.go:3:15: 5 -> 5+1\nlow/low.go:5:37: > -> >=\nlow/low.go:8:9: 9 -> 9+1\nlow/low.go:11:24: true negated\n",
		"-in low": `
low TestRed	left out, since it fails without a change
low/low.go:5:37: > -> >=	noticed by low TestMore
low/low.go:3:15: 5 -> 5+1	noticed by high TestAll/five
low/low.go:8:9: 9 -> 9+1	not noticed
low/low.go:11:24: true negated	not noticed, and no test runs the function

2 of 4 changes noticed (50 %), 0 by a timeout
    1 first by high
    1 first by low
drawn with seed 1 from 5 changes in low
`,
		"-only low -from " + filepath.Join(root, "before.txt"): `
low TestRed	left out, since it fails without a change
low/low.go:1:1: > -> <	no such change
low/low.go:3:15: 5 -> 5+1	not noticed

0 of 1 changes noticed (0 %), 0 by a timeout
drawn with seed 1 from 5 changes in .
`,
		"-only low,none -in low": "-only low,none: there are tests in 1 of these folders, in the module in .",
		"-in low,nested":         "there is nothing to change in nested, in the module in .",
		"x":                      `unexpected argument "x"`,
	} {
		var out bytes.Buffer
		if err := run(t.Context(), append([]string{"-C", root}, strings.Fields(args)...), &out); err != nil {
			out.Reset()
			out.WriteString(err.Error())
		}
		require.Equal(t, lines(want), lines(out.String()), args)
	}
}

func lines(text string) []string {
	return slices.Sorted(strings.Lines(strings.TrimSpace(text) + "\n"))
}
