//go:build !race

package telemetry_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
