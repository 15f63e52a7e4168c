//go:build !race

package telemetry_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/telemetry/internal/record"
	"github.com/awsretry/awsretry/retry"
)

// code is an error with the code of a service.
type code string

func (code) Error() string { return "made up" }

func (c code) ErrorCode() string { return string(c) }

// shown is a strategy with a snapshot that a test has made.
type shown struct {
	retry.Strategy
	snapshot *retry.Snapshot
}

func (s shown) Snapshot() retry.Snapshot { return *s.snapshot }

// seriesOf returns the series of metrics, with their values.
func seriesOf(families ...*dto.MetricFamily) []string {
	var all []string
	for _, f := range families {
		record.Each(f, func(name, labels string, value float64) {
			all = append(all, fmt.Sprintf("%s%s %s", name, labels, record.Number(value)))
		})
	}
	return all
}

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
		"op": "cloud_region rpc_method rpc_service", "scope": "cloud_region awsretry_scope rpc_service", "none": "",
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
