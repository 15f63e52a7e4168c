//go:build long

package telemetry_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/lab/telemetry/internal/record"
)

func TestSimulatedOutageFiresTheAlerts(t *testing.T) {
	t.Parallel()
	const file, mark = "alerts_test.yml", "    input_series: # written by go test -update\n"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	byHand, _, found := strings.Cut(string(text), mark)
	require.True(t, found)
	golden(t, file, byHand+mark+inputSeries(recording(t), time.Minute))

	promtool := tools(t).Promtool
	out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// inputSeries returns the series that the alerts need, as promtool reads them.
func inputSeries(r *evidence, every time.Duration) string {
	needed := regexp.MustCompile(`^(awsretry_(attempts_total|send_wait_seconds_(bucket|count)|scopes_overflowed_total|` +
		`call_duration_seconds_count|quota_pools_empty|fleet_state|fleet_stores_unreached|fleet_store_(calls|failures)_total)|` +
		`awsretry_retries_refused_total\{.*awsretry_reason="quota".*|` +
		`awsretry_send_measured_rate_per_second\{.*rpc_service="kinesis".*)(\{|$)`)
	var text strings.Builder
	for _, f := range r.Families {
		for _, s := range f.Series {
			if !needed.MatchString(s.Name + s.Labels) {
				continue
			}
			var values []float64
			for i := 0; i < len(s.Values); i += int(every / r.Every) {
				values = append(values, s.Values[i])
			}
			fmt.Fprintf(&text, "      - {series: '%s%s', values: '%s'}\n", s.Name, record.WithTarget(s.Labels), runs(values))
		}
	}
	return text.String()
}

// runs writes numbers in the short form of promtool: 3+2x4 is 3 5 7 9 11, and _x2 are two that are missing.
func runs(values []float64) string {
	var parts []string
	for len(values) > 0 {
		n := 1
		if math.IsNaN(values[0]) {
			if n = slices.IndexFunc(values, func(v float64) bool { return !math.IsNaN(v) }); n < 0 {
				n = len(values)
			}
			parts = append(parts, fmt.Sprintf("_x%d", n))
		} else {
			step := math.NaN()
			if len(values) > 1 {
				step = values[1] - values[0]
			}
			for n < len(values) && values[n]-values[n-1] == step {
				n++
			}
			if n > 2 {
				parts = append(parts, fmt.Sprintf("%s+%sx%d", record.Number(values[0]), record.Number(step), n-1))
			} else {
				n = 1
				parts = append(parts, record.Number(values[0]))
			}
		}
		values = values[n:]
	}
	return strings.Join(parts, " ")
}
