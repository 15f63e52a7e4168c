package page

import (
	"strconv"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// series returns the names of the rates of a bin, in drawing order.
func series() []string { return []string{"offered", "begun", "sent", "throttled", "accepted"} }

// lineCount is the number of series.
const lineCount = 5

func countsOf(b sim.Bin) [lineCount]float64 {
	return [...]float64{b.Offered, float64(b.Begun), float64(b.Sent), float64(b.Throttled), float64(b.Accepted)}
}

// endOf returns when a bin ends. The last one ends with the run.
func endOf(v *sim.Result, bin int) time.Duration {
	end := v.Bins[bin].From + v.Width
	if v.Duration > v.Bins[bin].From {
		end = min(end, v.Duration)
	}
	return end
}

// ratesOf returns the rates of a bin per second.
func ratesOf(v *sim.Result, bin int) [lineCount]float64 {
	var rates [lineCount]float64
	width := (endOf(v, bin) - v.Bins[bin].From).Seconds()
	for i, n := range countsOf(v.Bins[bin]) {
		rates[i] = n / width
	}
	return rates
}

// bins returns the result with the most bins, and when the last bin of all ends; nil if there are
// no bins.
func (r *Report) bins() (longest *sim.Result, end time.Duration) {
	for _, v := range r.Variants {
		if n := len(v.Result.Bins); n > 0 {
			if longest == nil || n > len(longest.Bins) {
				longest = v.Result
			}
			end = max(end, endOf(v.Result, n-1))
		}
	}
	return longest, end
}

// overTime is a table with a row for each bin.
func overTime(label string, longest *sim.Result) table {
	t := table{Label: label, First: "from second", Rows: make([]row, len(longest.Bins))}
	for i, b := range longest.Bins {
		t.Rows[i].Name = strconv.FormatFloat(b.From.Seconds(), 'f', -1, 64)
	}
	return t
}

// rates draws the rates over time.
func rates(r *Report) picture {
	p := picture{
		ID: "rates", Heading: "Rates over time", Kind: "grid",
		Caption: "How many calls a second callers want to make (offered) and make (begun), and how many attempts a second the service " +
			"gets (sent), refuses for their rate (throttled) and answers well (accepted). The wider the gap from sent to accepted, " +
			"the more work is for nothing.",
	}
	longest, end := r.bins()
	if longest == nil {
		p.None = "Nothing was counted over time."
		return p
	}
	most := 0.0
	for _, v := range r.Variants {
		for i := range v.Result.Bins {
			for _, rate := range ratesOf(v.Result, i) {
				if known(rate) {
					most = max(most, rate)
				}
			}
		}
	}
	y := valueAxis("a second", withLimit(most, r.Limit))
	t := overTime(p.Heading, longest)
	for i, v := range r.Variants {
		chart := newPlot("rates-"+strconv.Itoa(i+1), "Rates over time of "+v.Name, smallFrame(), timeAxis("of the run", end.Seconds()), y, room(r.Phases))
		chart.phases(r.Phases)
		lines := [lineCount][]point{}
		var allowed []point
		for bin, b := range v.Result.Bins {
			middle := (b.From + endOf(v.Result, bin)).Seconds() / 2
			for s, rate := range ratesOf(v.Result, bin) {
				lines[s] = append(lines[s], point{middle, rate})
			}
			allowed = append(allowed, point{middle, b.Allowed})
		}
		for s, name := range series() {
			chart.line(name, lines[s])
		}
		if chart.limit(r.Limit); !known(r.Limit) {
			chart.line("limit", allowed)
		}
		p.Panels = append(p.Panels, panel{Name: v.Name, SVG: chart.finish()})
		t.Groups = append(t.Groups, group{v.Name, lineCount})
		t.Head = append(t.Head, series()...)
		for bin := range t.Rows {
			cells := [...]string{unknown, unknown, unknown, unknown, unknown}
			if bin < len(v.Result.Bins) {
				for s, rate := range ratesOf(v.Result, bin) {
					cells[s] = Brief(rate)
				}
			}
			for _, text := range cells {
				t.Rows[bin].Cells = append(t.Rows[bin].Cells, cell{Text: text})
			}
		}
	}
	for _, name := range series() {
		p.Legend = append(p.Legend, entry{key("line " + name), name})
	}
	p.Tables = []table{t}
	return p
}
