package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// save writes the report to a file.
func (res *result) save(name string) error {
	var report bytes.Buffer
	if err := page.Write(&report, res.report()); err != nil {
		return err
	}
	return os.WriteFile(name, report.Bytes(), 0o666)
}

// report is the report of the simulation.
func (res *result) report() *page.Report {
	r := &page.Report{
		Command: res.command(), Version: res.version, Answer: res.answer(), Played: res.played(),
		Phases: res.spans(), Duration: res.Duration, Results: res.table(),
	}
	for _, v := range res.variants {
		drawn := page.Variant{Name: v.Name, Settings: v.settings, Run: sim.Median(v.runs), Curve: v.curve}
		if at := drawn.Run.Drain; at > 0 {
			drawn.Drains = number(100*at) + " %"
		}
		r.Variants = append(r.Variants, drawn)
	}
	return r
}

// command returns the command line without the file of the report, which does not affect the
// report.
func (res *result) command() string {
	words := []string{"awsretry"}
	for i := 0; i < len(res.args); i++ {
		switch word := res.args[i]; {
		case word == "-o" || word == "--output":
			i++
		case !strings.HasPrefix(word, "--output=") && (strings.HasPrefix(word, "--") || !strings.HasPrefix(word, "-o")):
			words = append(words, quoted(word))
		}
	}
	return strings.Join(words, " ")
}

// quoted returns a word quoted for a shell.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_=.,:/@%+", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// played returns the flags of the scenario that have a value.
func (res *result) played() (all []page.Fact) {
	for _, name := range []string{"limit", "burst", "queue", "clients", "workers", "offered", "calls", "latency", "timeout", "fail", "outage", "phase", "duration", "within", "seed"} {
		f := res.flags.Lookup(name)
		value := strings.Trim(f.Value.String(), "[]")
		if slices.Contains([]string{"", "0s", "false"}, value) || value == "0" && name != "workers" {
			continue
		}
		if unit, _ := pflag.UnquoteUsage(f); f.Value.Type() == "float64" {
			value += " " + unit
		}
		all = append(all, page.Fact{Name: name, Value: value})
	}
	return all
}

// spans returns the parts of the run that differ from the start, each with what was changed.
func (res *result) spans() (all []page.Phase) {
	for i, p := range res.Phases {
		to := res.Duration
		if i+1 < len(res.Phases) {
			to = min(to, res.Phases[i+1].From)
		}
		if p.Conditions != res.Conditions && p.From < to {
			all = append(all, page.Phase{From: p.From, To: to, Label: strings.ReplaceAll(res.changes[i], ";", ", ")})
		}
	}
	return all
}
