package simulate

import (
	"fmt"
	"math"
	"strings"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// difference is a figure of a variant that differs from that with the settings by more than a hundredth, to the same side with
// each seed: what chance makes of it goes to both sides.
type difference struct {
	Figure   string  `json:"figure"` // its name in JSON
	Settings float64 `json:"settings"`
	Variant  float64 `json:"variant"`
}

// comparison is how a variant differs from the settings, in the order in which a person decides: calls that fail, load on the
// service, waiting.
type comparison struct {
	Variant     string       `json:"variant"`
	Better      *bool        `json:"better"` // in the first figure that differs; nil if none does
	Differences []difference `json:"differences"`
}

// compare compares each variant with the settings.
func (res *result) compare() []comparison {
	all := make([]comparison, 0, len(res.variants)-1)
	for _, v := range res.variants[1:] {
		c := comparison{Variant: v.Name, Differences: []difference{}}
		for _, key := range []string{"failed_share", "requests_per_s", "latency_p99_s"} {
			if d, ok := differ(key, res.variants[0].runs, v.runs); ok {
				c.Differences = append(c.Differences, d)
			}
		}
		if len(c.Differences) > 0 { // each is better if it is less
			c.Better = new(c.Differences[0].Variant < c.Differences[0].Settings)
		}
		all = append(all, c)
	}
	return all
}

// differ compares a figure of the runs with the same seeds.
func differ(key string, settings, variant []*sim.Result) (d difference, differs bool) {
	side := 0.0
	for i := range settings {
		a, b := rowOf(key, settings[i:i+1]).Median, rowOf(key, variant[i:i+1]).Median
		if math.IsNaN(a) || math.IsNaN(b) || a == b || side*(b-a) < 0 {
			return d, false
		}
		side = b - a
	}
	d = difference{key, rowOf(key, settings).Median, rowOf(key, variant).Median}
	return d, math.Abs(d.Variant-d.Settings) > 0.01*max(d.Variant, d.Settings)
}

func rowOf(key string, runs []*sim.Result) sim.Row {
	for _, row := range sim.Rows(runs) {
		if row.Key == key {
			return row
		}
	}
	return sim.Row{}
}

// String says it in a sentence.
func (c comparison) String() string {
	said := make([]string, 0, len(c.Differences))
	for _, d := range c.Differences {
		said = append(said, d.String())
	}
	return c.Variant + ": " + strings.Join(said, "; ") + "."
}

func (d difference) String() string {
	more := d.Variant > d.Settings
	switch d.Figure {
	case "failed_share":
		return shareOr("no call fails", " of the calls fail", d.Variant) + ", " + shareOr("none", "", d.Settings) + " with the settings"
	case "requests_per_s":
		if d.Settings > 0 && d.Variant >= 2*d.Settings {
			return number(d.Variant/d.Settings) + " times the requests"
		}
		return fmt.Sprintf("%s %% %s requests", number(100*math.Abs(d.Variant/d.Settings-1)), map[bool]string{true: "more", false: "fewer"}[more])
	default:
		by := math.Abs(d.Variant - d.Settings)
		return fmt.Sprintf("p99 %s %s", figure(sim.Row{Unit: "s", Median: by, Low: by, High: by}), map[bool]string{true: "longer", false: "shorter"}[more])
	}
}

// shareOr returns a share in percent and what it is of, or another text for zero.
func shareOr(none, of string, share float64) string {
	if share == 0 {
		return none
	}
	return number(100*share) + " %" + of
}
