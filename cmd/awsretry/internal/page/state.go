package page

import (
	"html/template"
	"math"
	"strconv"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// state draws the retry quota and the send rate over time.
func state(r *Report) picture {
	p := picture{
		ID: "state", Heading: "Retry quota, send rate and pool over time", Kind: "pair",
		Caption: "The lowest retry quota of all clients: at the bottom there are no tokens left, and calls are refused their retries. " +
			"The send rate is how many attempts a second all clients together let through: a gap is a time in which nothing holds them back. " +
			"The pool holds what full quotas have no room for. It pays for retries that the quota of the table cannot pay for.",
	}
	longest, _ := r.bins()
	if longest == nil {
		p.None = "Nothing was counted over time."
		return p
	}
	quota := func(b sim.Bin) float64 { return float64(b.Quota) }
	pool := func(b sim.Bin) float64 { return float64(b.Pool) }
	sendRate := func(b sim.Bin) float64 { return b.SendRate }
	chart, t := r.lines("state-1", "Retry quota over time", "tokens", quota, math.NaN())
	p.Panels, p.Tables = []panel{{Name: "Retry quota", SVG: chart}}, []table{t}
	if limited(r) {
		chart, t = r.lines("state-2", "Send rate over time", "attempts a second", sendRate, r.Limit)
		p.Panels, p.Tables = append(p.Panels, panel{Name: "Send rate", SVG: chart}), append(p.Tables, t)
	} else {
		p.Panels = append(p.Panels, panel{Name: "Send rate", Text: "No variant has a send rate: nothing holds back the attempts."})
	}
	chart, t = r.lines("state-3", "Pool over time", "tokens", pool, math.NaN())
	p.Panels, p.Tables = append(p.Panels, panel{Name: "Pool", SVG: chart}), append(p.Tables, t)
	p.Legend = legend(r)
	return p
}

// legend has the line of each variant.
func legend(r *Report) (all []entry) {
	for i, v := range r.Variants {
		all = append(all, entry{key("line " + lineClass(i)), v.Name})
	}
	return all
}

// troubles draws the failing and the waiting calls over time.
func troubles(r *Report) picture {
	p := picture{
		ID: "troubles", Heading: "Failed and waiting calls over time", Kind: "pair", Legend: legend(r),
		Caption: "How many calls a second end with an error, and how many have begun and not ended. Waiting calls that become more and more " +
			"are those of a program that does not keep up.",
	}
	longest, _ := r.bins()
	if longest == nil {
		p.Legend, p.None = nil, "Nothing was counted over time."
		return p
	}
	for i, c := range []struct {
		name, unit string
		value      func(b sim.Bin) float64
	}{
		{"Failed calls", "calls a second", func(b sim.Bin) float64 { return float64(b.Failed) / longest.Width.Seconds() }},
		{"Waiting calls", "calls", func(b sim.Bin) float64 { return float64(b.Waiting) }},
	} {
		chart, t := r.lines("troubles-"+strconv.Itoa(i+1), c.name+" over time", c.unit, c.value, math.NaN())
		p.Panels, p.Tables = append(p.Panels, panel{Name: c.name, SVG: chart}), append(p.Tables, t)
	}
	return p
}

// limited reports whether a variant has a send rate at any time.
func limited(r *Report) bool {
	for _, v := range r.Variants {
		for _, b := range v.Result.Bins {
			if known(b.SendRate) {
				return true
			}
		}
	}
	return false
}

// lines is a chart with a line for each variant, and its table.
func (r *Report) lines(id, name, unit string, value func(b sim.Bin) float64, limit float64) (template.HTML, table) {
	longest, end := r.bins()
	most := 0.0
	for _, v := range r.Variants {
		for _, b := range v.Result.Bins {
			if v := value(b); known(v) {
				most = max(most, v)
			}
		}
	}
	chart := newPlot(id, name, largeFrame(), timeAxis("of the run", end.Seconds()),
		valueAxis(unit, withLimit(most, limit)), room(r.Phases))
	chart.phases(r.Phases)
	t := overTime(name, longest)
	for i, v := range r.Variants {
		var points []point
		for bin, b := range v.Result.Bins {
			points = append(points, point{endOf(v.Result, bin).Seconds(), value(b)})
		}
		chart.line(lineClass(i), points)
		t.Head = append(t.Head, v.Name)
		for bin := range t.Rows {
			text := unknown
			if bin < len(v.Result.Bins) {
				text = Brief(value(v.Result.Bins[bin]))
			}
			t.Rows[bin].Cells = append(t.Rows[bin].Cells, cell{Text: text})
		}
	}
	chart.limit(limit)
	t.Caption, t.First = name+", in "+unit, "at the end of the time from second"
	return chart.finish(), t
}
