//go:build long

package sdktest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"
)

const (
	readme = "../../README.md"
	// In adaptive mode the figures of the SDK differ from run to run, so the README has the lowest and the highest.
	readmeRuns = 15
)

// spread is the lowest and the highest figure of several runs.
type spread struct{ lowest, highest float64 }

// text writes one figure where both look the same.
func (s spread) text(decimals int, unit string) string {
	lowest, highest := strconv.FormatFloat(s.lowest, 'f', decimals, 64), strconv.FormatFloat(s.highest, 'f', decimals, 64)
	if lowest == highest {
		return lowest + unit
	}
	return lowest + " to " + highest + unit
}

var spreadPattern = regexp.MustCompile(`^([\d.]+)(?: to ([\d.]+))?`)

// spreadIn reads what text has written.
func spreadIn(t *testing.T, cell string) (s spread) {
	t.Helper()
	match := spreadPattern.FindStringSubmatch(cell)
	require.NotNil(t, match, cell)
	for i, figure := range []*float64{&s.lowest, &s.highest} {
		text := match[1]
		if i == 1 && match[2] != "" {
			text = match[2]
		}
		var err error
		*figure, err = strconv.ParseFloat(text, 64)
		require.NoError(t, err)
	}
	return s
}

// TestThrottledTableOfTheReadme plays the table and the picture of README.md. With -update it writes them.
func TestThrottledTableOfTheReadme(t *testing.T) {
	t.Setenv("AWS_NEW_RETRIES_2026", "true")
	lines := []string{"| calls to A that succeed |", "| calls to B that succeed; 80/s without A |", "| p99 of a call to B |"}
	var first [2]played
	for i, rival := range []rival{rivals[1], rivals[3]} { // those in adaptive mode
		var figures [3][]float64
		for run := range readmeRuns {
			synctest.Test(t, func(t *testing.T) {
				callA, callB := twoTables.calls(rival.setup(t, &meter{pair: twoTables}))
				a, b := drive(t, callA, callB, true)
				for row, figure := range []float64{perSecond(a.succeeded), perSecond(b.succeeded), b.p99().Seconds()} {
					figures[row] = append(figures[row], figure)
				}
				if run == 0 {
					first[i] = played{name: strings.Replace(rival.name, "v2", "v2 v"+aws.SDKVersion, 1), a: a.ends, b: b.ends}
				}
			})
		}
		for row, all := range figures {
			decimals, unit := 1, "/s"
			if row == 2 {
				decimals, unit = 2, " s"
			}
			lines[row] += " " + spread{slices.Min(all), slices.Max(all)}.text(decimals, unit) + " |"
		}
	}
	t.Log("\n" + strings.Join(lines, "\n"))
	requireInReadme(t, lines)
	if *update {
		for name, colors := range schemes {
			svg, err := draw(first, colors)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile("../../docs/pictures/two-tables-"+name+".svg", svg, 0o600))
		}
	}
}

// requireInReadme compares lines with those of the README, or writes them.
func requireInReadme(t *testing.T, lines []string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	require.Contains(t, string(text), "| adaptive mode | aws-sdk-go-v2 v"+aws.SDKVersion+" | awsretry |")
	require.Contains(t, string(text), fmt.Sprintf("of %d runs", readmeRuns))
	page := strings.Split(string(text), "\n")
	for _, line := range lines {
		cells := strings.Split(line, " | ")
		at := slices.IndexFunc(page, func(l string) bool { return strings.HasPrefix(l, cells[0]+" | ") })
		require.GreaterOrEqual(t, at, 0, "no line of the README begins with %q", cells[0])
		if *update {
			page[at] = line
			continue
		}
		was := strings.Split(page[at], " | ")
		require.Len(t, was, len(cells))
		sdkWas, sdk := spreadIn(t, was[1]), spreadIn(t, cells[1])
		oursWas, ours := spreadIn(t, was[2]), spreadIn(t, cells[2])
		hint := page[at] + "\n" + line + "\nmake readme writes the lines anew"
		require.LessOrEqual(t, sdk.lowest, sdkWas.highest, hint)
		require.GreaterOrEqual(t, sdk.highest, sdkWas.lowest, hint)
		require.InDelta(t, oursWas.lowest, ours.lowest, 0.2, hint)
		require.InDelta(t, oursWas.highest, ours.highest, 0.2, hint)
	}
	if *update {
		require.NoError(t, os.WriteFile(readme, []byte(strings.Join(page, "\n")), 0o600))
	}
}
