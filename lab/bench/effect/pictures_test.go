//go:build long

package effect

import (
	"flag"
	"fmt"
	"image/color"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/awsretry/awsretry/lab/pictures"
)

var update = flag.Bool("update", false, "write the pictures")

const page = "../../../docs/modes.md"

// panel has the attempts of a run that are served and those that are throttled, a second, in each part of it.
type panel struct {
	title             string
	highest           float64
	served, throttled []float64
}

const panelPart = 20 * time.Second

func panelOf(title string, highest float64, r *record) panel {
	n := r.scenario.Duration / panelPart
	p := panel{title, highest, make([]float64, n), make([]float64, n)}
	for _, call := range r.calls {
		for _, a := range call.Attempts {
			switch i := int(a.Sent / panelPart); {
			case i >= int(n):
			case a.Throttled:
				p.throttled[i] += 1 / panelPart.Seconds()
			default:
				p.served[i] += 1 / panelPart.Seconds()
			}
		}
	}
	return p
}

// inTheEnd are the means of the second half.
func (p panel) inTheEnd() (served, throttled float64) {
	half := len(p.served) / 2
	for i := half; i < len(p.served); i++ {
		served, throttled = served+p.served[i], throttled+p.throttled[i]
	}
	return served / float64(half), throttled / (served + throttled)
}

func (p panel) plot(c pictures.Canvas, limit float64, end time.Duration) (*plot.Plot, error) {
	axes := c.Axes(p.title, "", "attempts/s", []float64{0, 60, 120, 180, end.Seconds()}, []float64{0, limit, p.highest})
	axes.Y.Max *= 1.08
	if err := pictures.Steps(axes, panelPart.Seconds(), []color.Color{c.Good, c.Bad}, p.served, p.throttled); err != nil {
		return nil, err
	}
	line, err := plotter.NewLine(plotter.XYs{{Y: limit}, {X: end.Seconds(), Y: limit}})
	if err != nil {
		return nil, err
	}
	line.Color, line.Width, line.Dashes = c.Text, 1.5, []vg.Length{6, 4}
	axes.Add(line)
	return axes, nil
}

// TestPictureOfTheModes plays one limit with standard mode and both adaptive modes. The SDK's runs differ a little: of those
// who wake up at the same instant for a send token, any may be first.
func TestPictureOfTheModes(t *testing.T) {
	r := lone("", 5, 1)
	r.Duration = 4 * time.Minute
	var panels []panel
	alt := "Attempts at a limit of 5 a second, over four minutes. In the last two"
	for _, p := range []struct {
		contender, title  string
		highest           float64
		served, throttled float64 // in the end
		words             string
	}{
		{"awsretry-standard", "standard mode, the SDK's and awsretry's", 25, 4.2, 0.83, ", standard mode gets %.1f a second and %.0f %% are throttled"},
		{"aws-sdk-go-v2-standard", "", 0, 4.2, 0.83, ""},
		{"aws-sdk-go-v2-adaptive", "adaptive mode of aws-sdk-go-v2 v" + aws.SDKVersion, 6, 3.6, 0.09, ", the SDK's adaptive mode %.1f and %.0f %%"},
		{"awsretry-adaptive", "adaptive mode of awsretry", 6, 4.6, 0.02, ", and awsretry's, which has found the limit, %.1f and %.0f %%."},
	} {
		of := panelOf(p.title, p.highest, play(t, r.scenario, named(t, p.contender), 1))
		served, throttled := of.inTheEnd()
		t.Logf("%s: %.2f/s, %.1f %%", p.contender, served, 100*throttled)
		require.InDelta(t, p.served, served, 0.2, p.contender)
		require.InDelta(t, p.throttled, throttled, 0.02, p.contender)
		if p.title != "" {
			panels, alt = append(panels, of), alt+fmt.Sprintf(p.words, p.served, 100*p.throttled)
		}
	}
	pictures.Picture{
		Name: "modes", Height: 440, Alt: alt,
		Draw: func(c pictures.Canvas) error {
			var rows [][]*plot.Plot
			for _, p := range panels {
				plotted, err := p.plot(c, r.Rate, r.Duration)
				if err != nil {
					return err
				}
				rows = append(rows, []*plot.Plot{plotted})
			}
			rows[len(rows)-1][0].X.Label.Text = "seconds"
			c.Tiles(rows...)
			c.Key([]string{"served", "throttled", "the limit, dashed"}, []color.Color{c.Good, c.Bad, c.Text})
			return nil
		},
	}.Require(t, page, 10, *update)
}

// TestPictureOfAStorm draws how many of the calls succeed that begin in each five seconds, for a hundred processes and a thousand.
func TestPictureOfAStorm(t *testing.T) {
	const part, end, brownOut = 5, 300, 30
	processes := []int{100, 1000}
	var shares [2][2]plotter.XYs
	var well []string
	for i, n := range processes {
		for j, r := range retryers()[1:3] {
			ended := r.storm(t, n, brownOut*time.Second)
			for at := 0; at < end; at += part {
				begun, failed := 0, 0
				for second := at; second < at+part; second++ {
					begun, failed = begun+ended.begun[second], failed+ended.failed[second]
				}
				shares[i][j] = append(shares[i][j], plotter.XY{X: float64(at) + part/2.0, Y: 100 - 100*share(failed, begun)})
			}
			if ended.well < 0 {
				well = append(well, "never")
			} else {
				well = append(well, fmt.Sprintf("after %.0f s", ended.well.Seconds()))
			}
		}
	}
	pictures.Picture{
		Name: "storm", Height: 330,
		Alt: fmt.Sprintf("Calls that succeed after a pause of 10 s. A hundred processes are well %s by default and %s with DebtLimit, "+
			"a thousand %s and %s.", well[0], well[1], well[2], well[3]),
		Draw: func(c pictures.Canvas) error {
			var rows [][]*plot.Plot
			for i, n := range processes {
				axes := c.Axes(fmt.Sprint(n, " processes"), "", "% succeed", []float64{0, 100, 200, end}, []float64{0, 50, 100})
				pause, err := plotter.NewPolygon(plotter.XYs{{X: brownOut}, {X: brownOut + 10}, {X: brownOut + 10, Y: 100}, {X: brownOut, Y: 100}})
				if err != nil {
					return err
				}
				pause.Color, pause.Width = c.Grid, 0
				axes.Add(pause)
				for j, of := range []color.Color{c.Bad, c.Good} {
					line, err := plotter.NewLine(shares[i][j])
					if err != nil {
						return err
					}
					line.Color, line.Width = of, 2
					axes.Add(line)
				}
				rows = append(rows, []*plot.Plot{axes})
			}
			rows[len(rows)-1][0].X.Label.Text = "seconds"
			c.Tiles(rows...)
			c.Key([]string{"default", "DebtLimit", "the service pauses"}, []color.Color{c.Bad, c.Good, c.Grid})
			return nil
		},
	}.Require(t, page, 0.1, *update)
}
