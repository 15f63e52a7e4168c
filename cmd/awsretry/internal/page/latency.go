package page

import (
	"math"
	"strconv"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// latencies draws how long calls take.
func latencies(r *Report) picture {
	p := picture{
		ID: "latency", Heading: "Time to success and to failure", Kind: "pair", Legend: legend(r),
		Caption: "Which share of all calls (up) succeeds or fails within a time (to the right; each mark is ten times the one before), " +
			"waits included. A line that ends low leaves the rest to the other picture.",
	}
	x, ok := timesOf(r)
	if !ok {
		p.Legend, p.None = nil, "No call ended in the time that counts."
		return p
	}
	for i, c := range []struct {
		name string
		of   func(v *sim.Result) []time.Duration
	}{
		{"Calls that succeed", func(v *sim.Result) []time.Duration { return v.Succeeded }},
		{"Calls that fail", func(v *sim.Result) []time.Duration { return v.Unsuccessful }},
	} {
		chart := newPlot("latency-"+strconv.Itoa(i+1), c.name, largeFrame(), x.axis(), shareAxis("share of all calls", 1), 0)
		t := table{Label: c.name + " over time", Caption: c.name + ", share of all calls", First: "share"}
		t.Rows = make([]row, len(percentiles()))
		for j, percent := range percentiles() {
			t.Rows[j].Name = Brief(percent) + " %"
		}
		for j, v := range r.Variants {
			ends, all := c.of(v.Result), v.Result.Calls
			chart.line(lineClass(j), x.cumulative(ends, all))
			t.Head = append(t.Head, v.Name)
			for k, percent := range percentiles() {
				text := unknown
				if n := int(math.Ceil(float64(all) * percent / 100)); n > 0 && n <= len(ends) {
					text = duration(ends[n-1])
				}
				t.Rows[k].Cells = append(t.Rows[k].Cells, cell{Text: text})
			}
		}
		p.Panels = append(p.Panels, panel{Name: c.name, SVG: chart.finish()})
		p.Tables = append(p.Tables, t)
	}
	return p
}

// percentiles are the shares of all calls in the table.
func percentiles() []float64 { return []float64{1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9} }

// decades is a time axis on which each power of ten has the same width.
type decades struct{ from, to int } // powers of ten, in seconds

// timesOf has room for the times of all calls.
func timesOf(r *Report) (d decades, ok bool) {
	shortest, longest := math.Inf(1), 0.0
	for _, v := range r.Variants {
		for _, ends := range [][]time.Duration{v.Result.Succeeded, v.Result.Unsuccessful} {
			if len(ends) > 0 {
				shortest, longest = min(shortest, ends[len(ends)/100].Seconds()), max(longest, ends[len(ends)-1].Seconds())
				ok = true
			}
		}
	}
	shortest = min(max(shortest, 1e-3), 1)
	longest = max(longest, 10*shortest)
	return decades{int(math.Floor(math.Log10(shortest))), int(math.Ceil(math.Log10(longest)))}, ok
}

func (d decades) axis() axis {
	a := axis{name: "time from the beginning of a call to its end", most: float64(d.to - d.from)}
	for power := d.from; power <= d.to; power++ {
		a.ticks = append(a.ticks, tick{float64(power - d.from), Brief(math.Pow(10, float64(power))) + " s"})
		if power < 0 {
			a.ticks[len(a.ticks)-1].label = Brief(math.Pow(10, float64(power+3))) + " ms"
		}
	}
	return a
}

// cumulative returns points for the share of all calls that ended within a time.
func (d decades) cumulative(ends []time.Duration, all int) []point {
	const steps = 200
	points := make([]point, 0, steps)
	n := 0
	for i := range steps + 1 {
		x := float64(d.to-d.from) * float64(i) / steps
		until := math.Pow(10, x+float64(d.from))
		for n < len(ends) && ends[n].Seconds() <= until {
			n++
		}
		if n > 0 {
			points = append(points, point{x, float64(n) / float64(all)})
		}
	}
	return points
}
