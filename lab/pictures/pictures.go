// Package pictures draws the pictures of the pages, as SVG, in colors for light and for dark screens.
package pictures

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The sizes, in points. On a telephone, a picture of this width is shown with texts of nine pixels.
const (
	Width    = 480
	textSize = 13
	margin   = 8

	keyHeight = 26
)

// Scheme has the colors of a picture: Bad for what is throttled or fails, Good for what is served.
type Scheme struct{ Background, Text, Grid, Bad, Good color.Color }

func schemes() map[string]Scheme {
	return map[string]Scheme{
		"light": {
			Background: color.White, Text: color.Gray{36}, Grid: color.Gray{205},
			Bad: color.NRGBA{R: 0xC2, G: 0x41, B: 0x0C, A: 0xFF}, Good: color.NRGBA{R: 0x1D, G: 0x4E, B: 0xD8, A: 0xFF},
		},
		"dark": {
			Background: color.NRGBA{R: 0x0D, G: 0x11, B: 0x17, A: 0xFF}, Text: color.Gray{225}, Grid: color.Gray{72},
			Bad: color.NRGBA{R: 0xFB, G: 0x92, B: 0x3C, A: 0xFF}, Good: color.NRGBA{R: 0x7D, G: 0xB3, B: 0xFF, A: 0xFF},
		},
	}
}

// Picture is a picture of a page.
type Picture struct {
	Name   string // of its files, without the scheme
	Height vg.Length
	Alt    string // what it shows, in words
	Draw   func(c Canvas) error
}

// Canvas is a picture that is being drawn, or a part of it.
type Canvas struct {
	vgdraw.Canvas
	Scheme
}

// Tiles draws plots in rows above the key, with their axes aligned.
func (c Canvas) Tiles(rows ...[]*plot.Plot) {
	tiles := vgdraw.Tiles{
		Rows: len(rows), Cols: len(rows[0]), PadTop: margin, PadLeft: margin, PadRight: 2 * margin, PadBottom: keyHeight,
		PadX: 2 * margin, PadY: margin,
	}
	for i, row := range plot.Align(rows, tiles, c.Canvas) {
		for j, canvas := range row {
			rows[i][j].Draw(canvas)
		}
	}
}

// Style is how the texts look.
func (c Canvas) Style() text.Style {
	return text.Style{
		Color: c.Text, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: textSize}, Handler: plot.DefaultTextHandler,
		YAlign: text.YCenter,
	}
}

// Axes returns an empty plot with these labels and, at the ticks, a grid.
func (c Canvas) Axes(title, x, y string, xTicks, yTicks []float64) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		style.Font, style.Color = c.Style().Font, c.Text
	}
	p.Title.TextStyle.Font.Size++
	p.Title.Padding = 3
	for axis, values := range map[*plot.Axis][]float64{&p.X: xTicks, &p.Y: yTicks} {
		axis.Color, axis.Tick.Color = c.Grid, c.Grid
		axis.Min, axis.Max = values[0], values[len(values)-1]
		var ticks plot.ConstantTicks
		for _, value := range values {
			ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', -1, 64)})
		}
		axis.Tick.Marker = ticks
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color, grid.Horizontal.Width = 0, c.Grid, 0.5
	p.Add(grid)
	return p
}

