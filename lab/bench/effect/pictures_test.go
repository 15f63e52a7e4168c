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
