package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const printed = `goos: linux
cpu: some processor
BenchmarkSuccess/mode=standard/scopes=1/goroutines=1/of=awsretry-2         	100	 20 ns/op	 21 cpu-ns/op	0 B/op	0 allocs/op
BenchmarkSuccess/mode=standard/scopes=1/goroutines=1/of=aws-sdk-go-v2-2    	100	 80 ns/op	 90 cpu-ns/op	32 B/op	2 allocs/op
BenchmarkSuccess/mode=standard/scopes=1/goroutines=1/of=limit-2            	100	 2 ns/op	 2 cpu-ns/op	0 B/op	0 allocs/op
noise
BenchmarkSuccess/mode=standard/scopes=1/goroutines=1/of=awsretry-2         	100	 30 ns/op	 31 cpu-ns/op	0 B/op	0 allocs/op
BenchmarkSuccess/mode=standard/scopes=1/goroutines=1/of=awsretry-2         	100	 10 ns/op	 11 cpu-ns/op	0 B/op	0 allocs/op
BenchmarkEffect/scenario=steady/R=5/of=awsretry-adaptive 1 0.5 goodput/R 0.25 throttled-share -1 settled-s 2000 cpu-ns/send
BenchmarkEffect/scenario=steady/R=5/of=aws-sdk-go-v2-adaptive 1 0.6 goodput/R 0.2 throttled-share 3 settled-s 4000 cpu-ns/send
`

func parsed(t *testing.T) *results {
	t.Helper()
	r, err := parse(strings.NewReader(printed), "printed")
	require.NoError(t, err)
	return r
}

func TestParseKeepsEveryRoundOfEveryContender(t *testing.T) {
	t.Parallel()
	r := parsed(t)
	require.Equal(t, []string{"Success/mode=standard/scopes=1", "Effect/scenario=steady/R=5"}, r.tables)
	require.Equal(t, []string{"awsretry", sdk, limit}, r.of["Success/mode=standard/scopes=1"])
	m, ok := r.median(cell{"Success/mode=standard/scopes=1", "1", "awsretry"}, "sec/op")
	require.True(t, ok)
	require.InDelta(t, 20e-9, m.Center, 1e-15)
	_, ok = r.median(cell{"Success/mode=standard/scopes=1", "2", "awsretry"}, "sec/op")
	require.False(t, ok)
	require.Equal(t, "some processor", r.config["cpu"])
	require.Equal(t, 3, r.rounds())
}

func TestTableShowsTimesRatiosAndAllocations(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	writeTable(&text, parsed(t), "Success/mode=standard/scopes=1")
	require.Contains(t, text.String(), "\n## Success, mode standard, scopes 1\n")
	require.Contains(t, text.String(),
		"| aws-sdk-go-v2 | 80.00ns ± ∞ |  |  | 90.00ns ± ∞ | 1.00 |  |  | 40.0 |  |  | 2 |\n")
	require.Contains(t, text.String(), " | 0.25 |  |  | 10.0 |  |  | 0 |\n")
}

func TestScenarioShowsWhatIsNotZero(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	writeScenario(&text, parsed(t), "Effect/scenario=steady/R=5")
	require.Equal(t, `
## steady, R 5

|  | goodput / R | throttled | time to 90 % of R | CPU / attempt |
|---|---|---|---|---|
| awsretry-adaptive | 0.500 | 25.00 % | never | 2.0 us |
| aws-sdk-go-v2-adaptive | 0.600 | 20.00 % | 3.00 s | 4.0 us |
`, text.String())
}

func TestWorseListsEveryMeasureThatIsBehind(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	writeWorse(&text, parsed(t))
	require.Contains(t, text.String(), "| steady, R 5 | goodput / R | 0.500 | 0.600 |\n")
	require.Contains(t, text.String(), "| steady, R 5 | throttled | 25.00 % | 20.00 % |\n")
}

func TestTargetsSayWhetherTheyAreMet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target target
		want   string
	}{
		"ratio that is low enough": {
			ratio("x", "Success/mode=standard/scopes=1", "1", 0.25), "| x | at most 0.25 | 0.25 | yes |",
		},
		"ratio that is too high": {
			ratio("x", "Success/mode=standard/scopes=1", "1", 0.2), "| x | at most 0.2 | 0.25 | no |",
		},
		"number that is high enough": {
			target{what: "x", of: by("Effect/scenario=steady/R=5", adaptive), unit: "goodput/R", goal: goal{0.5, true}},
			"| x | at least 0.5 | 0.50 | yes |",
		},
		"what was not measured": {none("x", "Elsewhere", 0), "| x | at most 0 | not measured |  |"},
		"allocations":           {none("x", "Success/mode=standard/scopes=1", 0), "| x | at most 0 | 0 | yes |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			writeTargets(&text, parsed(t), []target{c.target})
			require.Contains(t, text.String(), c.want+"\n")
		})
	}
}

func TestSummarySetsUsBesideTheSDK(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	writeSummary(&text, parsed(t), summary())
	require.Equal(t, `
## In short

| | awsretry | aws-sdk-go-v2 | ratio |
|---|---|---|---|
| success, standard | 20.00ns, 0 allocations | 80.00ns, 2 allocations | 0.25 |
`, text.String())
}

func TestEffectSummarySetsUsBesideTheSDKAndTheOracle(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	writeEffectSummary(&text, parsed(t))
	require.Contains(t, text.String(), "| steady, R 5 | 0.500; 0.000; 0.600; 0.000 | 25.00 %; 0.00 %; 20.00 %; 0.00 % |")
}

// TestReadmeQuotesTheResults holds the two tables in short of lab/bench/README.md to what was
// measured last: paste there what changes here.
func TestReadmeQuotesTheResults(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	readme := read("../README.md")
	for heading, results := range map[string]string{
		"Small steps, in short": read("../RESULTS.md"),
		"Effect, in short":      read("../RESULTS-effect.md"),
	} {
		_, measured, found := strings.Cut(results, "\n## In short\n")
		require.True(t, found)
		measured, _, _ = strings.Cut(measured, "\n## ")
		_, section, found := strings.Cut(readme, "\n## "+heading+"\n")
		require.True(t, found, heading)
		section, _, _ = strings.Cut(section, "\n## ")
		require.Equal(t, rows(measured), rows(section), heading)
	}
}

// rows returns the lines of the tables in a text.
func rows(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			found = append(found, line)
		}
	}
	return found
}

func TestRunWantsToKnowWhatToRun(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, run(t.Context(), []string{"-rounds", "1"}), "micro or effect")
}
