//go:build long && !race

package effect

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
	"text/tabwriter"
	"time"
)

// TestTableOfStorms prints the two tables of docs/modes.md.
func TestTableOfStorms(t *testing.T) {
	const calls = 300_000
	var rows []func(r *retryer) string
	var names []string
	row := func(name string, of func(r *retryer) string) { names, rows = append(names, name), append(rows, of) }
	for _, processes := range []int{1, 10, 100, 1000} {
		row(fmt.Sprintf("%d processes: well, calls lost, requests", processes), func(r *retryer) string {
			return r.storm(t, processes, 30*time.Second).String()
		})
	}
	row("1000 processes, a second brown-out after 5 min", func(r *retryer) string {
		return r.storm(t, 1000, 30*time.Second, 330*time.Second).String()
	})
	for _, share := range []float64{0.05, 0.2} {
		for _, n := range []int{20, 100} {
			for _, pause := range []time.Duration{5 * time.Second, 0} {
				row(fmt.Sprintf("%d calls at once, %v fail, pause %v", n, share, pause), func(r *retryer) string {
					return fmt.Sprintf("%.3f %%", 100*r.bursts(t, n, pause, share, calls))
				})
			}
		}
	}
	for _, share := range []float64{0.05, 0.2} {
		row(fmt.Sprintf("0.08 calls/s, %v time out", share), func(r *retryer) string { return fmt.Sprintf("%.3f %%", 100*r.timeouts(t, share, calls)) })
	}
	row("a hundred dead tables: requests", func(r *retryer) string { return strconv.Itoa(r.dead(t)) })

	var text bytes.Buffer
	aligned := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, r := range retryers() {
		_, _ = fmt.Fprint(aligned, "\t", r.name)
	}
	_, _ = fmt.Fprintln(aligned)
	for i, of := range rows {
		_, _ = fmt.Fprint(aligned, names[i])
		for _, r := range retryers() {
			_, _ = fmt.Fprint(aligned, "\t", of(&r))
		}
		_, _ = fmt.Fprintln(aligned)
	}
	_ = aligned.Flush()
	t.Log("\n" + text.String())
}
