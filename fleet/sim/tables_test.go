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

// TestTables is the command behind the tables of fleet/RESULTS.md, and prints them. The figures of
// the model stand in parentheses, and what is clearly worse is marked and listed.
func TestTables(t *testing.T) {
	began := time.Now()
	steady := make([]string, len(steadyPage))
	happened := make([]string, len(scenarioPage))
	cut, lulls := make([]string, len(cutOffPage)), make([]string, len(lullPage))
	recovered, joins := make([]string, len(recoveryRates)), make([]string, len(joinTrips))
	worse := make([][]string, len(steady)+len(happened)+len(cut)+len(lulls)+len(recovered)+len(joins))
	left := worse
	t.Run("rows", func(t *testing.T) {
		// The longest come first, so that both cores are used to the end.
		play := func(table []string, i int, row func(t *testing.T) (text string, worse []string)) {
			into := &left[0]
			left = left[1:]
			t.Run(strconv.Itoa(len(left)), func(t *testing.T) {
				t.Parallel()
				table[i], *into = row(t)
				fmt.Fprintf(os.Stderr, "%v %v\n", time.Since(began).Round(time.Second), table[i])
			})
		}
		for i, row := range slices.Backward(steadyPage) {
			play(steady, i, row.play)
		}
		for i, row := range slices.Backward(scenarioPage) {
			play(happened, i, func(t *testing.T) (string, []string) {
				t.Helper()
				return row.play(t, scenarios()...)
			})
		}
		for i, row := range cutOffPage {
			play(cut, i, func(t *testing.T) (string, []string) {
				t.Helper()
				return row.play(t, scenario{"half cut off", halfCutOff})
			})
		}
		for i, rate := range recoveryRates {
			play(recovered, i, func(t *testing.T) (string, []string) {
				t.Helper()
				return recoveryRow(t, rate), nil
			})
		}
		for i, away := range joinTrips {
			play(joins, i, func(t *testing.T) (string, []string) {
				t.Helper()
				return joinRow(t, away), nil
			})
		}
		for i, row := range lullPage {
			play(lulls, i, func(t *testing.T) (string, []string) {
				t.Helper()
				return row.play(t, scenario{"lull", lull})
			})
		}
	})
	text := steadyHead + strings.Join(steady, "") + scenarioHead + strings.Join(happened, "") +
		cutOffHead + strings.Join(cut, "") + lullHead + strings.Join(lulls, "") +
		recoveryHead + strings.Join(recovered, "") + joinHead + strings.Join(joins, "") + "\nMarked with !, because clearly worse than in the model:\n\n"
	text += "- " + strings.Join(slices.Concat(worse...), "\n- ") + "\n"
	fmt.Print(text)
}

const (
	steadyHead = `
| R | N | alone, throttled | store 1 ms | Jain (lower) | s to 0.9 R | calls/s | store 50 ms | seconds 150 to 210 |
|---|---|---|---|---|---|---|---|---|
`
	scenarioHead = `
| R | N | burst | R doubles, 60 s | R halves, 60 s | store gone, 60 s | back, 30 s | all members replaced in 60 s | flushed, 40 s | failover, 40 s |
|---|---|---|---|---|---|---|---|---|---|
`
	cutOffHead = `
| R | N | burst | half of the members cut off, 60 s | back, 30 s |
|---|---|---|---|---|
`
	recoveryHead = `
| R | brown-out of 1 s | of 5 s | of 30 s | R falls to a tenth | to a half | R x2 | x5 | x10 |
|---|---|---|---|---|---|---|---|---|
`
	joinHead = `
| store | 10 members, then 60: the first 2 s | the next 18 s |
|---|---|---|
`
	lullHead = `
| R | N | burst | a tenth of the demand for 2 min, then all: 10 s |
|---|---|---|---|
`
)

// recoveryRates are the limits of the rows about a limit that changes, before the change.
var recoveryRates = []float64{5, 20, 50, 100, 1000}

// ofFive returns the average of five runs of a scenario.
func ofFive(t *testing.T, r run, scenario func(t *testing.T, r run) []outcome) []outcome {
	t.Helper()
	var played [][]outcome
	for r.seed = range uint64(5) {
		played = append(played, scenario(t, r))
	}
	return average(played)
}

