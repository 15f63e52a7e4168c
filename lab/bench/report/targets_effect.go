package main

import (
	"fmt"
	"io"
	"strings"
)

const (
	adaptive    = "awsretry-adaptive"
	steadily    = "awsretry-adaptive-steady"
	standard    = "awsretry-standard"
	sdkAdaptive = "aws-sdk-go-v2-adaptive"
	oracle      = "oracle"

	steady = "Effect/scenario=steady/"
	outage = "Effect/scenario=outage/R=500/burst=1s/clients=1/workers=100"
	tables = "Effect/scenario=tables"
)

// effectTargets are those of the effect.
func effectTargets(r *results) []target {
	var targets []target
	for _, burst := range []string{"100ms", "1s"} {
		for _, of := range []string{adaptive, steadily} {
			targets = append(targets, atFullLoad(burst, of)...)
		}
	}
	for _, table := range r.tables {
		if strings.HasPrefix(table, steady+"R=50") && strings.Contains(table, "clients=1/") {
			what := strings.TrimPrefix(scenarioTitle(table), "steady, ") + ": longest wait before a first attempt, to the oracle's"
			for _, of := range []string{adaptive, steadily} {
				targets = append(targets, target{what: of + ", " + what, of: by(table, of), to: oracle, unit: "longest-initial-s", goal: goal{1.1, false}})
			}
		}
	}
	for _, of := range []string{standard, adaptive} {
		targets = append(targets,
			target{what: of + " after an outage: share failed for lack of quota", of: by(outage, of), unit: "no-quota-share", goal: goal{0, false}},
			target{what: of + " in an outage: attempts / operation", of: by(outage, of), unit: "outage-attempts/op", goal: goal{1.02, false}})
	}
	return append(targets,
		target{what: "two tables: the free one over itself alone", of: by(tables, adaptive), unit: "goodput/alone", goal: goal{0.99, true}})
}

// atFullLoad is what a client of a hundred workers is to reach at 500 a second.
func atFullLoad(burst, of string) []target {
	table := steady + "R=500/burst=" + burst + "/clients=1/workers=100"
	what := of + ", R 500, burst " + burst + ", 100 workers: "
	return []target{
		{what: what + "goodput / R", of: by(table, of), unit: "goodput/R", goal: goal{0.95, true}},
		{what: what + "p99 wait to the oracle's", of: by(table, of), to: oracle, unit: "p99-wait-s", goal: goal{1.2, false}},
		{what: what + "fairness", of: by(table, of), unit: "fairness", goal: goal{0.995, true}},
		{what: what + "wake-ups / delayed attempt", of: by(table, of), unit: "wakeups/delayed", goal: goal{1.1, false}},
		{what: what + "CPU / attempt to " + sdkAdaptive, of: by(table, of), to: sdkAdaptive, unit: "cpu-sec/send", goal: goal{0.06, false}},
	}
}

func by(table, of string) cell { return cell{table: table, of: of} }

// writeWorse writes where ours is not better than aws-sdk-go-v2's adaptive mode.
func writeWorse(w io.Writer, r *results) {
	fmt.Fprintf(w, "\n## Where %s is behind %s\n\n| scenario | | %s | %s |\n|---|---|---|---|\n", adaptive, sdkAdaptive, adaptive, sdkAdaptive)
	for _, table := range r.tables {
		for _, c := range columns() {
			better := +1.0
			switch c.unit {
			case "goodput/R", "goodput/alone":
				better = -1
			case "throttled-share", "longest-wait-s":
			default:
				continue
			}
			mine, ok := r.median(by(table, adaptive), c.unit)
			theirs, found := r.median(by(table, sdkAdaptive), c.unit)
			if ok && found && better*(mine.Center-theirs.Center) > 0 && c.show(mine.Center) != c.show(theirs.Center) {
				fmt.Fprintf(w, "| %s | %s | %s | %s |\n",
					scenarioTitle(table), c.heading, c.show(mine.Center), c.show(theirs.Center))
			}
		}
	}
}
