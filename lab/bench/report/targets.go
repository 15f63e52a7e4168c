package main

import (
	"fmt"
	"io"
)

// target is what this project wants to reach: a median, or its ratio to another one.
type target struct {
	what  string
	of    cell
	to    string // whose median it is a ratio to; empty for the median itself
	table string // the table of the other median; empty for the same one
	unit  string
	goal  goal
}

// goal is a bound, from above unless atLeast.
type goal struct {
	bound   float64
	atLeast bool
}

func (g goal) String() string {
	if g.atLeast {
		return fmt.Sprintf("at least %v", g.bound)
	}
	return fmt.Sprintf("at most %v", g.bound)
}

func (g goal) metBy(x float64) bool {
	if g.atLeast {
		return x >= g.bound
	}
	return x <= g.bound
}

// measured returns what the target came to; ok is false if it was not measured.
func (t target) measured(r *results) (x float64, ok bool) {
	mine, ok := r.median(t.of, t.unit)
	if !ok || t.to == "" {
		return mine.Center, ok
	}
	other := t.of
	other.of = t.to
	if t.table != "" {
		other.table = t.table
	}
	theirs, ok := r.median(other, t.unit)
	return mine.Center / theirs.Center, ok && theirs.Center > 0
}

// writeTargets writes every target with what was measured.
func writeTargets(w io.Writer, r *results, targets []target) {
	fmt.Fprint(w, "\n## Targets\n\n| | target | measured | met |\n|---|---|---|---|\n")
	for _, t := range targets {
		x, ok := t.measured(r)
		figure, verdict := short(x), "no"
		switch {
		case !ok:
			figure, verdict = "not measured", ""
		case t.goal.metBy(x):
			verdict = "yes"
		}
		fmt.Fprintf(w, "| %s | %v | %s | %s |\n", t.what, t.goal, figure, verdict)
	}
}
