//go:build long

package sdktest

import (
	"bytes"
	"image/color"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// played has the times at which the calls of a run succeeded.
type played struct {
	name string
	a, b []time.Duration
}

// scheme has the colors of a picture.
type scheme struct{ background, text, grid, a, b color.Color }

var schemes = map[string]scheme{
	"light": {
		background: color.White, text: color.Gray{36}, grid: color.Gray{222},
		a: color.NRGBA{R: 0xC2, G: 0x41, B: 0x0C, A: 0xFF}, b: color.NRGBA{R: 0x1D, G: 0x4E, B: 0xD8, A: 0xFF},
	},
	"dark": {
		background: color.NRGBA{R: 0x0D, G: 0x11, B: 0x17, A: 0xFF}, text: color.Gray{225}, grid: color.Gray{52},
		a: color.NRGBA{R: 0xFB, G: 0x92, B: 0x3C, A: 0xFF}, b: color.NRGBA{R: 0x7D, G: 0xB3, B: 0xFF, A: 0xFF},
	},
}

// The size of the picture, in points.
const (
	pictureWidth, pictureHeight = 720, 210
	pictureMargin               = 8
)

// draw draws the two runs side by side, as SVG.
func draw(runs [2]played, s scheme) ([]byte, error) {
	canvas := vgsvg.New(pictureWidth, pictureHeight)
	all := vgdraw.New(canvas)
	all.FillPolygon(s.background, []vg.Point{{}, {X: pictureWidth}, {X: pictureWidth, Y: pictureHeight}, {Y: pictureHeight}})
	for i, run := range runs {
		p, err := run.plot(s)
		if err != nil {
			return nil, err
		}
		left, right := pictureWidth/2*vg.Length(i), pictureWidth/2*vg.Length(i-1)
		p.Draw(vgdraw.Crop(all, left+pictureMargin, right-pictureMargin, pictureMargin, -pictureMargin))
	}
	var buffer bytes.Buffer
	if _, err := canvas.WriteTo(&buffer); err != nil {
		return nil, err
	}
	// Browsers without this font take one with the same widths.
	return bytes.ReplaceAll(buffer.Bytes(), []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")), nil
}

func (r played) plot(s scheme) (*plot.Plot, error) {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = r.name, "seconds", "calls/s that succeed"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, (warmUp + measured).Seconds(), 0, 100
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 10, Label: "10"}, {Value: 20, Label: "20"}}
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 40, Label: "40"}, {Value: 80, Label: "80"}}
	for style, size := range map[*text.Style]font.Length{
		&p.Title.TextStyle: 13, &p.X.Label.TextStyle: 10, &p.Y.Label.TextStyle: 10, &p.X.Tick.Label: 10, &p.Y.Tick.Label: 10,
		&p.Legend.TextStyle: 10,
	} {
		style.Font, style.Color = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, s.text
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = s.grid, s.grid
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, s.grid
	p.Add(grid)
	p.Legend.Top, p.Legend.YOffs, p.Legend.Padding = true, -45, 3 // between 40 and 80/s, where no line is
	for _, line := range []struct {
		name  string
		ends  []time.Duration
		color color.Color
	}{
		{"B, healthy", r.b, s.b},
		{"A, allows 5 requests/s", r.a, s.a},
	} {
		points := make(plotter.XYs, (warmUp+measured)/time.Second)
		for i := range points {
			points[i].X = float64(i) + 0.5
		}
		for _, end := range line.ends {
			if second := int(end / time.Second); second < len(points) {
				points[second].Y++
			}
		}
		drawn, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		drawn.Color, drawn.Width = line.color, 2
		p.Add(drawn)
		p.Legend.Add(line.name, drawn)
	}
	return p, nil
}
