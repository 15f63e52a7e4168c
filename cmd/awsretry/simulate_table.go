package main

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/awsretry/awsretry/internal/command/page"
	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/internal/terminal"
)

// table writes the results of the variants as text for people: the answer, what callers see, what causes it, and the
// drain points.
func (res *result) table(to io.Writer) error {
	var out bytes.Buffer
	for _, sentence := range res.answer() {
		fmt.Fprintln(&out, terminal.Escaped(sentence))
	}
	var runs [][]*sim.Result
	for _, v := range res.variants {
		runs = append(runs, v.runs)
	}
	shown := page.Shown(page.Figures(res.within), runs)
	for _, more := range []bool{false, true} {
		fmt.Fprintln(&out)
		table := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
		for _, f := range shown {
			if f.More == more {
				fmt.Fprint(table, "\t"+f.Name)
			}
		}
		fmt.Fprintln(table)
		for _, v := range res.variants {
			if v.same != "" {
				continue
			}
			fmt.Fprint(table, terminal.Escaped(v.Name))
			for _, f := range shown {
				if f.More == more {
					fmt.Fprint(table, "\t"+f.Text(v.of(f.Value)))
				}
			}
			fmt.Fprintln(table)
		}
		_ = table.Flush() // The buffer takes everything.
		for _, v := range res.variants {
			if v.same != "" && !more {
				fmt.Fprintf(&out, "%s comes to the same as %s.\n", terminal.Escaped(v.Name), terminal.Escaped(v.same))
			}
		}
	}
	table := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "\ndrain point\ttransient\ttimeout\tthrottling")
	for _, v := range res.variants {
		fmt.Fprint(table, terminal.Escaped(v.Name))
		for _, d := range drainPoints(v.plan) {
			fmt.Fprint(table, "\t"+page.Percent(d.Share))
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush()
	_, err := to.Write(out.Bytes())
	return err
}
