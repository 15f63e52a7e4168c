package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/awsretry/awsretry/internal/command/page"
)

// report is the report of the simulation.
func (p *played) report() *page.Report {
	r := &page.Report{Command: p.command(), Version: p.version, Answer: p.answer(), Played: p.facts(), Limit: p.limit()}
	if p.trace == nil && p.outage > 0 {
		r.Outage.From, r.Outage.To = settled, min(settled+p.outage, p.length())
	}
	for _, v := range p.variants {
		r.Variants = append(r.Variants, page.Variant{
			Name: v.Name, Settings: v.settings, Result: v.result, Curve: v.curve, Drain: drainPoints(v.plan),
		})
	}
	return r
}

// command is the command line without the file of the report, which does not change the report.
func (p *played) command() string {
	words := []string{"awsretry simulate"}
	for i := 0; i < len(p.args); i++ {
		switch name, _, assigned := strings.Cut(p.args[i], "="); {
		case name != "-o" && name != "--o":
			words = append(words, quoted(p.args[i]))
		case !assigned:
			i++
		}
	}
	return strings.Join(words, " ")
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_=.,:/@%+", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// facts say what was played.
func (p *played) facts() []page.Fact {
	if p.trace != nil {
		facts := []page.Fact{{Name: "trace", Value: p.trace.name}, {Name: "time", Value: page.Seconds(p.length().Seconds())}}
		for _, v := range p.variants {
			if n := v.result.Beyond; n > 0 {
				facts = append(facts, page.Fact{Name: v.Name + ", attempts beyond the trace", Value: fmt.Sprintf("%d; each gets the last response again", n)})
			}
			if n := v.result.Unused; n > 0 {
				facts = append(facts, page.Fact{Name: v.Name + ", responses without an attempt", Value: strconv.Itoa(n)})
			}
		}
		return facts
	}
	s := p.scenario()
	workers := fmt.Sprintf("%d, each with %d workers", s.Clients, s.Workers)
	if s.Workers == 0 {
		workers = fmt.Sprintf("%d, calls begin at random instants", s.Clients)
	}
	tables := "1"
	if s.Healthy > 0 {
		tables = fmt.Sprintf("%d; the figures are of the first, and the others are healthy", 1+s.Healthy)
	}
	facts := []page.Fact{
		{Name: "limit", Value: fmt.Sprintf("%s requests a second, burst %s", asGiven(s.Rate), asGiven(s.Burst))},
		{Name: "clients", Value: workers},
		{Name: "tables", Value: tables},
		{Name: "offered", Value: asGiven(s.Offered) + " calls a second"},
		{Name: "latency", Value: page.Seconds(s.Latency[0].Seconds()) + " to " + page.Seconds(s.Latency[1].Seconds())},
		{Name: "failing requests", Value: page.Percent(s.Fail)},
	}
	if p.outage > 0 {
		facts = append(facts, page.Fact{Name: "outage", Value: fmt.Sprintf("%s, from second %.0f", page.Seconds(p.outage.Seconds()), settled.Seconds())})
	}
	return append(facts,
		page.Fact{Name: "time", Value: fmt.Sprintf("%s, of which the figures count from second %.0f", page.Seconds(s.Duration.Seconds()), settled.Seconds())},
		page.Fact{Name: "seed", Value: strconv.FormatUint(p.seed, 10)})
}

// asGiven is a number with all its digits.
func asGiven(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
