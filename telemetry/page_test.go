//go:build !race

package telemetry_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

const page = "../docs/observing.md"

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

// The page has each metric of the outage with its kind, its labels and a question, and no other one.
func TestSimulatedMetricsAreAllOnThePage(t *testing.T) {
	t.Parallel()
	labels := map[string]string{
		"op": "aws_region rpc_method rpc_service", "scope": "aws_region awsretry_scope rpc_service", "none": "",
	}
	explained := map[string][2]string{}
	for _, row := range table(t, "metric") {
		require.Len(t, row, 5, row)
		names := []string{}
		for label := range strings.SplitSeq(strings.TrimSpace(row[2]), ", ") {
			if group, ok := labels[label]; ok {
				names = append(names, strings.Fields(group)...)
			} else {
				names = append(names, strings.Trim(label, "`"))
			}
		}
		slices.Sort(names)
		kind, _, _ := strings.Cut(strings.TrimSpace(row[1]), ",")
		explained[strings.Trim(row[0], "` ")] = [2]string{kind, strings.Join(names, " ")}
		require.Regexp(t, `\.$`, strings.TrimSpace(row[3]), row)
		require.Regexp(t, `\?$`, strings.TrimSpace(row[4]), row)
	}
	shown := map[string][2]string{}
	for _, f := range recording(t).End {
		names := []string{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if !slices.Contains(names, l.GetName()) {
					names = append(names, l.GetName())
				}
			}
		}
		slices.Sort(names)
		kind := map[dto.MetricType]string{
			dto.MetricType_COUNTER: "counter", dto.MetricType_GAUGE: "gauge", dto.MetricType_HISTOGRAM: "histogram",
		}[f.GetType()]
		shown[f.GetName()] = [2]string{kind, strings.Join(names, " ")}
	}
	require.Equal(t, shown, explained)
}

func TestPageExplainsEachAlert(t *testing.T) {
	t.Parallel()
	var explained []string
	for _, row := range table(t, "alert") {
		explained = append(explained, strings.Trim(row[0], "` "))
	}
	rules, err := os.ReadFile("alerts.yml")
	require.NoError(t, err)
	var alerts []string
	for _, found := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		alerts = append(alerts, found[1])
	}
	require.Equal(t, alerts, explained)
}
