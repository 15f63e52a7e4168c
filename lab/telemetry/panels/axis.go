package main

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/awsretry/awsretry/lab/telemetry/outage"
)

// scale makes the vertical axis.
func (c *chart) scale(y *plot.Axis) {
	if c.log {
		y.Scale, y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decades)
		y.Min, y.Max = math.Pow(10, math.Floor(math.Log10(y.Min))), y.Max*4
		return
	}
	y.Tick.Marker = plot.TickerFunc(steps)
	if c.floor != nil {
		y.Min = *c.floor
	}
	y.Max += (y.Max - y.Min) * 0.12
}

func decades(low, high float64) []plot.Tick {
	var all []plot.Tick
	for exponent := math.Round(math.Log10(low)); math.Pow(10, exponent) <= high; exponent++ {
		v := math.Pow(10, exponent)
		all = append(all, plot.Tick{Value: v, Label: fmt.Sprintf("%.4g", v)})
	}
	return all
}

// steps are three to six round numbers.
func steps(low, high float64) []plot.Tick {
	size := math.Pow(10, math.Floor(math.Log10(high-low)))
	for _, part := range []float64{0.2, 0.5, 1} {
		if (high-low)/(size*part) <= 6 {
			size *= part
			break
		}
	}
	var all []plot.Tick
	for n := math.Ceil(low / size); n*size <= high; n++ {
		all = append(all, plot.Tick{Value: n * size, Label: fmt.Sprintf("%.4g", n*size)})
	}
	return all
}

// shade marks the time of the outage.
func shade(p *plot.Plot) error {
	begin, end := outage.Begin.Minutes(), outage.End.Minutes()
	area, err := plotter.NewPolygon(plotter.XYs{
		{X: begin, Y: p.Y.Min}, {X: end, Y: p.Y.Min}, {X: end, Y: p.Y.Max}, {X: begin, Y: p.Y.Max},
	})
	if err != nil {
		return err
	}
	area.Color, area.Width = color.NRGBA{R: 200, G: 60, B: 60, A: 22}, 0
	label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: begin, Y: p.Y.Max}}, Labels: []string{"outage"}})
	if err != nil {
		return err
	}
	label.TextStyle[0] = sans(9, color.Gray{110})
	label.TextStyle[0].YAlign = text.YTop
	label.Offset = vg.Point{X: 3, Y: -2}
	p.Add(area, label)
	return nil
}

func minutes() []plot.Tick {
	var all []plot.Tick
	for m := 0; m <= int(outage.Length.Minutes()); m += 15 {
		all = append(all, plot.Tick{Value: float64(m), Label: strconv.Itoa(m)})
	}
	return all
}
