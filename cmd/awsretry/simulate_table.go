package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/awsretry/awsretry/internal/command/page"
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