// recoveryRow is the row of 40 members that share the rate, and in parentheses of 40 without a
// fleet.
func recoveryRow(t *testing.T, rate float64) string {
	t.Helper()
	r := run{rate: rate, members: 40, burst: time.Second, roundTrip: time.Millisecond}
	var text strings.Builder
	fmt.Fprintf(&text, "| %v |", rate)
	for _, s := range recoveries() {
		shared := ofFive(t, r, s.play)
		r.alone = true
		alone := s.play(t, r)
		r.alone = false
		fmt.Fprintf(&text, " %d s, %.1f %% (%d s, %.0f %%) |",
			shared[0].settled, 100*shared[0].throttled, alone[0].settled, 100*alone[0].throttled)
	}
	return text.String() + "\n"
}

// joinTrips are the round trips to the store of the rows about members that join.
var joinTrips = []time.Duration{time.Millisecond, 60 * time.Millisecond, 110 * time.Millisecond, 200 * time.Millisecond}

func joinRow(t *testing.T, away time.Duration) string {
	t.Helper()
	got := ofFive(t, run{rate: 100, members: 60, burst: time.Second, roundTrip: away}, joined)
	return fmt.Sprintf("| %v | %.2f, %.1f %% | %.2f, %.1f %% |\n", away,
		got[0].goodput, 100*got[0].throttled, got[1].goodput, 100*got[1].throttled)
}

// cells writes figures beside those of the page and keeps what is worse.
type cells struct {
	row   string
	text  strings.Builder
	worse []string
}

func (c *cells) add(column string, text string, worse bool) {
	if worse {
		text += " !"
		c.worse = append(c.worse, fmt.Sprintf("%s, %s: %s", c.row, column, strings.TrimSuffix(text, " !")))
	}
	c.text.WriteString(" " + text + " |")
}

// goodput adds goodput and throttled %, of one burst or of both.
func (c *cells) goodput(column string, got []result, page []float64) {
	var texts []string
	worse := false
	for i, r := range got {
		text := fmt.Sprintf("%.2f, %.2f %%", r.goodput, 100*r.throttled)
		if 2*i+1 < len(page) {
			text += fmt.Sprintf(" (%.2f, %.2f %%)", page[2*i], page[2*i+1])
			worse = worse || lower(r.goodput, page[2*i]) || 100*r.throttled > page[2*i+1]+1
		}
		texts = append(texts, text)
	}
	c.add(column, strings.Join(texts, " / "), worse)
}

// lower reports whether goodput is lower by more than 0.01 R. The page has two digits, and more
// than R is a burst that the service had saved.
func lower(got, page float64) bool { return got < min(page, 1)-0.015 }

// slower reports whether a time is clearly longer. Times are whole seconds.
func slower(got, page float64) bool { return got > max(1.5*page, page+2) }

const settledText = "%.0f s (%.0f s)"

func (row steadyRow) play(t *testing.T) (text string, worse []string) {
	t.Helper()
	bursts := []time.Duration{time.Second, time.Second / 10}
	if row.members > 1000 {
		bursts = bursts[:1]
	}
	var near, far, late, alone []result
	var settled []float64
	for _, burst := range bursts {
		r := run{rate: row.rate, members: row.members, even: row.even, burst: burst, roundTrip: time.Millisecond}
		window := func(r run, length, from int) (window, last result, settled float64) {
			r.length = at(float64(length))
			var windows, lasts []result
			for r.seed = range r.seeds() {
				got := r.play(t)
				windows = append(windows, got.part(from, from+60, r.rate))
				lasts = append(lasts, got.part(length-60, length, r.rate))
				settled += float64(got.settled(0, r.rate)) / float64(r.seeds())
			}
			return mean(windows), mean(lasts), settled
		}
		length := 210
		if row.late == nil {
			length = 90
		}
		first, last, s := window(r, length, 30)
		near, late, settled = append(near, first), append(late, last), append(settled, s)
		if row.far != nil {
			distant := r
			distant.roundTrip = 50 * time.Millisecond
			first, _, _ := window(distant, 90, 30)
			far = append(far, first)
		}
		if row.members == 100 {
			if _, known := alonePage[steadyKey{row.rate, row.even}]; known {
				r.alone = true
				first, _, _ := window(r, 90, 30)
				alone = append(alone, first)
			}
		}
	}
	return row.write(alone, near, far, late, settled)
}

