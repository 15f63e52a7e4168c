package vectors_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/testonly/vectors"
)

var update = flag.Bool("update", false, "write testdata/cross-checks.md")

// check is a case of cross-checks.json, with the names of its public tests by source.
type check struct {
	vectors.Precision
	testCase

	Source map[string][]string `json:"source"`

	text  json.RawMessage
	rules map[string]string // of the file with the form of the case
}

// readChecks returns the file and its cases by id.
func readChecks(t *testing.T) (vectors.CrossChecks, map[string]check) {
	t.Helper()
	file := vectors.ReadCrossChecks(t)
	polls, err := json.Marshal(map[string]any{"long_polls": file.LongPolls})
	require.NoError(t, err)
	checks := map[string]check{}
	for _, part := range []struct {
		name string
		text json.RawMessage
	}{
		{"standard.json", file.Standard},
		{"standard.json", polls},
		{"adaptive.json", file.Adaptive},
		{"classification.json", file.Classification},
	} {
		rules, _ := readCases(t, own, part.name)
		var lists map[string][]json.RawMessage
		require.NoError(t, json.Unmarshal(part.text, &lists))
		for _, text := range slices.Concat(slices.Collect(maps.Values(lists))...) {
			c := check{text: text, rules: rules}
			require.NoError(t, json.Unmarshal(text, &c))
			require.NotContains(t, checks, c.ID)
			checks[c.ID] = c
		}
	}
	return file, checks
}

func TestCrossChecksNameTheirRulesAndTests(t *testing.T) {
	t.Parallel()
	file, checks := readChecks(t)
	for _, name := range files() {
		_, cases := readCases(t, own, name)
		for _, c := range cases {
			require.NotContains(t, checks, c.ID, name)
		}
	}
	beyond := map[string]bool{}
	for key, source := range file.Sources {
		for _, b := range source.Beyond {
			for _, test := range b.Tests {
				require.False(t, beyond[key+test], "%s: %s twice", key, test)
				beyond[key+test] = true
			}
		}
	}
	for id, c := range checks {
		require.NotEmpty(t, c.Rules, id)
		for _, rule := range c.Rules {
			require.NotEmpty(t, c.rules[rule], "%s names %s, which is not listed", id, rule)
		}
		require.NotEmpty(t, c.Source, id)
		for key, tests := range c.Source {
			require.Contains(t, file.Sources, key, id)
			for _, test := range tests {
				require.False(t, beyond[key+test], "%s: the rules speak of %s", id, test)
			}
		}
	}
}

// TestDifferencesAreDifferences holds that both sides differ in a number that the tests of the
// case compare. They hold this side, so a difference that ends breaks one of them.
func TestDifferencesAreDifferences(t *testing.T) {
	t.Parallel()
	file, checks := readChecks(t)
	decided := map[string]bool{}
	for _, d := range file.Differences {
		c, ok := checks[d.Case]
		require.True(t, ok, d.ID)
		require.Contains(t, file.Decisions, d.Decision, d.ID)
		decided[d.Decision] = true
		require.NotEmpty(t, d.Public, d.ID)
		for place, public := range d.Public {
			require.Contains(t, place, ".want.", d.ID)
			require.False(t, c.Near(public, numberAt(t, c.text, place)), "%s: %s is the same on both sides", d.ID, place)
		}
	}
	require.Len(t, decided, len(file.Decisions), "a decision without a difference")
}

// numberAt returns the number at a place such as steps.0.want.delay_s.
func numberAt(t *testing.T, text json.RawMessage, place string) (number float64) {
	t.Helper()
	for name := range strings.SplitSeq(place, ".") {
		if i, err := strconv.Atoi(name); err == nil {
			var list []json.RawMessage
			require.NoError(t, json.Unmarshal(text, &list), place)
			require.Less(t, i, len(list), place)
			text = list[i]
			continue
		}
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &members), place)
		require.Contains(t, members, name, place)
		text = members[name]
	}
	require.NoError(t, json.Unmarshal(text, &number), place)
	return number
}

func TestPageOfTheCrossChecks(t *testing.T) {
	t.Parallel()
	file, checks := readChecks(t)
	page := filepath.Join(own, "cross-checks.md")
	want := pageOf(file, checks)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "go test ./internal/testonly/vectors -update")
}

const intro = `# Cross-checks

Most of these public tests of AWS SDKs were not used to write the [rules](rules.md). They run as cases of
[cross-checks.json](cross-checks.json):

` + "```sh\ngo test ./...\n```" + `

Tests met/not met/without a rule:

`

// testsOf returns the public tests that cases name, by source, and whether they differ.
func testsOf(file vectors.CrossChecks, checks map[string]check) map[string]map[string]bool {
	differs := map[string]bool{} // by id of the case
	for _, d := range file.Differences {
		differs[d.Case] = true
	}
	tests := map[string]map[string]bool{}
	for id, c := range checks {
		for key, names := range c.Source {
			if tests[key] == nil {
				tests[key] = map[string]bool{}
			}
			for _, name := range names {
				tests[key][name] = tests[key][name] || differs[id]
			}
		}
	}
	return tests
}

// pageOf returns the text of testdata/cross-checks.md.
func pageOf(file vectors.CrossChecks, checks map[string]check) string {
	tests := testsOf(file, checks)
	var b strings.Builder
	b.WriteString(intro)
	var sum [3]int
	row := func(name string, n [3]int) {
		fmt.Fprintf(&b, "- %s: %d/%d/%d\n", name, n[0], n[1], n[2])
	}
	keys := slices.SortedFunc(maps.Keys(file.Sources), func(a, b string) int {
		return strings.Compare(linkOf(file.Sources[a]), linkOf(file.Sources[b]))
	})
	for _, key := range keys {
		var n [3]int
		for _, differs := range tests[key] {
			if differs {
				n[1]++
			} else {
				n[0]++
			}
		}
		for _, beyond := range file.Sources[key].Beyond {
			n[2] += len(beyond.Tests)
		}
		for i := range sum {
			sum[i] += n[i]
		}
		row(linkOf(file.Sources[key]), n)
	}
	row("All", sum)
	b.WriteString("\n## Differences\n\nThe rule stays.\n\n")
	for _, d := range file.Differences {
		fmt.Fprintf(&b, "- **%s** (%s): %s; here %s (%s).\n", strings.Join(checks[d.Case].Rules, ", "), d.Decision, d.Theirs, d.Ours, d.Notices)
	}
	b.WriteString("\nWhy:\n\n")
	for _, name := range slices.Sorted(maps.Keys(file.Decisions)) {
		fmt.Fprintf(&b, "- %s: %s\n", name, file.Decisions[name])
	}
	b.WriteString("\n## Tests without a rule\n\n")
	for _, key := range keys {
		for _, beyond := range file.Sources[key].Beyond {
			fmt.Fprintf(&b, "- %d: %s\n", len(beyond.Tests), beyond.Why)
		}
	}
	return b.String()
}

// linkOf returns the link to a file of tests.
func linkOf(s vectors.PublicTests) string {
	return fmt.Sprintf("[%s/%s](https://github.com/%s/blob/%s/%s)", path.Base(s.Repository), path.Base(s.Path), s.Repository, s.Version, s.Path)
}
