package page

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// chart is what page.js draws with uPlot, and a table of the same numbers.
type chart struct {
	// Title is what is drawn in words, unique in the page, and Name the part of it that is shown above.
	Title string `json:"-"`
	Name  string `json:"-"`
	X     axis   `json:"x"`
	Y     axis   `json:"y"`
	// At has the instants, shares or times that all lines have a value for.
	At    []number `json:"at"`
	Lines []line   `json:"lines"`
	// Spans are shaded. Marks are upright lines with a label above.
	Spans []span `json:"spans,omitempty"`
	Marks []mark `json:"marks,omitempty"`
}

// axis is an axis with the unit of its numbers: s, % or none.
type axis struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Log gives each power of ten the same width. Most is where the axis ends; zero means above all lines.
	Log  bool    `json:"log,omitempty"`
	Most float64 `json:"most,omitempty"`
}

// line has the class of its look.
type line struct {
	Name   string   `json:"-"`
	Look   string   `json:"look"`
	Values []number `json:"values"`
}

type span struct {
	From  number `json:"from"`
	To    number `json:"to"`
	Label string `json:"label"`
}

type mark struct {
	At    number `json:"at"`
	Look  string `json:"look"`
	Label string `json:"label"`
}

// number has six digits in JSON. One that does not apply is null, a gap.
type number float64

// MarshalJSON writes a number, or null.
func (n number) MarshalJSON() ([]byte, error) {
	if !known(float64(n)) || math.Abs(float64(n)) > 1e100 {
		return []byte("null"), nil
	}
	return json.Marshal(json.Number(strconv.FormatFloat(float64(n), 'g', 6, 64)))
}

// JSON is the chart for page.js.
func (c chart) JSON() (string, error) {
	text, err := json.Marshal(c)
	return string(text), err
}

// tableRows is how many rows a table has at most.
const tableRows = 25

// Table has the numbers of the chart, or so many of them that people can read them.
func (c chart) Table() table {
	t := table{Label: c.Title, Caption: c.Title, First: c.X.Name}
	for _, l := range c.Lines {
		t.Head = append(t.Head, l.Name)
	}
	step := max((len(c.At)+tableRows-1)/tableRows, 1)
	for i := step - 1; i < len(c.At); i += step {
		r := row{Name: c.X.text(c.At[i])}
		for _, l := range c.Lines {
			r.Cells = append(r.Cells, cell{Text: c.Y.text(l.Values[i])})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func (a axis) text(n number) string {
	switch a.Unit {
	case "s":
		return Seconds(float64(n))
	case "%":
		return Percent(float64(n) / 100)
	default:
		return Brief(float64(n))
	}
}

// look returns the class of a variant's line. There are eight looks.
func look(variant int) string { return "v" + strconv.Itoa(variant%8) }

// legend has the line of each variant.
func legend(r *Report) (all []entry) {
	for i, v := range r.Variants {
		all = append(all, entry{look(i), v.Name})
	}
	return all
}

// overTime returns a chart with the parts of the run on its axis, which the caller names. It is false if there are
// none. Variants have the same parts; a run that ends earlier has fewer of them.
func (r *Report) overTime(title, name, unit string) (c chart, bins int) {
	for _, v := range r.Variants {
		bins = max(bins, len(v.Result.Bins))
	}
	for _, v := range r.Variants {
		if len(v.Result.Bins) < bins || len(c.At) > 0 {
			continue
		}
		end := v.Result.Duration.Seconds()
		c.X = axis{Name: "seconds of the run"}
		per := 1.0
		if end > 4*60 {
			c.X.Name, per = "minutes of the run", 60
		}
		c.X.Most = end / per
		for _, b := range v.Result.Bins {
			c.At = append(c.At, number(min((b.From+v.Result.Width).Seconds(), end)/per))
		}
		for _, p := range r.Phases {
			c.Spans = append(c.Spans, span{number(p.From.Seconds() / per), number(p.To.Seconds() / per), p.Label})
		}
	}
	c.Title, c.Name, c.Y.Name = title, name, unit
	return c, bins
}

// add adds a line with a value for each part of the run.
func (c *chart) add(name, look string, r *sim.Result, value func(b sim.Bin, seconds float64) float64) {
	l := line{Name: name, Look: look}
	for i := range c.At {
		v := math.NaN()
		if i < len(r.Bins) {
			v = value(r.Bins[i], min(r.Width, r.Duration-r.Bins[i].From).Seconds())
		}
		l.Values = append(l.Values, number(v))
	}
	c.Lines = append(c.Lines, l)
}

// addLimit adds a line for what the service allows, unless it is far above the others.
func (c *chart) addLimit(r *sim.Result) {
	most := c.most()
	for _, b := range r.Bins {
		if !known(b.Allowed) || b.Allowed > 3*most {
			return
		}
	}
	c.add("limit", "limit", r, func(b sim.Bin, _ float64) float64 { return b.Allowed })
}

// most is the highest value of all lines.
func (c *chart) most() (most float64) {
	for _, l := range c.Lines {
		for _, v := range l.Values {
			if known(float64(v)) && v < 1e100 {
				most = max(most, float64(v))
			}
		}
	}
	return most
}
