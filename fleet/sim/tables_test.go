//go:build tables

package sim

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestTables plays fleets and prints what they reach. N processes share the limit of R requests a second, a token bucket
// with a burst of 1 s or 0.1 s of R. Together they want five times R, in unequal parts, or even. A cell has the goodput in
// R and the share of throttled attempts, of the mean of one to eight seeds. Where two bursts stand in a cell, first 1 s,
// then 0.1 s. "s to 0.9 R" are the seconds until 0.9 R with at most 5 % throttled; in parentheses is the same without a
// fleet, whatever is throttled.
func TestTables(t *testing.T) {
	began := time.Now()
	tables := []table{nothingHappens(), somethingHappens(), theLimitChanges()}
	texts := make([][]string, len(tables))
	t.Run("rows", func(t *testing.T) {
		for i, table := range tables {
			texts[i] = make([]string, len(table.rows))
			for j, row := range slices.Backward(table.rows) { // the longest come first, so that both cores are used to the end
				t.Run("", func(t *testing.T) {
					t.Parallel()
					texts[i][j] = "| " + row(t) + " |\n"
					fmt.Fprintf(os.Stderr, "%v %s", time.Since(began).Round(time.Second), texts[i][j])
				})
			}
		}
	})
	for i, table := range tables {
		columns := strings.Count(table.head, "|") + 1
		fmt.Printf("\n| %s |\n|%s\n%s", table.head, strings.Repeat("---|", columns), strings.Join(texts[i], ""))
	}
}

// table is the head and the rows of a table, without the lines at the edges.
type table struct {
	head string
	rows []func(t *testing.T) string
}

// means returns the means of the parts of a scenario.
func means(t *testing.T, r run, seeds uint64, s scenario) []result {
	t.Helper()
	var played [][]result
	for r.seed = range seeds {
		played = append(played, s.play(t, r))
	}
	return mean(played)
}

func (r run) seeds() uint64 {
	switch {
	case r.even:
		return 8
	case r.rate >= 5000:
		return 1
	default:
		return 3
	}
}

func goodput(r result, digits int) string {
	return fmt.Sprintf("%.2f, %.*f %%", r.goodput, digits, 100*r.throttled)
}

func nothingHappens() table {
	tab := table{head: "R | N | alone, throttled | store 1 ms | Jain (lower) | s to 0.9 R | calls/s | store 50 ms | seconds 150 to 210"}
	for _, rate := range []float64{5, 100, 500, 5000} {
		for _, members := range []int{2, 10, 100, 1000} {
			tab.rows = append(tab.rows, run{rate: rate, members: members}.nothing)
		}
	}
	tab.rows = append(tab.rows, run{rate: 5000, members: 10_000}.nothing,
		run{rate: 500, members: 100, even: true}.nothing, run{rate: 100, members: 100, even: true}.nothing)
	return tab
}

// nothing is a row about a fleet that nothing happens to.
func (r run) nothing(t *testing.T) string {
	t.Helper()
	bursts := []time.Duration{time.Second, time.Second / 10}
	if r.members > 1000 {
		bursts = bursts[:1]
	}
	var alone, near, settled, far, late []string
	jain, calls := 1.0, 0.0
	later := scenario{parts: []part{{-30, 30}, {-60, 30}, {90, 150}}}
	for _, r.burst = range bursts {
		r.roundTrip = time.Millisecond
		got := means(t, r, r.seeds(), later)
		near, late = append(near, goodput(got[0], 2)), append(late, goodput(got[2], 2))
		settled = append(settled, fmt.Sprintf("%.0f s", got[1].settled))
		jain, calls = min(jain, got[0].jain), calls+got[0].calls/float64(len(bursts))
		if r.members <= 1000 {
			r.roundTrip = 50 * time.Millisecond
			far = append(far, goodput(means(t, r, r.seeds(), steady)[0], 2))
		}
		if r.members == 100 && r.rate >= 100 && r.rate <= 500 {
			r.alone = true
			alone = append(alone, fmt.Sprintf("%.1f %%", 100*means(t, r, r.seeds(), steady)[0].throttled))
			r.alone = false
		}
	}
	cell := func(texts []string) string {
		if texts == nil {
			return "-"
		}
		return strings.Join(texts, " / ")
	}
	members := strconv.Itoa(r.members)
	if r.even {
		members += " even, one worker each"
	}
	return strings.Join([]string{
		fmt.Sprint(r.rate), members, cell(alone), cell(near), fmt.Sprintf("%.2f", jain),
		cell(settled), fmt.Sprintf("%.0f", calls), cell(far), cell(late),
	}, " | ")
}

// row is a row about scenarios. Those after which a fleet settles have one part.
func (r run) row(settles []scenario, others ...scenario) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		seeds := r.seeds()
		if r.members >= 1000 {
			seeds = 1
		}
		r.roundTrip = time.Millisecond
		cells := []string{fmt.Sprint(r.rate), strconv.Itoa(r.members), fmt.Sprintf("%v s", r.burst.Seconds())}
		for _, s := range settles {
			got := means(t, r, seeds, s)[0]
			cells = append(cells, fmt.Sprintf("%.0f s, %s", got.settled, goodput(got, 1)))
		}
		for _, s := range others {
			for _, got := range means(t, r, seeds, s) {
				cells = append(cells, goodput(got, 1))
			}
		}
		return strings.Join(cells, " | ")
	}
}

func somethingHappens() table {
	tab := table{head: "R | N | burst | R doubles, 60 s | R halves, 60 s | store gone, 60 s | back, 30 s |" +
		" all members replaced in 60 s | flushed, 40 s | failover, 40 s"}
	const long, short = time.Second, time.Second / 10
	for _, r := range []run{
		{rate: 5, members: 10, burst: long},
		{rate: 100, members: 100, burst: long},
		{rate: 100, members: 100, burst: short},
		{rate: 100, members: 1000, burst: long},
		{rate: 500, members: 10, burst: long},
		{rate: 500, members: 100, burst: long},
		{rate: 500, members: 100, burst: short},
		{rate: 500, members: 1000, burst: long},
		{rate: 5000, members: 100, burst: long},
		{rate: 5000, members: 1000, burst: long},
	} {
		tab.rows = append(tab.rows, r.row([]scenario{rateTimes(2, 1), rateTimes(0.5, 1)}, gone(false), replaced, flushed, failover))
	}
	return tab
}

func theLimitChanges() table {
	tab := table{head: "R | brown-out of 1 s | of 5 s | of 30 s | R falls to a tenth | to a half | R x2 | x5 | x10"}
	for _, rate := range []float64{5, 20, 50, 100, 1000} {
		tab.rows = append(tab.rows, func(t *testing.T) string {
			t.Helper()
			r := run{rate: rate, members: 40, burst: time.Second, roundTrip: time.Millisecond}
			cells := []string{fmt.Sprint(rate)}
			for _, s := range []scenario{
				brownOut(1), brownOut(5), brownOut(30),
				rateTimes(0.1, 1), rateTimes(0.5, 1), rateTimes(2, 2), rateTimes(5, 5), rateTimes(10, 10),
			} {
				r.alone = false
				shared := means(t, r, 5, s)[0]
				r.alone = true
				alone := means(t, r, 1, s)[0]
				cells = append(cells, fmt.Sprintf("%.0f s, %.1f %% (%.0f s, %.0f %%)",
					shared.settled, 100*shared.throttled, alone.settled, 100*alone.throttled))
			}
			return strings.Join(cells, " | ")
		})
	}
	return tab
}
