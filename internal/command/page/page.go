package page

import (
	"bytes"
	_ "embed" // for the template and its styles
	"html/template"
	"io"
	"slices"
)

//go:embed page.html
var layout string

//go:embed page.css
var styles string

// Write writes the page of a report. The same report gives the same bytes. The errors are those of
// w.
func Write(w io.Writer, r *Report) error {
	parsed, err := template.New("page").Parse(layout)
	if err != nil {
		return err
	}
	clean := cleaned(r)
	var b bytes.Buffer
	err = parsed.Execute(&b, view{
		Report: clean, Style: template.CSS(styles), Settings: settings(clean), Results: results(clean), Drains: drainPoints(clean),
		Pictures: []picture{curve(clean), rates(clean), state(clean), lanes(clean)}, Notes: notes(),
	})
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// view is what the template shows.
type view struct {
	*Report
	Style                     template.CSS
	Settings, Results, Drains table
	Pictures                  []picture
	Notes                     []Fact
}

// picture is a figure: panels side by side or below each other, or a sentence in place of them, and
// the tables behind it.
type picture struct {
	ID, Heading, Caption string
	Kind                 string // the class of the panels: grid, pair, lanes or none
	Legend               []entry
	Panels               []panel
	None                 string
	Tables               []table
}

type entry struct {
	Key  template.HTML
	Name string
}

type panel struct {
	Name, Text string
	SVG        template.HTML
}

// table has a heading for each row and column. Its groups are headings above several columns.
type table struct {
	Label   string // unique in the page; screen readers say it
	Caption string
	First   string // the heading of the first column
	Groups  []group
	Head    []string
	Rows    []row
	Note    string
}

type group struct {
	Name string
	Span int
}

type row struct {
	Name  string
	Cells []cell
}

type cell struct{ Text, Small string }

// cleaned is a report whose texts show their control characters.
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
	c.Variants = slices.Clone(r.Variants)
	for i := range c.Variants {
		v := &c.Variants[i]
		v.Name = shown(v.Name)
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

// settings has a row for each setting of a variant. Where a variant has what the first one has, the
// cell is short.
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
			cells[i] = cell{s.Value, s.Origin}
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

// results has a row for each variant.
func results(r *Report) table {
	t := table{Label: "Results", First: "variant", Head: []string{
		"goodput", "failed calls", "attempts per call", "throttled attempts", "latency p50", "latency p99", "latency max",
		"delay per call", "time to recover", "lowest quota",
	}}
	for _, v := range r.Variants {
		s := v.Result
		goodput := cell{Text: rate(s.Goodput)}
		if known(s.Goodput) && known(r.Limit) && r.Limit > 0 {
			goodput.Small = Percent(s.Goodput/r.Limit) + " of the limit"
		}
		failed, quota := cell{Text: Percent(s.FailedShare)}, cell{Text: count(s.LowestQuota)}
		if s.NoQuotaShare > 0 {
			failed.Small = Percent(s.NoQuotaShare) + " for lack of quota"
		}
		if known(s.Emptied) {
			quota.Small = "first refusal after " + Seconds(s.Emptied)
		}
		t.Rows = append(t.Rows, row{v.Name, []cell{
			goodput, failed,
			{Text: Number(s.AttemptsPerCall)},
			{Text: Percent(s.ThrottledShare)},
			{Text: Seconds(s.LatencyP50)},
			{Text: Seconds(s.LatencyP99)},
			{Text: Seconds(s.LatencyMax)},
			{Text: Seconds(s.DelayPerCall)},
			{Text: Seconds(s.Recover)},
			quota,
		}})
	}
	return t
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
			cells[slices.Index(t.Head, d.Kind)].Text = Percent(d.Share)
		}
		t.Rows = append(t.Rows, row{v.Name, cells})
	}
	return t
}

// notes say what the columns mean.
func notes() []Fact {
	return []Fact{
		{"Goodput", "Calls that succeed, a second. Rates, shares and latencies are of the calls that ended in the measured time."},
		{"Failed calls", "The share of the calls that end with an error. Lack of quota is one of the reasons: the retry quota was empty."},
		{"Attempts per call", "All attempts, the first one included."},
		{"Throttled attempts", "The share of the attempts that the service refused for their rate."},
		{"Latency", "The time from the beginning of a call to its end, waits included, of calls that fail too. Half of the calls take p50 at most, and 99 % take p99 at most."},
		{"Delay per call", "How much of that a call waits for backoff and for send tokens, on average."},
		{"Time to recover", "The time from the end of the outage until the successes come to 90 % of what they were in the ten seconds before it, for 5 s."},
		{"Lowest quota", "The fewest tokens that the retry quota of any client had in the whole run. The first refusal is when a retry was first refused for lack of tokens."},
		{"Drain point", "The share of failing attempts above which the retry quota empties, if all failures are of that kind."},
	}
}
