//go:build !race

package telemetry_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const page = "../../docs/observing.md"

// table returns the cells of the table of a page whose head begins with a word.
func table(t *testing.T, head string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "\n| "+head+" |")
	require.True(t, found, head)
	for line := range strings.Lines(after) {
		switch {
		case strings.HasPrefix(line, "|--"):
		case strings.HasPrefix(line, "| "):
			rows = append(rows, strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "))
		case len(rows) > 0:
			return rows
		}
	}
	return rows
}

// labelsOf returns the labels in a cell of the table of metrics, sorted.
func labelsOf(cell string) []string {
	groups := map[string]string{
		"op": "aws_region rpc_method rpc_service", "scope": "aws_region awsretry_scope rpc_service", "none": "",
	}
	names := []string{}
	for label := range strings.SplitSeq(strings.TrimSpace(cell), ", ") {
		if group, ok := groups[label]; ok {
			names = append(names, strings.Fields(group)...)
		} else {
			names = append(names, strings.Trim(label, "`"))
		}
	}
	slices.Sort(names)
	return names
}

func TestPageExplainsEachAlert(t *testing.T) {
	t.Parallel()
	var explained []string
	for _, row := range table(t, "alert") {
		explained = append(explained, strings.Trim(row[0], "` "))
	}
	rules, err := os.ReadFile("../../metrics/alerts.yml")
	require.NoError(t, err)
	var alerts []string
	for _, found := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		alerts = append(alerts, found[1])
	}
	require.Equal(t, alerts, explained)
}

func TestEachAlertIsAboutAJob(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("../../metrics/alerts.yml")
	require.NoError(t, err)
	groups := regexp.MustCompile(`\bby \(([^)]*)\)`).FindAllStringSubmatch(string(rules), -1)
	require.NotEmpty(t, groups)
	for _, group := range groups {
		require.Regexp(t, `^cluster, namespace, job\b`, group[1])
	}
	aggregations := regexp.MustCompile(`\b(sum|count|min|max|avg) `).FindAllString(string(rules), -1)
	require.Len(t, aggregations, len(groups))
}
