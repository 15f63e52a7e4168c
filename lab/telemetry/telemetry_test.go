//go:build !race

package telemetry_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/retry"
)

// code is an error with the code of a service.
type code string

func (c code) Error() string     { return "made up" }
func (c code) ErrorCode() string { return string(c) }

// shown is a strategy with a snapshot that a test has made.
type shown struct {
	retry.Strategy
	snapshot *retry.Snapshot
}

func (s shown) Snapshot() retry.Snapshot { return *s.snapshot }

// dashboard has the fields of the dashboard that tests look at.
type dashboard struct {
	Templating struct {
		List []struct{ Name string }
	}
	Panels []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		FieldConfig              struct {
			Defaults struct {
				Unit       string
				Thresholds struct{ Steps []struct{ Value *float64 } }
				Custom     struct{ ThresholdsStyle struct{ Mode string } }
			}
		}
		Targets []struct{ RefID, Expr, LegendFormat string }
	}
}

func read(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../../metrics/dashboard.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// lines returns the series of metrics, sorted. A label without a text is none.
func lines(t *testing.T, families []*dto.MetricFamily) (all []string) {
	t.Helper()
	var text bytes.Buffer
	for _, f := range families {
		_, err := expfmt.MetricFamilyToText(&text, f)
		require.NoError(t, err)
	}
	none := regexp.MustCompile(`\b\w+="",?`)
	for line := range strings.Lines(text.String()) {
		if !strings.HasPrefix(line, "#") {
			line = strings.ReplaceAll(none.ReplaceAllString(line, ""), ",}", "}")
			all = append(all, strings.Replace(strings.TrimSpace(line), "{}", "", 1))
		}
	}
	slices.Sort(all)
	return all
}

// table returns the cells of the table of the page whose head begins with a word.
func table(t *testing.T, head string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/observing.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "\n| "+head+" |")
	require.True(t, found, head)
	for line := range strings.Lines(after) {
		switch {
		case strings.HasPrefix(line, "|--"):
		case strings.HasPrefix(line, "| "):
			rows = append(rows, strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | "))
		case len(rows) > 0:
			return rows
		}
	}
	return rows
}
