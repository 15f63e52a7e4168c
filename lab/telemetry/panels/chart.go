package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/awsretry/awsretry/lab/telemetry/internal/prom"
	"github.com/awsretry/awsretry/lab/telemetry/outage"
)

// The size of a picture, in points. A row of the legend comes on top.
const (
	width, height = 600, 230
	legendRow     = 15
	margin        = 8
	most          = 8  // lines in a picture
	few           = 10 // values, with which a line is the first to be left out
)

// chart is one picture.
type chart struct {
	title, unit           string
	percent, stacked, log bool
	floor                 *float64 // of the axis; nil follows the lines
	lines                 []line
	left                  int // lines that are left out
}

// line is one series. Lines of the same group have the same colour.
type line struct {
	name, group string
	dashed      bool
	values      []float64 // one for each step, NaN where there is none
}

func (c *chart) add(name, group string, dashed bool, s prom.Series) {
	l := line{name: name, group: group, dashed: dashed, values: make([]float64, int(outage.Length/step)+1)}
	for i := range l.values {
		l.values[i] = math.NaN()
	}
	sum := 0.0
	for _, v := range s.Values {
		if c.percent {
			v.Value *= 100
		}
		if c.log && v.Value <= 0 || math.IsNaN(v.Value) {
			continue
		}
		sum += v.Value
		l.values[int(v.At.Sub(outage.Start())/step)] = v.Value
	}
	// A value by itself would be in the legend only.
	if sum > 0 && slices.ContainsFunc(parts(l.values), func(part plotter.XYs) bool { return len(part) > 1 }) {
		c.lines = append(c.lines, l)
	}
}

// groups returns the groups of the lines in their order.
func (c *chart) groups() []string {
	var all []string
	for _, l := range c.lines {
		if !slices.Contains(all, l.group) {
			all = append(all, l.group)
		}
	}
	return all
}

