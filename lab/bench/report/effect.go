package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// effect plays everything in virtual time, once for each seed, and writes
// RESULTS-effect.md; also if it was interrupted, of what there is by then.
func effect(ctx context.Context, o options) error {
	var err error
	if !o.again {
		err = playAll(ctx, o.rounds)
	}
	return errors.Join(err, writeEffect())
}

func playAll(ctx context.Context, rounds int) error {
	s, err := open(ctx, "effect")
	if err != nil {
		return err
	}
	defer s.close()
	// For the name of the processor, which only benchmarks print.
	if err := s.run(ctx, "-test.run=^$", "-test.bench=Service", "-test.benchtime=1000x"); err != nil {
		return err
	}
	for i := range rounds {
		s.progress("round %d of %d", i+1, rounds)
		if err := s.run(ctx, "-test.run=^TestEffect$", "-test.timeout=0", "-all", fmt.Sprintf("-seed=%d", i+1)); err != nil {
			return err
		}
	}
	s.progress("done")
	return nil
}

func writeEffect() error {
	r, err := read(rawPath("effect"))
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# Effect, in virtual time\n\n%s\n", r.describe())
	fmt.Fprintf(&text, "`make bench-effect`: medians of %d rounds with different seeds. README.md says what is played and counted.\n", r.rounds())
	writeEffectSummary(&text, r)
	writeTargets(&text, r, effectTargets(r))
	writeWorse(&text, r)
	for _, table := range r.tables {
		if strings.HasPrefix(table, "Effect/") {
			writeScenario(&text, r, table)
		}
	}
	return publish("RESULTS-effect.md", text.String())
}

// column is a unit and how the table shows it.
type column struct {
	unit, heading string
	show          func(x float64) string
}

// columns are those of the tables of effects.
func columns() []column {
	percent := func(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }
	number := func(digits int) func(float64) string {
		return func(x float64) string { return fmt.Sprintf("%.*f", digits, x) }
	}
	return []column{
		{"goodput/alone", "goodput over that of the table alone", number(3)},
		{"goodput/R", "goodput / R", number(3)},
		{"throttled-share", "throttled", percent},
		{"attempts/success", "attempts / success", number(3)},
		{"failed-share", "operations failed", percent},
		{"no-quota-share", "for lack of quota", percent},
		{"outage-attempts/op", "attempts / operation in the outage", number(2)},
		{"p50-wait-s", "p50 wait", inSeconds},
		{"p99-wait-s", "p99 wait", inSeconds},
		{"longest-wait-s", "longest wait", inSeconds},
		{"longest-initial-s", "longest before a first attempt", inSeconds},
		{"settled-s", "time to 90 % of R", inSeconds},
		{"fairness", "fairness", number(3)},
		{"wakeups/send", "wake-ups / attempt", number(2)},
		{"wakeups/delayed", "wake-ups / delayed attempt", number(2)},
		{"cpu-sec/send", "CPU / attempt", func(x float64) string { return fmt.Sprintf("%.1f us", 1e6*x) }},
	}
}

func inSeconds(x float64) string {
	if x < 0 {
		return "never"
	}
	return fmt.Sprintf("%.2f s", x)
}

// writeScenario writes the rows of a scenario, one for each contender. A column without anything but
// zeros is left out.
func writeScenario(w io.Writer, r *results, table string) {
	fmt.Fprintf(w, "\n## %s\n\n", scenarioTitle(table))
	var shown []column
	for _, c := range columns() {
		for _, of := range r.of[table] {
			if m, ok := r.median(cell{table: table, of: of}, c.unit); ok && m.Center != 0 {
				shown = append(shown, c)
				break
			}
		}
	}
	headings, lines := []string{""}, []string{"---"}
	for _, c := range shown {
		headings, lines = append(headings, c.heading), append(lines, "---")
	}
	writeRow(w, headings)
	fmt.Fprintf(w, "|%s|\n", strings.Join(lines, "|"))
	for _, of := range r.of[table] {
		row := []string{of}
		for _, c := range shown {
			m, _ := r.median(cell{table: table, of: of}, c.unit)
			row = append(row, c.show(m.Center))
		}
		writeRow(w, row)
	}
}

func writeRow(w io.Writer, cells []string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
}
