package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/awsretry/awsretry/internal/sim"
	"github.com/awsretry/awsretry/internal/sim/page"
	"github.com/awsretry/awsretry/internal/terminal"
)

// table writes what the variants came to as text for people.
func (p *played) table(to io.Writer) error {
	var out bytes.Buffer
	table := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	goodput := "goodput/limit"
	if p.trace != nil {
		goodput = "goodput/s"
	}
	fmt.Fprintf(table, "\t%s\tfailed\tattempts/call\tthrottled\tp50\tp99\tmax\tdelay/call\trecover\tlowest quota\n", goodput)
	for _, v := range p.variants {
		r := v.result
		reached := page.Percent(r.Goodput / p.limit())
		if p.trace != nil {
			reached = page.Number(r.Goodput)
		}
		fmt.Fprintln(table, strings.Join([]string{
			terminal.Escaped(v.Name), reached, page.Percent(r.FailedShare), page.Number(r.AttemptsPerCall), page.Percent(r.ThrottledShare),
			page.Seconds(r.LatencyP50), page.Seconds(r.LatencyP99), page.Seconds(r.LatencyMax), page.Seconds(r.DelayPerCall),
			page.Seconds(r.Recover), strconv.Itoa(r.LowestQuota),
		}, "\t"))
	}
	_ = table.Flush() // The buffer takes everything.
	fmt.Fprintln(table, "\ndrain point\ttransient\ttimeout\tthrottling")
	for _, v := range p.variants {
		fmt.Fprint(table, terminal.Escaped(v.Name))
		for _, d := range drainPoints(v.plan) {
			fmt.Fprint(table, "\t"+page.Percent(d.Share))
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush()
	fmt.Fprintln(&out)
	for _, sentence := range p.answer() {
		fmt.Fprintln(&out, terminal.Escaped(sentence))
	}
	_, err := to.Write(out.Bytes())
	return err
}

// report is the report of the simulation.
func (p *played) report() *page.Report {
	r := &page.Report{Command: p.command(), Answer: p.answer(), Played: p.facts(), Limit: p.limit()}
	if p.trace == nil && p.outage > 0 {
		r.Outage.From, r.Outage.To = settled, min(settled+p.outage, p.length())
	}
	for _, v := range p.variants {
		shown := page.Variant{Name: v.Name, Settings: v.settings, Result: v.result, Curve: v.curve}
		for _, d := range drainPoints(v.plan) {
			shown.Drain = append(shown.Drain, page.Drain(d))
		}
		r.Variants = append(r.Variants, shown)
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
				facts = append(facts, page.Fact{Name: v.Name + ", beyond the trace", Value: fmt.Sprintf("%d attempts, which get the last response again", n)})
			}
			if n := v.result.Unused; n > 0 {
				facts = append(facts, page.Fact{Name: v.Name + ", not used", Value: fmt.Sprintf("%d responses, for which no attempt was made", n)})
			}
		}
		return facts
	}
	s := p.scenario()
	workers := fmt.Sprintf("%d, each with %d workers", s.Clients, s.Workers)
	if s.Workers == 0 {
		workers = fmt.Sprintf("%d, calls begin at random instants", s.Clients)
	}
	facts := []page.Fact{
		{Name: "limit", Value: fmt.Sprintf("%s requests a second, burst %s", page.Number(s.Rate), page.Number(s.Burst))},
		{Name: "clients", Value: workers},
		{Name: "offered", Value: page.Number(s.Offered) + " calls a second"},
		{Name: "latency", Value: fmt.Sprintf("%v to %v", s.Latency[0], s.Latency[1])},
		{Name: "failing requests", Value: page.Percent(s.Fail)},
	}
	if p.outage > 0 {
		facts = append(facts, page.Fact{Name: "outage", Value: fmt.Sprintf("%v, from second %.0f", p.outage, settled.Seconds())})
	}
	return append(facts,
		page.Fact{Name: "time", Value: fmt.Sprintf("%v, of which the figures count from second %.0f", s.Duration, settled.Seconds())},
		page.Fact{Name: "seed", Value: strconv.FormatUint(p.seed, 10)})
}

// answer is what came out, in three sentences.
func (p *played) answer() []string {
	first, r := p.variants[0], p.variants[0].result
	if r.Calls == 0 {
		return []string{"No call has ended in the time that counts."}
	}
	reached := ""
	switch played := p.scenario(); {
	case p.trace != nil:
	case played.Offered < played.Rate:
		reached = fmt.Sprintf(" of %s that are offered", page.Number(played.Offered))
	default:
		reached = fmt.Sprintf(", which is %s of the limit", page.Percent(r.Goodput/p.limit()))
	}
	answer := []string{
		fmt.Sprintf("With the settings, %s calls a second succeed%s, and %s of the calls fail.",
			page.Number(r.Goodput), reached, page.Percent(r.FailedShare)),
		p.onQuota(first),
	}
	if len(p.variants) == 1 {
		points := drainPoints(first.plan)
		return append(answer, fmt.Sprintf("The retry quota starts to empty when %s of the attempts fail, or %s are throttled.",
			page.Percent(points[0].Share), page.Percent(points[2].Share)))
	}
	return append(answer, compared(r, p.variants[1:]))
}

// compared is the sentence on the best of the other variants: the one in which the fewest calls
// fail, and of several such the fastest one.
func compared(r *sim.Result, others []*variant) string {
	v := slices.MinFunc(others, func(a, b *variant) int {
		return cmp.Or(cmp.Compare(a.result.FailedShare, b.result.FailedShare), cmp.Compare(a.result.LatencyP99, b.result.LatencyP99))
	})
	best := v.result
	failed, p50, p99 := page.Percent(best.FailedShare), page.Seconds(best.LatencyP50), page.Seconds(best.LatencyP99)
	was, was50, was99 := page.Percent(r.FailedShare), page.Seconds(r.LatencyP50), page.Seconds(r.LatencyP99)
	switch {
	case best.Calls == 0:
		return fmt.Sprintf("With %s no call has ended in the time that counts.", v.Name)
	case failed == was && p50 == was50 && p99 == was99:
		return fmt.Sprintf("With %s the calls fare the same.", v.Name)
	case failed == was:
		return fmt.Sprintf("With %s as many calls fail, and a call takes %s at the median instead of %s, and %s instead of %s at the 99th percentile.",
			v.Name, p50, was50, p99, was99)
	default:
		return fmt.Sprintf("With %s %s of the calls fail, and a call takes %s at the median instead of %s, and %s instead of %s at the 99th percentile.",
			v.Name, failed, p50, was50, p99, was99)
	}
}

// onQuota is the sentence on the retry quota of a variant.
func (p *played) onQuota(v *variant) string {
	r := v.result
	if !math.IsNaN(r.Emptied) {
		return fmt.Sprintf("The retry quota is empty after %s, and %s of the calls fail for lack of quota.",
			page.Seconds(r.Emptied), page.Percent(r.NoQuotaShare))
	}
	return fmt.Sprintf("The retry quota never falls below %d of %d tokens, and a call waits %s on average.",
		r.LowestQuota, v.plan.QuotaCapacity, page.Seconds(r.DelayPerCall))
}