// svg draws the chart.
func (c *chart) svg() ([]byte, error) {
	slices.SortFunc(c.lines, func(a, b line) int {
		an, afirst := a.count()
		bn, bfirst := b.count()
		return cmp.Or(cmp.Compare(min(bn, few), min(an, few)), cmp.Compare(afirst, bfirst), cmp.Compare(a.name, b.name))
	})
	c.left = max(0, len(c.lines)-most)
	c.lines = c.lines[:min(len(c.lines), most)]
	slices.SortFunc(c.lines, func(a, b line) int { return cmp.Compare(a.name, b.name) })

	p := plot.New()
	p.Title.Text, p.Title.Padding = c.title, 6
	p.X.Label.Text, p.Y.Label.Text = "minutes", c.unit
	p.X.Tick.Marker = plot.ConstantTicks(minutes())
	for style, size := range map[*text.Style]font.Length{
		&p.Title.TextStyle: 13, &p.X.Label.TextStyle: 10, &p.Y.Label.TextStyle: 10, &p.X.Tick.Label: 10, &p.Y.Tick.Label: 10,
	} {
		style.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, color.Gray{225}
	p.Add(grid)
	if err := c.plot(p); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max = 0, outage.Length.Minutes()
	c.scale(&p.Y)
	if err := shade(p); err != nil {
		return nil, err
	}

	columns := c.columns()
	rows := (len(c.lines) + columns - 1) / columns
	if c.left > 0 {
		rows++
	}
	total := vg.Length(height + legendRow*rows + margin)
	canvas := vgsvg.New(width, total)
	all := draw.New(canvas)
	all.FillPolygon(color.White, []vg.Point{{}, {X: width}, {X: width, Y: total}, {Y: total}})
	p.BackgroundColor = nil
	p.Draw(draw.Crop(all, margin, -margin*2, total-height, -margin/2))
	c.legend(all, total-height-legendRow, columns)
	var buffer bytes.Buffer
	if _, err := canvas.WriteTo(&buffer); err != nil {
		return nil, err
	}
	// Browsers without this font take one with the same widths.
	return bytes.ReplaceAll(buffer.Bytes(), []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")), nil
}

// count is how many values there are, and where the first one is.
func (l line) count() (n, first int) {
	for i, v := range l.values {
		if math.IsNaN(v) {
			continue
		}
		if n++; n == 1 {
			first = i
		}
	}
	return n, first
}

// plot adds the lines or the stacked areas.
func (c *chart) plot(p *plot.Plot) error {
	below := make([]float64, int(outage.Length/step)+1)
	first := len(below) // that has a value
	for _, l := range c.lines {
		first = min(first, slices.IndexFunc(l.values, func(v float64) bool { return !math.IsNaN(v) }))
	}
	for _, l := range c.lines {
		if c.stacked {
			above := slices.Clone(below)
			for i, v := range l.values {
				if !math.IsNaN(v) {
					above[i] += v
				}
			}
			if err := area(p, first, below, above, c.color(l)); err != nil {
				return err
			}
			below = above
			continue
		}
		for _, part := range parts(l.values) {
			drawn, err := plotter.NewLine(part)
			if err != nil {
				return err
			}
			drawn.LineStyle = c.style(l)
			p.Add(drawn)
		}
	}
	return nil
}

func area(p *plot.Plot, first int, below, above []float64, c color.NRGBA) error {
	var edge plotter.XYs
	for i := first; i < len(above); i++ {
		edge = append(edge, plotter.XY{X: float64(i) * step.Minutes(), Y: above[i]})
	}
	top, err := plotter.NewLine(slices.Clone(edge))
	if err != nil {
		return err
	}
	top.Color, top.Width = c, 1
	for i := len(below) - 1; i >= first; i-- {
		edge = append(edge, plotter.XY{X: float64(i) * step.Minutes(), Y: below[i]})
	}
	fill, err := plotter.NewPolygon(edge)
	if err != nil {
		return err
	}
	c.A = 110
	fill.Color, fill.Width = c, 0
	p.Add(fill, top)
	return nil
}

// parts returns the stretches of a line that have values.
func parts(values []float64) []plotter.XYs {
	var all []plotter.XYs
	gap := true
	for i, v := range values {
		if math.IsNaN(v) {
			gap = true
			continue
		}
		if gap {
			all = append(all, nil)
		}
		gap = false
		last := &all[len(all)-1]
		*last = append(*last, plotter.XY{X: float64(i) * step.Minutes(), Y: v})
	}
	return all
}

func (c *chart) style(l line) draw.LineStyle {
	style := draw.LineStyle{Color: c.color(l), Width: 1.6}
	if l.dashed {
		style.Dashes, style.Width = []vg.Length{4, 2.5}, 1.2
	}
	return style
}

// color returns the colour of a line, or of several in a group.
func (c *chart) color(l line) color.NRGBA {
	all := [most]color.NRGBA{
		{0x1f, 0x77, 0xb4, 255},
		{0xe6, 0x7e, 0x00, 255},
		{0x1a, 0x93, 0x4b, 255},
		{0xc4, 0x2b, 0x2b, 255},
		{0x7b, 0x4f, 0xb5, 255},
		{0x7d, 0x52, 0x45, 255},
		{0xd6, 0x55, 0xa9, 255},
		{0x5f, 0x5f, 0x5f, 255},
	}
	return all[slices.Index(c.groups(), l.group)%most]
}

// columns is how many names fit beside each other.
func (c *chart) columns() int {
	longest := 0
	for _, l := range c.lines {
		longest = max(longest, len(l.name))
	}
	return max(1, min(len(c.lines), (width-60)/(longest*5+40)))
}

// legend writes the names under the chart, the first row at y.
func (c *chart) legend(to draw.Canvas, y vg.Length, columns int) {
	style := sans(10, color.Gray{40})
	for i, l := range c.lines {
		x := vg.Length(50 + (width-60)/columns*(i%columns))
		y := y - vg.Length(i/columns*legendRow)
		mark := c.style(l)
		if c.stacked {
			mark.Width = 6
		}
		to.StrokeLine2(mark, x, y+3.5, x+18, y+3.5)
		to.FillText(style, vg.Point{X: x + 24, Y: y}, l.name)
	}
	if c.left > 0 {
		y -= vg.Length((len(c.lines) + columns - 1) / columns * legendRow)
		to.FillText(style, vg.Point{X: 50, Y: y}, fmt.Sprintf("and %d more", c.left))
	}
}

func sans(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, Handler: plot.DefaultTextHandler,
	}
}
