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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"
)

// A row is played with the first number of seeds, and with the second if it looks worse after those: what comes of chance
// goes away with more of them, and what does not, shows.
const (
	usualSeeds   = 4
	doubtedSeeds = 24
	tolerated    = 2.0 // standard errors
)

// TestSimulatedNeverWorse plays the plain SDK and awsretry in the same cases. In no row more calls fail with awsretry than
// chance explains. With -update it writes the tables of RESULTS.md.
func TestSimulatedNeverWorse(t *testing.T) {
	t.Setenv("AWS_NEW_RETRIES_2026", "true") // for the 4 attempts of DynamoDB; clients as new as v1.48.0 have them without it
	var lines []string
	played := 0
	for _, mode := range []aws.RetryMode{aws.RetryModeStandard, aws.RetryModeAdaptive} {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, "### "+strings.ToUpper(string(mode[:1]))+string(mode[1:])+" mode", "", heads, rule)
		for _, c := range trials() {
			t.Run(strings.ReplaceAll(fmt.Sprintf("%s, %s, %v", mode, c.name, c.tables[0]), "/", " per "), func(t *testing.T) {
				played++
				rows := c.compare(t, mode)
				for _, r := range rows {
					lines = append(lines, r.String())
				}
				for _, r := range rows {
					require.LessOrEqual(t, r.worse(), tolerated, r.String())
				}
			})
		}
	}
	if played == 2*len(trials()) { // and not a part of them, with -run
		requireInPage(t, lines)
	}
}

// firstLine is where the tables begin in the file, which ends with them.
const firstLine = "### Standard mode\n"

// requireInPage compares lines with those of the file, or writes them. Shares may differ a little from run to run: callers
// of the SDK's adaptive mode wake at the same instant, and net/http has two timers for one timeout.
func requireInPage(t *testing.T, lines []string) {
	t.Helper()
	const file = "RESULTS.md"
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	text, tables, found := strings.Cut(string(page), firstLine)
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text+strings.Join(lines, "\n")+"\n"), 0o600))
		return
	}
	was := strings.Split(strings.TrimSuffix(firstLine+tables, "\n"), "\n")
	require.Len(t, was, len(lines), "write the page anew with -update")
	for i, line := range lines {
		require.Equal(t, words(was[i]), words(line), "write the page anew with -update")
		require.InDeltaSlice(t, shares(t, was[i]), shares(t, line), 5, "%s\n%s\nwrite the page anew with -update", was[i], line)
	}
}

// words are the cells of a line without figures of a run.
func words(line string) []string {
	cells := strings.Split(line, "|")
	return append(cells[:min(3, len(cells))], cells[max(len(cells)-2, 0):]...)
}

var share = regexp.MustCompile(`\(([\d.]+) %\)`)

// shares are the calls that failed in a line, in percent.
func shares(t *testing.T, line string) (percents []float64) {
	t.Helper()
	for _, match := range share.FindAllStringSubmatch(line, -1) {
		percent, err := strconv.ParseFloat(match[1], 64)
		require.NoError(t, err)
		percents = append(percents, percent)
	}
	return percents
}

// outcome is a row of the table: what became of the calls of a table with the plain SDK and with awsretry.
type outcome struct {
	trial  *trial
	table  int
	bySeed [2][]*tally
}

// compare plays a trial.
func (c *trial) compare(t *testing.T, mode aws.RetryMode) []*outcome {
	t.Helper()
	rows := make([]*outcome, len(c.tables))
	for i := range rows {
		rows[i] = &outcome{trial: c, table: i}
	}
	add := func(from, to uint64) {
		for seed := from; seed < to; seed++ {
			for i, s := range sides {
				for k, tally := range c.play(t, s, mode, seed) {
					rows[k].bySeed[i] = append(rows[k].bySeed[i], tally)
				}
			}
		}
	}
	add(0, usualSeeds)
	if slices.ContainsFunc(rows, func(r *outcome) bool { return r.worse() > tolerated }) {
		add(usualSeeds, doubtedSeeds)
	}
	return rows
}

// worse is by how many standard errors awsretry is worse. Where more calls may fail on purpose, it may be as good in those
// that succeed instead.
func (r *outcome) worse() float64 {
	failed := r.excess(func(c *tally) float64 { return float64(c.failed) / float64(c.calls) })
	if r.trial.goodput == "" {
		return failed
	}
	return min(failed, r.excess(func(c *tally) float64 { return -float64(c.inTime) }))
}

// excess is the mean of the differences of the seeds, over what the spread of these differences makes of its error. Calls
// of one seed depend on one another, so that their number says nothing about chance.
func (r *outcome) excess(loss func(c *tally) float64) float64 {
	var diffs []float64
	mean, squares := 0.0, 0.0
	for i, sdk := range r.bySeed[0] {
		diffs = append(diffs, loss(r.bySeed[1][i])-loss(sdk))
		mean += diffs[i]
	}
	n := float64(len(diffs))
	mean /= n
	for _, d := range diffs {
		squares += (d - mean) * (d - mean)
	}
	if math.Abs(mean) < 1e-9 {
		return 0
	}
	return mean / math.Sqrt(squares/(n-1)/n)
}

const (
	heads = "| case | load | SDK: succeeded | failed | awsretry: succeeded | failed | standard errors | |"
	rule  = "|---|---|---|---|---|---|---|---|"
)

func (r *outcome) String() string {
	name := r.trial.name
	if r.table == 1 {
		name = "the healthy table"
		if fails := r.trial.tables[1].fails; fails > 0 {
			name = fmt.Sprintf("the other table, %.0f %% fail", 100*fails)
		}
	}
	var sum [2]tally
	for i := range sum {
		for _, one := range r.bySeed[i] {
			sum[i].add(one)
		}
	}
	load := r.trial.tables[r.table].String()
	if r.trial.clients > 1 {
		load = fmt.Sprintf("%d x %s", r.trial.clients, load)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %+.1f | %s |", name, load, &sum[0], &sum[1], r.worse(), r.trial.goodput)
}

func (c *tally) add(other *tally) {
	c.calls += other.calls
	c.failed += other.failed
	c.canceled += other.canceled
	c.waiting += other.waiting
	c.inTime += other.inTime
}

func (c *tally) String() string {
	text := fmt.Sprintf("%d | %d (%.1f %%)", c.inTime, c.failed, 100*float64(c.failed)/float64(c.calls))
	if c.waiting > 0 {
		text += fmt.Sprintf(", %d wait", c.waiting)
	}
	if c.canceled > 0 {
		text += fmt.Sprintf(", %d canceled", c.canceled)
	}
	return text
}
