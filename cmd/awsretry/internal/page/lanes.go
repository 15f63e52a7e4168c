package page

import (
	"html/template"
	"strconv"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// block is a phase of a call, in seconds from its start.
type block struct {
	kind     string
	from, to float64
}

// kinds returns the kinds of blocks with their meanings, in drawing order.
func kinds() []Fact {
	return []Fact{
		{"backoff", "backoff"},
		{"sendwait", "wait for a send token"},
		{"rest", "wait that no attempt follows"},
		{"throttled", "throttled attempt"},
		{"failed", "failed attempt"},
		{"ok", "successful attempt"},
	}
}

func outcome(a sim.Attempt) string {
	switch {
	case a.Throttled:
		return "throttled"
	case a.Err != nil:
		return "failed"
	default:
		return "ok"
	}
}

// waits returns the two parts of the wait before an attempt.
func waits(c *sim.Call, attempt int) (backoff, forToken time.Duration) {
	before := c.Began
	if attempt > 0 {
		before = c.Attempts[attempt-1].Ended
	}
	gap := max(c.Attempts[attempt].Sent-before, 0)
	forToken = min(max(c.Attempts[attempt].SendWait, 0), gap)
	return gap - forToken, forToken
}

func blocksOf(c *sim.Call) []block {
	var blocks []block
	add := func(kind string, from, to time.Duration) {
		if to > from || kind == "ok" || kind == "failed" || kind == "throttled" {
			blocks = append(blocks, block{kind, (from - c.Began).Seconds(), (to - c.Began).Seconds()})
		}
	}
	last := c.Began
	for i, a := range c.Attempts {
		backoff, forToken := waits(c, i)
		add("backoff", a.Sent-forToken-backoff, a.Sent-forToken)
		add("sendwait", a.Sent-forToken, a.Sent)
		add(outcome(a), a.Sent, a.Ended)
		last = a.Ended
	}
	add("rest", last, c.Ended)
	return blocks
}

// lanes draws the longest call of each variant.
func lanes(r *Report) picture {
	p := picture{
		ID: "lanes", Heading: "The longest call", Kind: "lanes",
		Caption: "The call of each variant that took the longest, from its beginning on the left. " +
			"High blocks are attempts, drawn wider than they are if they are short; low ones are waits.",
	}
	longest := 0.0
	for _, v := range r.Variants {
		if v.Result.Calls > 0 {
			longest = max(longest, (v.Result.Longest.Ended - v.Result.Longest.Began).Seconds())
		}
	}
	x := timeAxis("since the call began", longest)
	drawn := false
	for i, v := range r.Variants {
		if v.Result.Calls == 0 {
			p.Panels = append(p.Panels, panel{Name: v.Name, Text: "No call ended in the time that counts."})
			continue
		}
		drawn = true
		c := &v.Result.Longest
		became := fate(c)
		p.Panels = append(p.Panels, panel{Name: v.Name, Text: became, SVG: lane("lanes-"+strconv.Itoa(i+1), v.Name+": "+became, x, c)})
		p.Tables = append(p.Tables, attempts(v.Name, c))
	}
	if !drawn {
		return p
	}
	p.Panels = append(p.Panels, panel{SVG: laneAxis(x)})
	for _, k := range kinds() {
		p.Legend = append(p.Legend, entry{key("block " + k.Name), k.Value})
	}
	return p
}

// fate describes the outcome of a call.
func fate(c *sim.Call) string {
	how := "It succeeded"
	if c.Err != nil {
		how = "It failed"
	}
	return how + " after " + duration(c.Ended-c.Began) + " and " + counted(len(c.Attempts), "attempt") + "."
}

// The lanes are as wide as a large frame, and begin and end where its plot does.
const (
	laneLeft, laneRight = 8, 464
	laneHeight          = 24
	// shortest is the minimum width of an attempt.
	shortest = 3
)

func laneX(x axis, at float64) float64 {
	return laneLeft + float64(min(max(at/x.most, 0), 1)*(laneRight-laneLeft))
}

// lane draws a call. Blocks of a kind that nearly touch are one.
func lane(id, name string, x axis, c *sim.Call) template.HTML {
	svg := newCanvas(id, "large", name, largeFrame().width, laneHeight)
	grid := &outline{}
	for _, t := range x.ticks {
		grid.to("M", laneX(x, t.at), 0).to("v", laneHeight)
	}
	svg.path("grid", grid)
	blocks := blocksOf(c)
	for _, kind := range kinds() {
		isWait := kind.Name == "backoff" || kind.Name == "sendwait" || kind.Name == "rest"
		d := &outline{}
		from, to := -1.0, -1.0
		flush := func() {
			if to >= 0 {
				d.to("M", from, laneHeight/2).to("H", to)
			}
		}
		for _, b := range blocks {
			if b.kind != kind.Name {
				continue
			}
			left, right := laneX(x, b.from), laneX(x, b.to)
			gap := float64(shortest) // a gap in a wait is an attempt, drawn above it
			if !isWait {
				gap = 0.5
				right = max(right, left+shortest)
			}
			if to >= 0 && left < to+gap {
				to = max(to, right)
				continue
			}
			flush()
			from, to = left, right
		}
		flush()
		svg.path("block "+kind.Name, d)
	}
	return svg.finish()
}

// laneAxis is the axis below the lanes.
func laneAxis(x axis) template.HTML {
	svg := newCanvas("lanes-axis", "large", "Axis of the calls: "+x.name, largeFrame().width, 40)
	marks := (&outline{}).to("M", laneLeft, 0).to("H", laneRight)
	for _, t := range x.ticks {
		marks.to("M", laneX(x, t.at), 0).to("v", 5)
		svg.text("tick middle", laneX(x, t.at), 18, t.label)
	}
	svg.path("axis", marks)
	svg.text("name middle", (laneLeft+laneRight)/2, 35, x.name)
	return svg.finish()
}

// mostAttempts is the maximum number of attempts in the table of a call.
const mostAttempts = 25

// attempts is the table of a call.
func attempts(name string, c *sim.Call) table {
	t := table{
		Label: "The longest call of " + name, Caption: name + ": " + fate(c), First: "attempt",
		Head: []string{"backoff before", "send wait before", "sent after", "took", "outcome"},
	}
	for i, a := range c.Attempts {
		if i == mostAttempts {
			t.Rows = append(t.Rows, row{Name: "and " + count(len(c.Attempts)-i) + " more", Cells: make([]cell, len(t.Head))})
			break
		}
		backoff, forToken := waits(c, i)
		t.Rows = append(t.Rows, row{Name: strconv.Itoa(i + 1), Cells: []cell{
			{Text: duration(backoff)},
			{Text: duration(forToken)},
			{Text: duration(a.Sent - c.Began)},
			{Text: duration(a.Ended - a.Sent)},
			{Text: outcome(a)},
		}})
	}
	if c.Err != nil {
		t.Note = "Its error: " + shown(c.Err.Error())
	}
	return t
}
