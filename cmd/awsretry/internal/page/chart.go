package page

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// canvas writes a piece of SVG. The styles of its classes are in page.css.
type canvas struct{ b strings.Builder }

// newCanvas begins a picture with a name for screen readers. The id must be unique in the page.
func newCanvas(id, class, name string, width, height float64) *canvas {
	c := &canvas{}
	c.write(`<svg class="`, class, `" viewBox="0 0 `, coordinate(width), " ", coordinate(height),
		`" role="img" aria-labelledby="`, id, `"><title id="`, id, `">`, html.EscapeString(name), "</title>")
	return c
}

func (c *canvas) write(parts ...string) {
	for _, part := range parts {
		c.b.WriteString(part)
	}
}

func (c *canvas) path(class string, d *outline) {
	if d.b.Len() > 0 {
		c.write(`<path class="`, class, `" d="`, d.b.String(), `"/>`)
	}
}

func (c *canvas) text(class string, x, y float64, text string) {
	c.write(`<text class="`, class, `" x="`, coordinate(x), `" y="`, coordinate(y), `">`, html.EscapeString(text), "</text>")
}

func (c *canvas) finish() template.HTML {
	c.write("</svg>")
	return template.HTML(c.b.String())
}

// outline is the data of a path.
type outline struct{ b strings.Builder }

// to adds an SVG command, such as M, with its numbers.
func (d *outline) to(command string, numbers ...float64) *outline {
	d.b.WriteString(command)
	for i, v := range numbers {
		if i > 0 {
			d.b.WriteByte(' ')
		}
		d.b.WriteString(coordinate(v))
	}
	return d
}

// key returns a sample of a class, for a legend.
func key(class string) template.HTML {
	return template.HTML(`<svg class="key" viewBox="0 0 34 20" aria-hidden="true"><path class="` + class + `" d="M2 10h30"/></svg>`)
}

// coordinate formats a number of pixels with one decimal.
func coordinate(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64)
}

// axis goes from 0 to most. Its ticks divide that.
type axis struct {
	name  string
	most  float64
	ticks []tick
}

type tick struct {
	at    float64
	label string
}

// step returns 1, 2 or 5 times a power of ten: the smallest that divides most into at most this
// many parts.
func step(most float64, parts int) float64 {
	least := most / float64(parts)
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, times := range [...]float64{1, 2, 5} {
		if float64(times*power) >= least {
			return float64(times * power)
		}
	}
	return 10 * power
}

// sane returns a number that an axis can end at.
func sane(most float64) float64 {
	if math.IsNaN(most) || most < 1e-9 {
		return 1
	}
	return min(most, 1e300)
}

// valueAxis ends at a tick, a little above a number.
func valueAxis(name string, most float64) axis {
	most = sane(most)
	size := step(float64(most*1.02), 5)
	a := axis{name: name, most: float64(math.Ceil(float64(most*1.02)/size) * size)}
	a.addTicks(size, 1)
	return a
}

// timeAxis ends at a time in seconds, and counts in the unit that suits it.
func timeAxis(name string, most float64) axis {
	a := axis{most: sane(most)}
	unit, per := "hours", 3600.0
	switch {
	case a.most < 1:
		unit, per = "milliseconds", 1e-3
	case a.most <= 240:
		unit, per = "seconds", 1
	case a.most <= 4*3600:
		unit, per = "minutes", 60
	}
	a.name = unit + " " + name
	a.addTicks(step(a.most/per, 6), per)
	return a
}

// shareAxis goes from 0 % to a share.
func shareAxis(name string, most float64) axis {
	a := axis{name: name, most: sane(most)}
	a.addTicks(step(a.most*100, 6), 0.01)
	for i := range a.ticks {
		a.ticks[i].label += " %"
	}
	return a
}

func (a *axis) addTicks(size, per float64) {
	for i := 0; float64(float64(i)*size*per) <= float64(a.most*1.0001); i++ {
		a.ticks = append(a.ticks, tick{float64(float64(i) * size * per), tickLabel(float64(float64(i) * size))})
	}
}

