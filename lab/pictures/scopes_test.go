package pictures_test

import (
	"flag"
	"image/color"
	"testing"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/awsretry/awsretry/lab/pictures"
)

var update = flag.Bool("update", false, "write the picture and its place on the page")

// scope is a box of the picture: who calls it, how full its quota is, and its send rate.
type scope struct {
	name  string
	calls []string
	quota vg.Length
	rate  string
}

func TestPictureOfScopes(t *testing.T) {
	t.Parallel()
	pictures.Picture{
		Name: "scopes", Height: 292,
		Alt: "Two kinds of calls to table A share one scope; calls to table B and to queue C have others. Each scope has a retry quota " +
			"and, in adaptive mode, a send rate. What full quotas spill goes to one pool, which pays for retries where a quota is empty.",
		Draw: func(c pictures.Canvas) error {
			for i, s := range []scope{
				{"table A, throttled", []string{"Put, table A", "Query, table A"}, 0.04, "send rate: 5/s"},
				{"table B", []string{"Query, table B"}, 1, "send rate: no limit"},
				{"queue C", []string{"Send, queue C"}, 0.8, "send rate: no limit"},
			} {
				drawScope(c, s, 204-vg.Length(i)*86)
			}
			drawPool(c)
			headings(c)
			return nil
		},
	}.Require(t, "../../docs/modes.md", 0, *update)
}

// The columns.
const (
	callLeft, callWidth   = 8, 100
	scopeLeft, scopeWidth = 150, 170
	poolLeft, poolWidth   = 386, 86
	poolBottom, top       = 32, 270
	scopeHeight           = 66
	callHeight            = 28
)

func headings(c pictures.Canvas) {
	style := c.Style()
	style.XAlign = text.XCenter
	for _, heading := range []struct {
		name        string
		left, width vg.Length
	}{{"calls", callLeft, callWidth}, {"scopes", scopeLeft, scopeWidth}, {"one pool", poolLeft, poolWidth}} {
		c.FillText(style, vg.Point{X: heading.left + heading.width/2, Y: 281}, heading.name)
	}
	c.FillText(c.Style(), vg.Point{X: callLeft, Y: 12}, "Send rates are those of adaptive mode.")
}

func drawScope(c pictures.Canvas, s scope, bottom vg.Length) {
	c.Frame(vg.Point{X: scopeLeft, Y: bottom}, scopeWidth, scopeHeight)
	middle := bottom + scopeHeight/2
	for i, call := range s.calls {
		y := middle + (vg.Length(len(s.calls)-1)/2-vg.Length(i))*(callHeight+8)
		c.Frame(vg.Point{X: callLeft, Y: y - callHeight/2}, callWidth, callHeight)
		c.FillText(c.Style(), vg.Point{X: callLeft + 8, Y: y}, call)
		c.Arrow(c.Text, vg.Point{X: callLeft + callWidth, Y: y}, vg.Point{X: scopeLeft, Y: middle + (y-middle)/2})
	}
	left, width, full := vg.Length(scopeLeft+8), vg.Length(scopeWidth-94), c.Good
	if s.quota < 0.5 {
		full = c.Bad
	}
	c.FillText(c.Style(), vg.Point{X: left, Y: bottom + 54}, s.name)
	c.FillText(c.Style(), vg.Point{X: left, Y: bottom + 34}, "retry quota")
	c.FillPolygon(c.Grid, pictures.Box(vg.Point{X: left + 78, Y: bottom + 29}, width, 10))
	c.FillPolygon(full, pictures.Box(vg.Point{X: left + 78, Y: bottom + 29}, width*s.quota, 10))
	c.FillText(c.Style(), vg.Point{X: left, Y: bottom + 14}, s.rate)
}

// drawPool draws the pool, what comes into it from the full quota and what it pays for the empty one.
func drawPool(c pictures.Canvas) {
	c.Frame(vg.Point{X: poolLeft, Y: poolBottom}, poolWidth, top-poolBottom)
	style := c.Style()
	style.XAlign = text.XCenter
	for _, arrow := range []struct {
		label    string
		y        vg.Length
		from, to vg.Length
		color    color.Color
	}{
		{"pays", 204 + 34, poolLeft, scopeLeft + scopeWidth, c.Bad},
		{"spills", 204 - 86 + 34, scopeLeft + scopeWidth, poolLeft, c.Good},
	} {
		c.Arrow(arrow.color, vg.Point{X: arrow.from, Y: arrow.y}, vg.Point{X: arrow.to, Y: arrow.y})
		c.FillText(style, vg.Point{X: (arrow.from + arrow.to) / 2, Y: arrow.y + 11}, arrow.label)
	}
	for i, line := range []string{"spare tokens", "of all scopes", "for retries", "of any"} {
		c.FillText(style, vg.Point{X: poolLeft + poolWidth/2, Y: (top+poolBottom)/2 + 24 - vg.Length(i)*16}, line)
	}
}
