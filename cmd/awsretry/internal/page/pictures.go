package page

import (
	"math"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// picture is a figure: charts side by side, or a sentence instead of them.
type picture struct {
	ID, Heading, Caption string
	Legend               []entry
	Charts               []chart
	None                 string
}

// entry is a line of a legend.
type entry struct{ Look, Name string }

// pictures returns the pictures for the question, the one that answers it first.
func pictures(r *Report) []picture {
	all := []picture{latencies(r), rates(r), troubles(r), state(r)}
	switch r.Question {
	case OfFailures:
		return append([]picture{curve(r)}, all...)
	case InChange:
		return []picture{troubles(r), rates(r), latencies(r), state(r)}
	default:
		return all
	}
}

// curve shows attempts per call against the share of failing attempts.
func curve(r *Report) picture {
	p := picture{
		ID: "curve", Heading: "Attempts per call against failing attempts",
		Caption: "Each line says how many attempts a call makes on average (up) if a share of all attempts fails (to the right). " +
			"Right of its dashed mark, the drain point, the retry quota of a variant empties, and the line falls: " +
			"calls are then refused their retries.",
	}
	attempts := chart{Title: p.Heading, X: axis{Name: "share of attempts that fail", Unit: "%"}, Y: axis{Name: "attempts per call"}}
	failed := chart{Title: "Failed calls against failing attempts", X: attempts.X, Y: axis{Name: "share of calls that fail", Unit: "%"}}
	for i, v := range r.Variants {
		many, bad := line{Name: v.Name, Look: look(i)}, line{Name: v.Name, Look: look(i)}
		for j, at := range v.Curve {
			if len(attempts.At) == j {
				attempts.At = append(attempts.At, number(100*at.Share))
			}
			many.Values, bad.Values = append(many.Values, number(at.AttemptsPerCall)), append(bad.Values, number(100*at.FailedShare))
		}
		attempts.Lines, failed.Lines = append(attempts.Lines, many), append(failed.Lines, bad)
		named := entry{look(i), v.Name}
		for _, d := range v.Drain {
			if d.Kind == "transient" && known(d.Share) {
				named.Name += " (drains at " + Percent(d.Share) + ")"
				if n := len(attempts.At); n > 0 && 100*d.Share <= float64(attempts.At[n-1]) {
					attempts.Marks = append(attempts.Marks, mark{number(100 * d.Share), look(i), Percent(d.Share)})
				}
			}
		}
		p.Legend = append(p.Legend, named)
	}
	for i := range attempts.Lines {
		for _, l := range []*line{&attempts.Lines[i], &failed.Lines[i]} {
			for len(l.Values) < len(attempts.At) {
				l.Values = append(l.Values, number(math.NaN()))
			}
		}
	}
	if len(attempts.At) == 0 {
		p.None, p.Legend = "No shares of failing attempts were played.", nil
		return p
	}
	failed.At = attempts.At
	p.Charts = []chart{attempts, failed}
	return p
}

// latencies shows how long calls take.
func latencies(r *Report) picture {
	p := picture{
		ID: "latency", Heading: "Time to success and to failure", Legend: legend(r),
		Caption: "Which share of all calls (up) succeeds or fails within a time (to the right; each mark is ten times the one before), " +
			"waits included. A line that ends low leaves the rest to the other picture.",
	}
	shortest, longest := math.Inf(1), 0.0
	for _, v := range r.Variants {
		for _, ends := range [][]time.Duration{v.Result.Succeeded, v.Result.Unsuccessful} {
			if len(ends) > 0 {
				shortest, longest = min(shortest, ends[len(ends)/100].Seconds()), max(longest, ends[len(ends)-1].Seconds())
			}
		}
	}
	if longest <= 0 {
		p.None, p.Legend = "No call ended in the time that counts.", nil
		return p
	}
	from, to := math.Floor(math.Log10(min(max(shortest, 1e-3), 1))), math.Ceil(math.Log10(max(longest, 1e-2)))
	const steps = 120
	var at []number
	for i := range steps + 1 {
		at = append(at, number(math.Pow(10, from+(to-from)*float64(i)/steps)))
	}
	for _, c := range []struct {
		name string
		of   func(v *sim.Result) []time.Duration
	}{
		{"Calls that succeed", func(v *sim.Result) []time.Duration { return v.Succeeded }},
		{"Calls that fail", func(v *sim.Result) []time.Duration { return v.Unsuccessful }},
	} {
		drawn := chart{
			Title: c.name + " within a time", Name: c.name, At: at,
			X: axis{Name: "time from the beginning of a call to its end", Unit: "s", Log: true},
			Y: axis{Name: "share of all calls", Unit: "%", Most: 100},
		}
		for i, v := range r.Variants {
			l := line{Name: v.Name, Look: look(i)}
			ends, n := c.of(v.Result), 0
			for _, x := range at {
				for n < len(ends) && ends[n].Seconds() <= float64(x) {
					n++
				}
				share := math.NaN()
				if n > 0 {
					share = 100 * float64(n) / float64(v.Result.Calls)
				}
				l.Values = append(l.Values, number(share))
			}
			drawn.Lines = append(drawn.Lines, l)
		}
		p.Charts = append(p.Charts, drawn)
	}
	return p
}

// rates shows the calls and the attempts over time.
func rates(r *Report) picture {
	p := picture{
		ID: "rates", Heading: "Rates over time",
		Caption: "How many calls a second callers want to make (offered) and make (begun), and how many attempts a second the service " +
			"gets (sent), refuses for their rate (throttled) and answers well (accepted). The wider the gap from sent to accepted, " +
			"the more work is for nothing.",
		Legend: []entry{
			{"offered", "offered"},
			{"begun", "begun"},
			{"sent", "sent"},
			{"throttled", "throttled"},
			{"accepted", "accepted"},
			{"limit", "limit, what the service allows"},
		},
	}
	for _, v := range r.Variants {
		c, bins := r.overTime("Rates over time of "+v.Name, v.Name, "a second")
		if bins == 0 {
			p.None, p.Legend = "Nothing was counted over time.", nil
			return p
		}
		for _, l := range []struct {
			name  string
			value func(b sim.Bin) float64
		}{
			{"offered", func(b sim.Bin) float64 { return b.Offered }},
			{"begun", func(b sim.Bin) float64 { return float64(b.Begun) }},
			{"sent", func(b sim.Bin) float64 { return float64(b.Sent) }},
			{"throttled", func(b sim.Bin) float64 { return float64(b.Throttled) }},
			{"accepted", func(b sim.Bin) float64 { return float64(b.Accepted) }},
		} {
			c.add(l.name, l.name, v.Result, func(b sim.Bin, seconds float64) float64 { return l.value(b) / seconds })
		}
		c.addLimit(v.Result)
		p.Charts = append(p.Charts, c)
	}
	most := 0.0
	for _, c := range p.Charts {
		most = max(most, c.most())
	}
	for i := range p.Charts {
		p.Charts[i].Y.Most = 1.06 * most // the same for all, so that they can be compared
	}
	return p
}

// troubles shows the failing and the waiting calls over time.
func troubles(r *Report) picture {
	p := picture{
		ID: "troubles", Heading: "Failed and waiting calls over time",
		Caption: "How many calls a second end with an error, and how many have begun and not ended. Waiting calls that become more and more " +
			"are those of a program that does not keep up.",
	}
	return p.with(r, "Failed calls", "calls a second", func(b sim.Bin, seconds float64) float64 { return float64(b.Failed) / seconds }).
		with(r, "Waiting calls", "calls", func(b sim.Bin, _ float64) float64 { return float64(b.Waiting) })
}

// state shows the retry quota and the send rate over time.
func state(r *Report) picture {
	p := picture{
		ID: "state", Heading: "Retry quota, send rate and pool over time",
		Caption: "The lowest retry quota of all clients: at the bottom there are no tokens left, and calls are refused their retries. " +
			"The send rate is how many attempts a second all clients together let through: a gap is a time in which nothing holds them back. " +
			"The pool holds what full quotas have no room for. It pays for retries that the quota of the table cannot pay for.",
	}
	p = p.with(r, "Retry quota", "tokens", func(b sim.Bin, _ float64) float64 { return float64(b.Quota) })
	if limited(r) {
		p = p.with(r, "Send rate", "attempts a second", func(b sim.Bin, _ float64) float64 { return b.SendRate })
	}
	return p.with(r, "Pool", "tokens", func(b sim.Bin, _ float64) float64 { return float64(b.Pool) })
}

// with adds a chart over time with a line for each variant.
func (p picture) with(r *Report, name, unit string, value func(b sim.Bin, seconds float64) float64) picture {
	c, bins := r.overTime(name+" over time", name, unit)
	if bins == 0 {
		p.None = "Nothing was counted over time."
		return p
	}
	for i, v := range r.Variants {
		c.add(v.Name, look(i), v.Result, value)
	}
	p.Legend, p.Charts = legend(r), append(p.Charts, c)
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