func (row steadyRow) write(alone, near, far, late []result, settled []float64) (text string, worse []string) {
	c := &cells{row: fmt.Sprintf("R %v, N %d", row.rate, row.members)}
	members := strconv.Itoa(row.members)
	if row.even {
		c.row += " even"
		members += " even, one worker each"
	}
	fmt.Fprintf(&c.text, "| %v | %s |", row.rate, members)
	independent := "-"
	if page, known := alonePage[steadyKey{row.rate, row.even}]; known && alone != nil {
		independent = fmt.Sprintf("%.1f %% (%.1f %%) / %.1f %% (%.1f %%)", 100*alone[0].throttled, page[0], 100*alone[1].throttled, page[1])
	}
	c.add("", independent, false)
	c.goodput("store 1 ms", near, row.near)
	jain, calls := near[0].jain, 0.0
	for _, r := range near {
		jain, calls = min(jain, r.jain), calls+r.calls/float64(len(near))
	}
	if row.more[0] > 0 {
		c.add("Jain", fmt.Sprintf("%.2f (%.2f)", jain, row.more[0]), jain < row.more[0]-0.025)
	} else {
		c.add("Jain", fmt.Sprintf("%.2f (-)", jain), false)
	}
	texts, late2 := []string{}, false
	for i, s := range settled {
		texts = append(texts, fmt.Sprintf(settledText, s, row.more[1+i]))
		late2 = late2 || slower(s, row.more[1+i])
	}
	c.add("s to 0.9 R", strings.Join(texts, " / "), late2)
	c.add("calls/s", fmt.Sprintf("%.0f (%.0f)", calls, row.more[3]), calls > 1.3*row.more[3])
	if row.far == nil {
		c.add("", "-", false)
	} else {
		c.goodput("store 50 ms", far, row.far)
	}
	if row.late == nil {
		c.add("", "-", false)
	} else {
		c.goodput("seconds 150 to 210", late, row.late)
	}
	return c.text.String() + "\n", c.worse
}

// seeds is how many runs a figure is the mean of.
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

// play plays scenarios with the seeds of the row. The figures of the page are in their order.
func (row scenarioRow) play(t *testing.T, all ...scenario) (text string, worse []string) {
	t.Helper()
	c := &cells{row: fmt.Sprintf("R %v, N %d, burst %v s", row.rate, row.members, row.burst)}
	fmt.Fprintf(&c.text, "| %v | %d | %v s |", row.rate, row.members, row.burst)
	page := row.figures
	for _, s := range all {
		r := run{rate: row.rate, members: row.members, burst: at(row.burst), roundTrip: time.Millisecond}
		var windows [2][]result
		var outcomes []outcome
		settled, n := 0.0, r.seeds()
		if row.members >= 1000 {
			n = 1
		}
		for r.seed = range n {
			outcomes = s.play(t, r)
			for i, o := range outcomes {
				windows[i] = append(windows[i], o.result)
				settled += float64(o.settled) / float64(n)
			}
		}
		for i, o := range outcomes {
			got := mean(windows[i])
			text, late := "", false
			if o.settled >= 0 {
				text = fmt.Sprintf(settledText, settled, page[0]) + ", "
				late = slower(settled, page[0])
				page = page[1:]
			}
			known := "-"
			if page[0] > 0 {
				known = fmt.Sprintf("%.2f", page[0])
			}
			goodput := fmt.Sprintf("%.2f, %.1f %% (%s, %.1f %%)", got.goodput, 100*got.throttled, known, page[1])
			c.add(s.name+", "+o.window, text+goodput, late || lower(got.goodput, page[0]) || 100*got.throttled > page[1]+1)
			page = page[2:]
		}
	}
	return c.text.String() + "\n", c.worse
}
