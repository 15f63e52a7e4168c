//go:build !race

package effect

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	all   = flag.Bool("all", false, "play every scenario with every contender")
	seeds = flag.Uint64("seeds", 1, "how often to play each, with other latencies and jitter")
)

// TestEffect plays the scenarios, a few of them unless -all is given. With -v it prints what they come to, as medians
// over the seeds. Goodput above what the service allows would be a fault of the service here.
func TestEffect(t *testing.T) {
	played, by := slice()
	if *all {
		played, by = scenarios(), contenders()
	}
	for _, s := range played {
		t.Run(s.String(), func(t *testing.T) {
			var rows [][]metrics
			for _, c := range by {
				rows = append(rows, repeat(func(seed uint64) metrics { return play(t, s, c, seed).metrics() }))
				for _, m := range rows[len(rows)-1] {
					require.Greater(t, m.goodput, 0.0, c.name)
					require.Less(t, m.goodput, 1.05, c.name)
				}
			}
			t.Log(table(by, rows, columns()))
		})
	}
	t.Run("scenario=tables", func(t *testing.T) {
		var rows [][]float64
		for _, c := range by {
			rows = append(rows, repeat(func(seed uint64) float64 { return twoTables(t, c, seed) }))
			require.Greater(t, slices.Min(rows[len(rows)-1]), 0.0, c.name)
		}
		alone := column[float64]{"goodput over that of the table alone", "%.3f", func(x float64) float64 { return x }}
		t.Log(table(by, rows, []column[float64]{alone}))
	})
}

// repeat plays once for each seed.
func repeat[T any](play func(seed uint64) T) []T {
	var all []T
	for seed := range *seeds {
		all = append(all, play(seed+1))
	}
	return all
}

// column is a figure of a run.
type column[T any] struct {
	heading, format string
	of              func(T) float64
}

func columns() []column[metrics] {
	return []column[metrics]{
		{"goodput/R", "%.3f", func(m metrics) float64 { return m.goodput }},
		{"throttled", "%.2f %%", func(m metrics) float64 { return 100 * m.throttled }},
		{"attempts/success", "%.3f", func(m metrics) float64 { return m.attempts }},
		{"failed", "%.2f %%", func(m metrics) float64 { return 100 * m.failed }},
		{"for want of quota", "%.2f %%", func(m metrics) float64 { return 100 * m.noQuota }},
		{"attempts/operation in the outage", "%.2f", func(m metrics) float64 { return m.inOutage }},
		{"p50 wait", "%.2f s", func(m metrics) float64 { return m.p50.Seconds() }},
		{"p99 wait", "%.2f s", func(m metrics) float64 { return m.p99.Seconds() }},
		{"longest wait", "%.2f s", func(m metrics) float64 { return m.longest.Seconds() }},
		{"longest before a first attempt", "%.2f s", func(m metrics) float64 { return m.initial.Seconds() }},
		{"time to 90 % of R", "%.2f s", func(m metrics) float64 { return m.settled.Seconds() }},
		{"fairness", "%.3f", func(m metrics) float64 { return m.fairness }},
		{"wake-ups/attempt", "%.2f", func(m metrics) float64 { return m.wakeUps }},
		{"wake-ups/delayed attempt", "%.2f", func(m metrics) float64 { return m.wakeUpsPerDelay }},
		{"CPU/attempt", "%.1f µs", func(m metrics) float64 { return float64(m.cpu.Nanoseconds()) / 1e3 }},
	}
}

// table has a line for each contender, of the medians over its runs. A column of zeros is left out.
func table[T any](by []contender, runs [][]T, columns []column[T]) string {
	lines := make([]string, len(by)+1)
	for i, c := range by {
		lines[i+1] = c.name
	}
	for _, c := range columns {
		medians := make([]float64, len(by))
		for i, of := range runs {
			var figures []float64
			for _, run := range of {
				figures = append(figures, c.of(run))
			}
			slices.Sort(figures)
			medians[i] = figures[len(figures)/2]
		}
		if slices.Max(medians) == 0 {
			continue
		}
		lines[0] += "\t" + c.heading
		for i, m := range medians {
			text := fmt.Sprintf(c.format, m)
			if m < 0 { // as only the time to 90 % of R can be
				text = "never"
			}
			lines[i+1] += "\t" + text
		}
	}
	var text bytes.Buffer
	aligned := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(aligned, strings.Join(lines, "\n"))
	_ = aligned.Flush()
	return "\n" + strings.TrimSuffix(text.String(), "\n")
}

// slice is what an ordinary test plays: fast, and the same in every run.
func slice() ([]scenario, []contender) {
	var by []contender
	for _, c := range contenders() {
		switch c.name {
		case "awsretry-adaptive", "awsretry-standard", "oracle":
			by = append(by, c)
		}
	}
	return []scenario{steady(50, short, 1, 100)}, by
}

func named(t *testing.T, name string) contender {
	t.Helper()
	for _, c := range contenders() {
		if c.name == name {
			return c
		}
	}
	require.Fail(t, "no such contender", name)
	return contender{}
}

func TestRunsAreTheSameTwice(t *testing.T) {
	s, c := steady(50, time.Second, 1, 100), named(t, "awsretry-adaptive")
	first, second := play(t, s, c, 1).metrics(), play(t, s, c, 1).metrics()
	first.cpu, second.cpu = 0, 0
	require.Equal(t, first, second)
	other := play(t, s, c, 2).metrics()
	require.NotEqual(t, first.p50, other.p50)
}

func TestAdaptiveModeComesCloseToTheOracle(t *testing.T) {
	for _, burst := range []time.Duration{short, time.Second} {
		s := steady(50, burst, 1, 100)
		got := play(t, s, named(t, "awsretry-adaptive"), 1).metrics()
		want := play(t, s, named(t, "oracle"), 1).metrics()
		require.InDelta(t, 1, want.goodput, 0.005)
		require.Zero(t, want.throttled)
		require.GreaterOrEqual(t, got.goodput, 0.95)
		require.LessOrEqual(t, got.throttled, 0.02)
		require.LessOrEqual(t, got.p99, want.p99*12/10)
		require.LessOrEqual(t, got.initial, want.initial*12/10)
		require.GreaterOrEqual(t, got.fairness, 0.995)
		require.LessOrEqual(t, got.wakeUpsPerDelay, 1.1)
	}
}

func TestOutageLeavesNoMarkOnTheQuota(t *testing.T) {
	for _, name := range []string{"awsretry-standard", "awsretry-adaptive"} {
		got := play(t, outage(500), named(t, name), 1).metrics()
		require.Zero(t, got.noQuota, name)
		require.LessOrEqual(t, got.inOutage, 1.02, name)
	}
}

func TestThrottledTableLeavesAnotherAlone(t *testing.T) {
	require.GreaterOrEqual(t, twoTables(t, named(t, "awsretry-adaptive"), 1), 0.99)
}

// TestWaitsOfTheSDKAreCounted notices if its sleep can no longer be replaced, which
// would also take away the floor that lets its runs end.
func TestWaitsOfTheSDKAreCounted(t *testing.T) {
	got := play(t, steady(5, time.Second, 1, 10), named(t, "aws-sdk-go-v2-adaptive"), 1)
	require.Positive(t, got.delayed)
	require.Greater(t, got.wakeUps, got.delayed)
}
