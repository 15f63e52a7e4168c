package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/escape"
)

// write writes the answer and the figures as text for people, in tables that fit a terminal of this width; zero is
// no limit.
func (res *result) write(to io.Writer, width int) error {
	var all strings.Builder
	for _, sentence := range res.answer() {
		fmt.Fprintln(&all, escape.Escaped(sentence))
	}
	var distinct []*variant
	for _, v := range res.variants {
		if v.same == "" {
			distinct = append(distinct, v)
			continue
		}
		fmt.Fprintf(&all, "%s comes to the same as %s.\n", escape.Escaped(v.Name), escape.Escaped(v.same))
	}
	for len(distinct) > 0 {
		shown := len(distinct)
		text := res.table(distinct)
		for ; shown > 1 && width > 0 && widest(text) > width; text = res.table(distinct[:shown]) {
			shown--
		}
		all.WriteString("\n" + text)
		distinct = distinct[shown:]
	}
	_, err := io.WriteString(to, all.String())
	return err
}

func widest(lines string) (most int) {
	for line := range strings.Lines(lines) {
		most = max(most, text.StringWidth(strings.TrimSuffix(line, "\n")))
	}
	return most
}

// table has a column for each variant and a row for each figure.
func (res *result) table(variants []*variant) string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	row := func(name string, cell func(v *variant) string) table.Row {
		cells := table.Row{name}
		for _, v := range variants {
			cells = append(cells, cell(v))
		}
		return cells
	}
	t.AppendHeader(row("", func(v *variant) string { return strings.ReplaceAll(escape.Escaped(v.Name), ",", ",\n") }))
	var runs [][]*sim.Result
	for _, v := range res.variants {
		runs = append(runs, v.runs)
	}
	for _, f := range page.Shown(page.Figures(res.within), runs) {
		t.AppendRow(row(f.Name, func(v *variant) string { return f.Text(v.of(f.Value)) }))
	}
	for i, kind := range []string{"transient", "timeout", "throttling"} {
		t.AppendRow(row("drain point, "+kind, func(v *variant) string { return page.Percent(drainPoints(v.plan)[i].Share) }))
	}
	lines := slices.Collect(strings.Lines(t.Render() + "\n"))
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \n") + "\n"
	}
	return strings.Join(lines, "")
}
