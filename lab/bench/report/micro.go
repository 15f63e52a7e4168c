package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/perf/benchunit"
)

// micro runs the small benchmarks and writes RESULTS.md; also if it was interrupted,
// of what there is by then.
func micro(ctx context.Context, o options) error {
	var err error
	if !o.again {
		err = runAll(ctx, o)
	}
	return errors.Join(err, writeMicro(o.benchtime))
}

func runAll(ctx context.Context, o options) error {
	s, err := open(ctx, "micro")
	if err != nil {
		return err
	}
	defer s.close()
	var failed error
	for i := range o.rounds {
		s.progress("round %d of %d", i+1, o.rounds)
		err := s.run(ctx, "-test.run=^$", "-test.bench="+o.match, "-test.benchtime="+o.benchtime)
		if ctx.Err() != nil {
			return err
		}
		// A benchmark that failed has no figure in this round. One that would have had to
		// wait, because the machine stood still while it prepared, has one in the others.
		failed = errors.Join(failed, err)
	}
	s.progress("done")
	return failed
}

func writeMicro(benchtime string) error {
	r, err := read(rawPath("micro"))
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# Small steps, beside the peers\n\n%s\n", r.describe())
	fmt.Fprintf(&text, "`make bench`: %d rounds of %s for each figure; medians, with the half-width of their 95 %% confidence interval.\n", r.rounds(), benchtime)
	fmt.Fprintln(&text, "Ratios are of medians. README.md says what each step is and what the limit is.")
	writeSummary(&text, r, summary())
	writeTargets(&text, r, microTargets())
	for _, table := range r.tables {
		writeTable(&text, r, table)
	}
	return publish("RESULTS.md", text.String())
}

// publish prints a report and writes it to a file.
func publish(path, text string) error {
	if _, err := io.WriteString(os.Stdout, text); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// title makes words of the name of a table: "Success/mode=standard" becomes
// "Success, mode standard".
func title(table string) string {
	return strings.NewReplacer("/", ", ", "=", " ").Replace(table)
}

// writeTable writes the time of each subject, and its ratios to the reference and to the
// limit.
func writeTable(w io.Writer, r *results, table string) {
	fmt.Fprintf(w, "\n## %s\n\n", title(table))
	fmt.Fprintln(w, "| goroutines | 1 | 2 | 8 | 1, CPU | to aws-sdk-go-v2: 1 | 2 | 8 | to the limit: 1 | 2 | 8 | allocations |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, of := range r.of[table] {
		var times, toSDK, toLimit []string
		for _, n := range []string{"1", "2", "8"} {
			c := cell{table, n, of}
			times = append(times, r.time(c, "sec/op"))
			toSDK = append(toSDK, r.ratio(c, sdk, "sec/op"))
			toLimit = append(toLimit, r.ratio(c, limit, "sec/op"))
		}
		one := cell{table, "1", of}
		columns := append([]string{of}, times...)
		columns = append(columns, r.time(one, "cpu-sec/op"))
		columns = append(columns, toSDK...)
		columns = append(columns, toLimit...)
		columns = append(columns, r.allocations(one))
		writeRow(w, columns)
	}
}

// time prints a median of times, with how sure it is.
func (r *results) time(c cell, unit string) string {
	m, ok := r.median(c, unit)
	if !ok {
		return ""
	}
	return benchunit.Scale(m.Center, benchunit.ClassOf(unit)) + "s ± " + m.PctRangeString()
}

func (r *results) allocations(c cell) string {
	m, ok := r.median(c, "allocs/op")
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.0f", m.Center)
}
