package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
	if err := replace(name, report.Bytes()); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// replace writes a file. On a full disk an older file stays as it is: the new one is made beside it, and takes its place
// when it is complete. A pipe, a device, and a file beside which none can be made are written in place.
func replace(name string, text []byte) error {
	inPlace := func() error { return os.WriteFile(name, text, 0o666) }
	old, err := os.Stat(name)
	if err == nil && !old.Mode().IsRegular() {
		return inPlace()
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	} else if old != nil { // a deleted file behind /dev/stdout
		return inPlace()
	}
	held := make(chan os.Signal, 1)
	signal.Notify(held, os.Interrupt, syscall.SIGTERM) // They would end the program, and leave the part.
	defer signal.Stop(held)
	part, err := os.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return inPlace()
	}
	defer func() { _ = os.Remove(part.Name()) }() // It is there if it has not become the file.
	_, err = part.Write(text)
	if old != nil {
		err = errors.Join(err, part.Chmod(old.Mode().Perm()))
	}
	if err = errors.Join(err, part.Close()); err != nil {
		return err
	}
	if os.Rename(part.Name(), name) != nil { // such as a file that is mounted by itself
		return inPlace()
	}
	return nil
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
	for _, name := range []string{"limit", "burst", "queue", "clients", "workers", "offered", "calls", "latency", "timeout", "fail", "outage", "lose", "phase", "duration", "within", "seed"} {
		f := res.flags.Lookup(name)
		value := strings.Trim(f.Value.String(), "[]")
		if slices.Contains([]string{"", "0s", "false"}, value) || value == "0" && name != "workers" {
			continue
		}
		if unit, _ := pflag.UnquoteUsage(f); f.Value.Type() == "rate" || f.Value.Type() == "number" {
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
