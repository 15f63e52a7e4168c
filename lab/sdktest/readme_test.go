//go:build long

package sdktest

import (
	"fmt"
	"math"
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

// In adaptive mode the figures of the SDK differ from run to run, so the README has the least and the greatest.
const readmeRuns = 15

// spread is the least and the greatest of the figures of several runs.
type spread struct{ least, greatest float64 }

func spreadOf(figures []float64) spread { return spread{slices.Min(figures), slices.Max(figures)} }

func (s spread) text(decimals int, unit string) string {
	least, greatest := strconv.FormatFloat(s.least, 'f', decimals, 64), strconv.FormatFloat(s.greatest, 'f', decimals, 64)
	if least == greatest {
		return least + unit
	}
	return least + " to " + greatest + unit
}

// TestThrottledTableOfTheReadme plays the table and the picture of README.md. With -update it writes them.
func TestThrottledTableOfTheReadme(t *testing.T) {
	t.Setenv("AWS_NEW_RETRIES_2026", "true")
	columns := [2][3]string{}
	var curves [2]curve
	for i, rival := range slices.DeleteFunc(slices.Clone(rivals), func(r rival) bool { return !strings.HasSuffix(r.name, "adaptive") }) {
		var a, b, p99 []float64
		for run := range readmeRuns {
			synctest.Test(t, func(t *testing.T) {
				callA, callB := twoTables.calls(rival.setup(t, &meter{pair: twoTables}))
				ofA, ofB := drive(t, callA, callB, true)
				a, b = append(a, perSecond(ofA.succeeded)), append(b, perSecond(ofB.succeeded))
				p99 = append(p99, ofB.p99().Seconds())
				if run == 0 {
					curves[i] = curve{name: strings.Replace(rival.name, "v2", "v2 v"+aws.SDKVersion, 1), a: ofA.ends, b: ofB.ends}
				}
			})
		}
		if rival.apart {
			require.GreaterOrEqual(t, slices.Min(b), 0.98*80)
		}
		columns[i] = [3]string{spreadOf(a).text(1, "/s"), spreadOf(b).text(1, "/s"), spreadOf(p99).text(2, " s")}
	}
	lines := make([]string, 3)
	for i, what := range []string{"calls to A that succeed", "calls to B that succeed; 80/s without A", "p99 of a call to B"} {
		lines[i] = fmt.Sprintf("| %s | %s | %s |", what, columns[0][i], columns[1][i])
		t.Log(lines[i])
	}
	requireInReadme(t, lines)
	if *update {
		for name, c := range schemes {
			svg, err := drawCurves(curves, c)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile("../../docs/pictures/two-tables-"+name+".svg", svg, 0o600))
		}
	}
}

var number = regexp.MustCompile(`\d+\.\d+`)

// requireInReadme compares lines with those of the README, or writes them. The figures of the SDK's adaptive mode may be
// twice or half of what they were: they are the least and the greatest of few runs.
func requireInReadme(t *testing.T, lines []string) {
	t.Helper()
	const file = "../../README.md"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	page := strings.Split(string(text), "\n")
	for _, line := range lines {
		label := strings.SplitAfter(line, " | ")[0]
		at := slices.IndexFunc(page, func(l string) bool { return strings.HasPrefix(l, label) })
		require.GreaterOrEqual(t, at, 0, "no line of the README begins with %q", label)
		if *update {
			page[at] = line
			continue
		}
		was, is := figures(t, page[at]), figures(t, line)
		require.Len(t, is, len(was), "%s\n%s\nwrite the README anew with -update", page[at], line)
		for i := range was {
			require.LessOrEqual(t, math.Abs(was[i]-is[i]), 1+max(was[i], is[i])*2/3, "%s\n%s\nwrite the README anew with -update", page[at], line)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(page, "\n")), 0o600))
	}
}

func figures(t *testing.T, line string) (all []float64) {
	t.Helper()
	for _, digits := range number.FindAllString(line, -1) {
		figure, err := strconv.ParseFloat(digits, 64)
		require.NoError(t, err)
		all = append(all, figure)
	}
	return all
}
