package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
)

// report is the report of the simulation.
func (res *result) report() *page.Report {
	r := &page.Report{
		Command: res.command(), Version: res.version, Answer: res.answer(), Question: res.asks(), Played: res.facts(),
		Within: res.within,
	}
	s := res.scenario()
	r.Phases = spans(&s)
	for _, v := range res.variants {
		r.Variants = append(r.Variants, page.Variant{
			Name: v.Name, Settings: v.settings, Runs: v.runs, Result: v.result(), Same: v.same, Curve: v.curve, Drain: drainPoints(v.plan),
		})
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

// facts returns what was played.
func (res *result) facts() []page.Fact {
	s := res.scenario()
	workers := fmt.Sprintf("%d, each with %d workers", s.Clients, s.Workers)
	if s.Workers == 0 {
		workers = fmt.Sprintf("%d, calls begin at random instants", s.Clients)
	}
	limit := asGiven(s.Rate) + " requests a second, burst " + asGiven(s.Burst)
	if s.Queue {
		limit = asGiven(s.Rate) + " requests a second, in a queue"
	}
	facts := []page.Fact{
		{Name: "limit", Value: limit},
		{Name: "clients", Value: workers},
		{Name: "offered", Value: asGiven(s.Offered) + " calls a second"},
		{Name: "latency", Value: page.Seconds(s.Latency[0].Seconds()) + " to " + page.Seconds(s.Latency[1].Seconds())},
		{Name: "failing requests", Value: page.Percent(s.Fail)},
	}
	if s.Timeout > 0 {
		facts = append(facts, page.Fact{Name: "timeout", Value: page.Seconds(s.Timeout.Seconds()) + " for each attempt"})
	}
	if res.outage > 0 {
		facts = append(facts, page.Fact{Name: "outage", Value: fmt.Sprintf("%s, from second %.0f", page.Seconds(res.outage.Seconds()), settled.Seconds())})
	}
	for _, phase := range res.phases {
		facts = append(facts, page.Fact{Name: "phase", Value: phase.String()})
	}
	seeds := "1 to " + strconv.Itoa(usualSeeds)
	if res.seed > 0 {
		seeds = strconv.FormatUint(res.seed, 10)
	}
	if res.calls > 0 {
		facts = append(facts, page.Fact{Name: "calls", Value: strconv.Itoa(res.calls)})
	}
	return append(facts,
		page.Fact{Name: "time", Value: fmt.Sprintf("%s, of which the figures count from second %.0f", page.Seconds(s.Duration.Seconds()), s.Measured.From.Seconds())},
		page.Fact{Name: "seeds", Value: seeds})
}

// asGiven formats a number with all its digits.
func asGiven(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
