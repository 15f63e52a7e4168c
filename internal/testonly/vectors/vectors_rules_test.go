package vectors_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// testCase has the members that cases of every kind have.
type testCase struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Rules []string `json:"rules"`
}

// files returns the names of the files in testdata that have rules.
func files() []string { return []string{"standard.json", "adaptive.json", "classification.json"} }

// readCases returns the rules of a file in a folder and the cases of all its lists, those of new
// kinds included.
func readCases(t *testing.T, folder, name string) (map[string]string, []testCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &members))
	var rules map[string]string
	require.NoError(t, json.Unmarshal(members["rules"], &rules))
	var cases []testCase
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if members[key][0] != '[' {
			continue
		}
		var list []testCase
		require.NoError(t, json.Unmarshal(members[key], &list), key)
		require.NotEmpty(t, list, key)
		cases = append(cases, list...)
	}
	return rules, cases
}

func TestEveryRuleHasACase(t *testing.T) {
	t.Parallel()
	for _, name := range files() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules, cases := readCases(t, own, name)
			require.NotEmpty(t, rules)
			covered := map[string]bool{}
			for _, c := range cases {
				// In classification.json the id describes the case.
				require.True(t, c.Title != "" || name == "classification.json", "%s has no title", c.ID)
				require.NotEmpty(t, c.Rules, c.ID)
				for _, rule := range c.Rules {
					require.NotEmpty(t, rules[rule], "%s names %s, which is not listed", c.ID, rule)
					covered[rule] = true
				}
			}
			for rule := range rules {
				require.True(t, covered[rule], "no case for %s", rule)
			}
		})
	}
}

func TestCaseIDsAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range files() {
		_, cases := readCases(t, own, name)
		for _, c := range cases {
			require.NotEmpty(t, c.ID, "%s: %s", name, c.Title)
			first, taken := seen[c.ID]
			require.False(t, taken, "%s is in %s and in %s", c.ID, first, name)
			seen[c.ID] = name
		}
	}
}

// ruleIDs returns the rules of the vectors in a folder.
func ruleIDs(t *testing.T, folder string) []string {
	t.Helper()
	ids := map[string]bool{}
	for _, name := range files() {
		rules, _ := readCases(t, folder, name)
		for id := range rules {
			ids[id] = true
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "shared-config.json"))
	require.NoError(t, err)
	var config struct{ Cases []struct{ Rule string } }
	require.NoError(t, json.Unmarshal(text, &config))
	for _, c := range config.Cases {
		ids[c.Rule] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

func TestRulesPageHasEveryRuleOnce(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(own, "rules.md"))
	require.NoError(t, err)
	var written []string
	for _, id := range regexp.MustCompile(`\*\*([SARC]\d\d[a-z]?)\*\*`).FindAllStringSubmatch(string(page), -1) {
		written = append(written, id[1])
	}
	slices.Sort(written)
	require.Equal(t, ruleIDs(t, own), written)
	for _, folder := range folders() {
		require.Subset(t, written, ruleIDs(t, folder))
	}
}
