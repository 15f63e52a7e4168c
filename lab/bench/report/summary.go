package main

import (
	"fmt"
	"io"
	"strings"
)

// line is a line of the summary, which lab/bench/README.md quotes.
type line struct {
	what       string
	table      string
	goroutines string
	unit       string
}

// summary has the lines of the short table in README.md.
func summary() []line {
	const cpu = "cpu-sec/op"
	return []line{
		{"success, standard", "Success/mode=standard/scopes=1", "1", seconds},
		{"success, standard, 8 goroutines", "Success/mode=standard/scopes=1", "8", seconds},
		{"success, standard, 1,000 scopes", "Success/mode=standard/scopes=1000", "1", seconds},
		{"success, standard, the zero operation", "Success/mode=standard/scopes=0", "1", seconds},
		{"success, adaptive, before a throttle", "Success/mode=adaptive/throttled=never/scopes=1", "1", seconds},
		{"success, adaptive, after a throttle", "Success/mode=adaptive/throttled=once/scopes=1", "1", seconds},
		{"one retry, verdict known", "OneRetry/mode=standard/failure=known/scopes=1", "1", seconds},
		{"one retry, classified", "OneRetry/mode=standard/failure=classified/scopes=1", "1", seconds},
		{"classification: API error", "Classify/failure=api", "1", seconds},
		{"classification: HTTP 503", "Classify/failure=http", "1", seconds},
		{"classification: dial error", "Classify/failure=dial", "1", seconds},
		{"the loop around an instant success", "Do/failures=0/scopes=1", "1", seconds},
		{"one profile of 10, CPU", "OneProfile/profiles=10", "1", cpu},
		{"one profile of 1,000, CPU", "OneProfile/profiles=1000", "1", cpu},
		{"one profile of 10,000, CPU", "OneProfile/profiles=10000", "1", cpu},
		{"a whole call of DynamoDB, standard, CPU", "Call/mode=standard", "1", cpu},
		{"a whole call of DynamoDB, adaptive, CPU", "Call/mode=adaptive", "1", cpu},
	}
}

// writeSummary writes the lines that were measured.
func writeSummary(w io.Writer, r *results, lines []line) {
	fmt.Fprintf(w, "\n## In short\n\n| | %s | %s | ratio |\n|---|---|---|---|\n", ours, sdk)
	for _, l := range lines {
		mine, theirs := cell{l.table, l.goroutines, ours}, cell{l.table, l.goroutines, sdk}
		if _, ok := r.median(mine, l.unit); ok {
			writeRow(w, []string{l.what, r.withAllocations(mine, l.unit), r.withAllocations(theirs, l.unit), r.ratio(mine, sdk, l.unit)})
		}
	}
}

func (r *results) withAllocations(c cell, unit string) string {
	time, _, _ := strings.Cut(r.time(c, unit), " ")
	return time + ", " + r.allocations(c) + " allocations"
}

// writeEffectSummary sets the adaptive modes and the oracle side by side.
func writeEffectSummary(w io.Writer, r *results) {
	who := []string{adaptive, steadily, sdkAdaptive, oracle}
	shown := map[string]bool{"goodput/R": true, "throttled-share": true, "p99-wait-s": true, "longest-wait-s": true, "wakeups/delayed": true}
	headings := []string{""}
	for _, c := range columns() {
		if shown[c.unit] {
			headings = append(headings, c.heading)
		}
	}
	fmt.Fprintf(w, "\n## In short\n\nEach figure: %s; %s; %s; the %s.\n\n", adaptive, steadily, sdkAdaptive, oracle)
	writeRow(w, headings)
	fmt.Fprintln(w, strings.Repeat("|---", len(headings))+"|")
	for _, table := range r.tables {
		if !strings.HasPrefix(table, "Effect/") || table == tables {
			continue
		}
		row := []string{scenarioTitle(table)}
		for _, c := range columns() {
			if !shown[c.unit] {
				continue
			}
			var figures []string
			for _, of := range who {
				m, _ := r.median(by(table, of), c.unit)
				figures = append(figures, c.show(m.Center))
			}
			row = append(row, strings.Join(figures, "; "))
		}
		writeRow(w, row)
	}
}

func scenarioTitle(table string) string {
	return strings.TrimPrefix(title(table), "Effect, scenario ")
}