// plot is a chart with two axes.
type plot struct {
	*canvas
	x, y                     axis
	left, right, top, bottom float64
}

// frame is the size of a plot. Its class sets a matching font size.
type frame struct {
	class         string
	width, height float64
}

func smallFrame() frame { return frame{"small", 360, 200} }
func largeFrame() frame { return frame{"large", 480, 270} }

// newPlot draws the axes, and leaves headroom free above the plot.
func newPlot(id, name string, f frame, x, y axis, headroom float64) *plot {
	p := &plot{
		canvas: newCanvas(id, f.class, name, f.width, f.height),
		x:      x, y: y, left: 42, right: f.width - 22, top: 24 + headroom, bottom: f.height - 38,
	}
	grid, marks := &outline{}, &outline{}
	for _, t := range y.ticks {
		grid.to("M", p.left, p.atY(t.at)).to("H", p.right)
	}
	p.path("grid", grid)
	for _, t := range y.ticks {
		p.text("tick end", p.left-6, p.atY(t.at)+4, t.label)
	}
	marks.to("M", p.left, p.bottom).to("H", p.right)
	for _, t := range x.ticks {
		marks.to("M", p.atX(t.at), p.bottom).to("v", 4)
		p.text("tick middle", p.atX(t.at), p.bottom+17, t.label)
	}
	p.path("axis", marks)
	p.text("name", 4, 12, y.name)
	p.text("name middle", (p.left+p.right)/2, f.height-5, x.name)
	return p
}

func (p *plot) atX(v float64) float64 {
	return p.left + float64(min(max(v/p.x.most, 0), 1)*(p.right-p.left))
}

func (p *plot) atY(v float64) float64 {
	return p.bottom - float64(min(max(v/p.y.most, 0), 1)*(p.bottom-p.top))
}

type point struct{ x, y float64 }

// line connects points. An unknown one is a gap.
func (p *plot) line(class string, points []point) {
	d := &outline{}
	drawn := 0 // points since the last gap
	end := func() {
		if drawn == 1 {
			d.to("h", 0.1) // a dot
		}
		drawn = 0
	}
	for _, at := range points {
		if !known(at.x) || !known(at.y) {
			end()
			continue
		}
		d.to([...]string{"M", "L", " "}[min(drawn, 2)], p.atX(at.x), p.atY(at.y))
		drawn++
	}
	end()
	p.path("line "+class, d)
}

// limit marks what the service allows, if that is known. Its label is above the plot, where no line
// crosses it. A limit far above the lines has only the label.
func (p *plot) limit(limit float64) {
	if !known(limit) || limit <= 0 {
		return
	}
	label := "limit " + tickLabel(limit) + "/s"
	if limit > p.y.most {
		p.text("end", p.right, 12, label+", above the picture")
		return
	}
	const sample = 24 // of the line, beside the label
	p.path("limit", (&outline{}).to("M", p.left, p.atY(limit)).to("H", p.right).to("M", p.right-sample, 8).to("H", p.right))
	p.text("end", p.right-sample-5, 12, label)
}

// phases shades the times in which something is unusual, and omits a label without room.
func (p *plot) phases(all []Phase) {
	free := p.left
	for _, phase := range all {
		from, to := p.atX(phase.From.Seconds()), p.atX(phase.To.Seconds())
		p.path("outage", (&outline{}).to("M", from, p.top).to("H", to).to("V", p.bottom).to("H", from).to("z"))
		half := 3.2 * float64(len(phase.Label)) // of the label, about
		middle := min(max((from+to)/2, p.left+half), p.right-half)
		if middle-half >= free {
			p.text("label middle", middle, p.top-4, phase.Label)
			free = middle + half
		}
	}
}

// room returns the headroom for the labels of phases.
func room(all []Phase) float64 {
	if len(all) == 0 {
		return 0
	}
	return 10
}

// withLimit returns the end of an axis that shows values up to most and the limit, unless the limit
// is far above the values.
func withLimit(most, limit float64) float64 {
	if known(limit) && limit <= float64(3*most) {
		return max(most, limit)
	}
	return most
}
