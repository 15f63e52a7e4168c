package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the template, its styles and scripts
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

//go:embed page.html
var layout string

//go:embed page.css
var styles string

// uPlot draws the charts.
var (
	//go:embed uplot/uPlot.min.css
	plotStyles string
	//go:embed uplot/uPlot.iife.min.js
	plot string
	//go:embed uplot/LICENSE
	license string
	//go:embed page.js
	script string
)

// Write writes the page of a report. The same report gives the same bytes. It returns the errors of
// w.
func Write(w io.Writer, r *Report) error {
	parsed, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	clean := cleaned(r)
	var b bytes.Buffer
	drawn := clean.distinct()
	library := "/*\n" + license + "*/\n" + plot
	err = parsed.Execute(&b, view{
		Report: clean, Style: template.CSS(plotStyles + styles), Plot: template.JS(library), Script: template.JS(script),
		Allowed: hashOf(library) + " " + hashOf(script), Settings: settings(clean), Results: results(clean), Drains: drainPoints(clean),
		Pictures: pictures(drawn), Notes: notes(clean.Within),
	})
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// hashOf is what a policy allows a script by.
func hashOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// view is the data of the template.
type view struct {
	*Report
	Style            template.CSS
	Plot, Script     template.JS
	Allowed          string
	Settings, Drains table
	Results          []table
	Pictures         []picture
	Notes            []Fact
}

// distinct returns a report without the variants that have the same results as another, which then bears
// their names too.
func (r *Report) distinct() *Report {
	d := *r
	d.Variants = nil
	at := map[string]int{}
	for _, v := range r.Variants {
		if first, ok := at[v.Same]; ok && v.Same != "" {
			d.Variants[first].Name += ", " + v.Name
			continue
		}
		at[v.Name] = len(d.Variants)
		d.Variants = append(d.Variants, v)
	}
	return &d
}

// table has a heading for each row and column. Its groups are headings above several columns.
type table struct {
	Label   string // unique in the page; for screen readers
	Caption string
	First   string // the heading of the first column
	Head    []string
	Rows    []row
	// Main is how many columns a wide screen shows, with the rest in another table; zero means all.
	Main int
}

// Wide reports whether a wide screen shows the column in another table.
func (t table) Wide(column int) bool { return t.Main > 0 && column >= t.Main }

type row struct {
	Name  string
	Cells []cell
}

// cell has the name of its column as Label, for narrow screens.
type cell struct{ Text, Small, Label string }

// cleaned returns a report whose texts show their control characters.
func cleaned(r *Report) *Report {
	c := *r
	c.Command, c.Version = shown(r.Command), shown(r.Version)
	c.Answer = slices.Clone(r.Answer)
	for i := range c.Answer {
		c.Answer[i] = shown(c.Answer[i])
	}
	c.Played = slices.Clone(r.Played)
	for i, f := range c.Played {
		c.Played[i] = Fact{shown(f.Name), shown(f.Value)}
	}
	c.Phases = slices.Clone(r.Phases)
	for i := range c.Phases {
		c.Phases[i].Label = shown(c.Phases[i].Label)
	}
	c.Variants = slices.Clone(r.Variants)
	for i := range c.Variants {
		v := &c.Variants[i]
		v.Name, v.Same = shown(v.Name), shown(v.Same)
		v.Settings, v.Drain = slices.Clone(v.Settings), slices.Clone(v.Drain)
		for j, s := range v.Settings {
			v.Settings[j] = Setting{shown(s.Name), shown(s.Value), shown(s.Origin)}
		}
		for j := range v.Drain {
			v.Drain[j].Kind = shown(v.Drain[j].Kind)
		}
	}
	return &c
}

// settings has a row for each setting of a variant. A cell is short if the variant has the same
// value as the first one.
func settings(r *Report) table {
	t := table{Label: "Settings", First: "setting"}
	at := map[string]int{}
	for i, v := range r.Variants {
		t.Head = append(t.Head, v.Name)
		for _, s := range v.Settings {
			if _, listed := at[s.Name]; !listed {
				at[s.Name] = len(t.Rows)
				t.Rows = append(t.Rows, row{s.Name, make([]cell, len(r.Variants))})
			}
			cells := t.Rows[at[s.Name]].Cells
			cells[i] = cell{Text: s.Value, Small: s.Origin}
			if i > 0 && cells[i] == cells[0] {
				cells[i] = cell{Text: "same"}
			}
		}
	}
	for _, row := range t.Rows {
		for i := range row.Cells {
			if row.Cells[i] == (cell{}) {
				row.Cells[i].Text = unknown
			}
		}
	}
	return t
}

// results returns two tables with a row for each variant: what callers see, and what causes it. On a narrow screen
// the first has both, so that there is one block for each variant.
func results(r *Report) []table {
	var runs [][]*sim.Result
	for _, v := range r.Variants {
		runs = append(runs, v.runs())
	}
	tables := []table{{Label: "Results", First: "variant"}, {Label: "More results", First: "variant"}}
	figures := Shown(Figures(r.Within), runs)
	for i, v := range r.Variants {
		name := v.Name
		if v.Same != "" {
			name += " (the same as " + v.Same + ")"
		}
		rows := [2]row{{Name: name}, {Name: name}}
		for _, f := range figures {
			at := 0
			if f.More {
				at = 1
			}
			if i == 0 {
				tables[at].Head = append(tables[at].Head, f.Name)
			}
			rows[at].Cells = append(rows[at].Cells, cell{Text: f.Text(sim.SpreadOf(v.runs(), f.Value)), Small: beside(f.Key, v.runs()), Label: f.Name})
		}
		tables[1].Rows = append(tables[1].Rows, rows[1])
		rows[0].Cells = append(rows[0].Cells, rows[1].Cells...)
		tables[0].Rows = append(tables[0].Rows, rows[0])
	}
	tables[0].Main = len(tables[0].Head)
	tables[0].Head = append(tables[0].Head, tables[1].Head...)
	return tables
}

// beside returns the small text beside a figure.
func beside(key string, runs []*sim.Result) string {
	switch key {
	case "failed_share":
		if s := sim.SpreadOf(runs, func(r *sim.Result) float64 { return r.NoQuotaShare }); s.Median > 0 {
			return Percents(s) + " for lack of quota"
		}
	case "lowest_quota":
		if s := sim.SpreadOf(runs, func(r *sim.Result) float64 { return r.Emptied }); known(s.Median) {
			return "first refusal after " + Times(s)
		}
	}
	return ""
}

// drainPoints has a row for each variant and a column for each kind of failure.
func drainPoints(r *Report) table {
	t := table{Label: "Drain points", First: "variant"}
	for _, v := range r.Variants {
		for _, d := range v.Drain {
			if !slices.Contains(t.Head, d.Kind) {
				t.Head = append(t.Head, d.Kind)
			}
		}
	}
	for _, v := range r.Variants {
		cells := slices.Repeat([]cell{{Text: unknown}}, len(t.Head))
		for _, d := range v.Drain {
			at := slices.Index(t.Head, d.Kind)
			cells[at] = cell{Text: Percent(d.Share), Label: d.Kind}
		}
		t.Rows = append(t.Rows, row{v.Name, cells})
	}
	return t
}

// notes explain the columns.
func notes(within time.Duration) (all []Fact) {
	for _, f := range Figures(within) {
		all = append(all, Fact{f.Name, f.Note})
	}
	return append(all,
		Fact{"Runs", "A figure is the median of all runs, each with a seed of its own, and, where the runs differ by more than a tenth, " +
			"the lowest and the highest. Pictures show the run with the median share of failed calls."},
		Fact{"Time", "Rates, shares and latencies are of the calls that end in the time that counts."},
		Fact{"Lack of quota", "The retry quota was empty. The first refusal is when a retry was first refused for lack of tokens."},
		Fact{"Drain point", "The share of failing attempts above which the retry quota empties, if all failures are of that kind."})
}
