//go:build !race

package pages_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rulePattern = regexp.MustCompile(`\*\*([SARC]\d\d[a-z]?)\*\*`)

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
	for _, id := range rulePattern.FindAllStringSubmatch(read(t, "testdata/rules.md"), -1) {
		written = append(written, id[1])
	}
	slices.Sort(written)
	require.Equal(t, ruleIDs(t, "testdata"), written)
	if shared := os.Getenv("AWSRETRY_CONFORMANCE"); shared != "" {
		require.Subset(t, written, ruleIDs(t, shared))
	}
}