// svg draws the picture.
func (p Picture) svg(s Scheme) ([]byte, error) {
	canvas := vgsvg.New(Width, p.Height)
	all := Canvas{vgdraw.New(canvas), s}
	all.FillPolygon(s.Background, []vg.Point{{}, {X: Width}, {X: Width, Y: p.Height}, {Y: p.Height}})
	if err := p.Draw(all); err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	if _, err := canvas.WriteTo(&buffer); err != nil {
		return nil, err
	}
	// Browsers without this font take one with the same widths.
	return bytes.ReplaceAll(buffer.Bytes(), []byte("font-family:Liberation Sans"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")), nil
}

// Require holds that the page shows the picture, with its words, and that the files are what it draws; coordinates may differ by
// so many points. With update it writes page and files.
func (p Picture) Require(t *testing.T, page string, points float64, update bool) {
	t.Helper()
	read, err := os.ReadFile(page)
	require.NoError(t, err)
	folder, err := filepath.Rel(filepath.Dir(page), filepath.Join(docs(page), "pictures"))
	require.NoError(t, err)
	from := filepath.ToSlash(folder) + "/" + p.Name
	block := fmt.Sprintf(`<picture>
  <source media="(prefers-color-scheme: dark)" srcset="%[1]s-dark.svg">
  <img src="%[1]s-light.svg"
    alt=%[2]q>
</picture>`, from, p.Alt)
	pattern := regexp.MustCompile(`<picture>\n.*"` + regexp.QuoteMeta(from) + `-dark\.svg">\n(?s:.*?)</picture>`)
	require.Len(t, pattern.FindAll(read, -1), 1, "%s shows %s once", page, p.Name)
	if update {
		require.NoError(t, os.WriteFile(page, pattern.ReplaceAllLiteral(read, []byte(block)), 0o600))
	} else {
		require.Equal(t, string(pattern.Find(read)), block, "make pictures writes it again")
	}
	for name, scheme := range schemes() {
		svg, err := p.svg(scheme)
		require.NoError(t, err)
		file := filepath.Join(filepath.Dir(page), filepath.FromSlash(from)+"-"+name+".svg")
		if update {
			require.NoError(t, os.WriteFile(file, svg, 0o600))
			continue
		}
		was, err := os.ReadFile(file)
		require.NoError(t, err)
		requireAlike(t, string(was), string(svg), points, file)
	}
}

// docs is the folder of the pages, for a page in it or beside it.
func docs(page string) string {
	folder := filepath.Dir(page)
	if filepath.Base(folder) == "docs" {
		return folder
	}
	return filepath.Join(folder, "docs")
}

var coordinate = regexp.MustCompile(`-?\d+(\.\d+)?(e-?\d+)?`)

// requireAlike holds that two pictures differ in coordinates only, each by no more than so many points.
func requireAlike(t *testing.T, want, got string, points float64, file string) {
	t.Helper()
	again := file + " is not what is drawn now; make pictures writes it again"
	require.Equal(t, coordinate.ReplaceAllString(want, "0"), coordinate.ReplaceAllString(got, "0"), again)
	was, is := coordinate.FindAllString(want, -1), coordinate.FindAllString(got, -1)
	for i := range was {
		a, err := strconv.ParseFloat(was[i], 64)
		require.NoError(t, err)
		b, err := strconv.ParseFloat(is[i], 64)
		require.NoError(t, err)
		require.InDelta(t, a, b, points, again)
	}
}

// Steps are an area for each of several series, one on the other, of values that each hold for a span of x.
func Steps(p *plot.Plot, span float64, colors []color.Color, series ...[]float64) error {
	base := make([]float64, len(series[0]))
	for i, values := range series {
		var above, below plotter.XYs
		for j, value := range values {
			from, to := float64(j)*span, float64(j+1)*span
			above = append(above, plotter.XY{X: from, Y: base[j] + value}, plotter.XY{X: to, Y: base[j] + value})
			below = append(below, plotter.XY{X: from, Y: base[j]}, plotter.XY{X: to, Y: base[j]})
			base[j] += value
		}
		slices.Reverse(below)
		area, err := plotter.NewPolygon(append(above, below...))
		if err != nil {
			return err
		}
		area.Color, area.Width = colors[i], 0
		p.Add(area)
	}
	return nil
}

// Key writes names in a row at the bottom, each behind a square of its color.
func (c Canvas) Key(names []string, colors []color.Color) {
	const square, gap = 10, 18
	at := vg.Point{X: 2 * margin, Y: keyHeight / 2}
	for i, name := range names {
		c.FillPolygon(colors[i], Box(vg.Point{X: at.X, Y: at.Y - square/2}, square, square))
		at.X += square + 5
		c.FillText(c.Style(), at, name)
		at.X += c.Style().Width(name) + gap
	}
}

// Box has the corners of a rectangle.
func Box(corner vg.Point, width, height vg.Length) []vg.Point {
	return []vg.Point{corner, {X: corner.X + width, Y: corner.Y}, {X: corner.X + width, Y: corner.Y + height}, {X: corner.X, Y: corner.Y + height}}
}

// Frame draws a rectangle.
func (c Canvas) Frame(corner vg.Point, width, height vg.Length) {
	corners := Box(corner, width, height)
	c.StrokeLines(vgdraw.LineStyle{Color: c.Text, Width: 1}, append(corners, corners[0]))
}

// Arrow draws an arrow.
func (c Canvas) Arrow(of color.Color, from, to vg.Point) {
	const long, half = 8, 4
	x, y := to.X-from.X, to.Y-from.Y
	length := vg.Length(math.Hypot(float64(x), float64(y)))
	x, y = x/length, y/length
	neck := vg.Point{X: to.X - long*x, Y: to.Y - long*y}
	c.StrokeLines(vgdraw.LineStyle{Color: of, Width: 1.5}, []vg.Point{from, neck})
	c.FillPolygon(of, []vg.Point{to, {X: neck.X - half*y, Y: neck.Y + half*x}, {X: neck.X + half*y, Y: neck.Y - half*x}})
}
