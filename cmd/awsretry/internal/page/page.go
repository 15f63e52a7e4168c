// Package page writes the report of a simulation as one HTML page that works offline: uPlot, which draws its charts, is
// part of it, and it loads nothing from the network.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the template, its styles and scripts
	"encoding/base64"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/words"
)

// Report is what a page shows.
type Report struct {
	// Command is the command line, without the file that the report is written to.
	Command string
	// Version is the version of the command that made the report, or empty.
	Version string
	// Answer says at the top what came of it.
	Answer string
	// Played says what was played, such as the limit of the service.
	Played []Fact
	// Phases are the parts of a run in which something is unusual: with them, the picture of failures over time comes first.
	// Duration is how long the run takes.
	Phases   []Phase
	Duration time.Duration
	// Variants are the ways to retry, at least one. The first one has the settings.
	Variants []Variant
	// Results has a row for each figure: its name, and then its text for each variant.
	Results [][]string
}

// Phase is a part of a run with a short text.
type Phase struct {
	From, To time.Duration
	Label    string
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Variant is a way to retry and the run that the pictures show.
type Variant struct {
	Name     string
	Settings []Setting
	Run      *sim.Result
	// Drains is the share of failing attempts at which the quota empties, as text; empty if nothing is retried.
	Drains string
	// Curve has the results at several shares of failing attempts, in order of the shares, which all variants have. Its picture
	// comes first.
	Curve []sim.Point
}

// Setting is a setting and where it came from.
type Setting struct{ Name, Value, Origin string }

//go:embed page.html
var layout string

//go:embed page.css
var styles string

// uPlot draws the charts.
var (
	//go:embed uplot/uPlot.min.css
	plotStyles string
	//go:embed uplot/uPlot.iife.min.js
	plot string
	//go:embed uplot/LICENSE
	license string
	//go:embed page.js
	script string
)

// Write writes the page of a report. The same report gives the same bytes. It returns the errors of
// w.
func Write(w io.Writer, r *Report) error {
	parsed, err := template.New("page").Funcs(template.FuncMap{"shown": shown}).Parse(layout)
	if err != nil {
		return err
	}
	library := "/*\n" + license + "*/\n" + plot
	var b bytes.Buffer
	err = parsed.Execute(&b, map[string]any{
		"Report": r, "Settings": settings(r), "Data": data(r), "Curve": len(r.Variants[0].Curve) > 0,
		"Rates": []string{"offered", "begun", "sent", "throttled", "accepted", "limit"},
		"Style": template.CSS(plotStyles + styles), "Plot": template.JS(library), "Script": template.JS(script),
		"Allowed": hashOf(library) + " " + hashOf(script),
	})
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// hashOf is what a policy allows a script by.
func hashOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// shown returns a text from outside with its control characters, and two more that XML does not allow, written as in Go.
func shown(text string) string {
	return strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(words.Escaped(text))
}

// setting is a row of the table of settings: its name, and then its value and origin for each variant.
type setting struct {
	Name  string
	Cells []Setting
}

// settings returns the rows. A cell is short if the variant has the same as the first one.
func settings(r *Report) (rows []setting) {
	for i, v := range r.Variants {
		for _, s := range v.Settings {
			at := slices.IndexFunc(rows, func(row setting) bool { return row.Name == s.Name })
			if at < 0 {
				at, rows = len(rows), append(rows, setting{s.Name, slices.Repeat([]Setting{{Value: "—"}}, len(r.Variants))})
			}
			cells := rows[at].Cells
			if cells[i] = s; i > 0 && s == cells[0] {
				cells[i] = Setting{Value: "same"}
			}
		}
	}
	return rows
}

// drawn is a variant for the script. Times are in seconds.
type drawn struct {
	Name     string
	Calls    int
	Width    float64
	Bins     []sim.Bin
	Ok, Bad  latencies
	Curve    []sim.Point
	DrainsAt *float64 // nil if nothing drains the quota
}

// latencies are how many there are, and the times within which each percent of them is.
type latencies struct {
	Count int
	Times []float64
}

// data is what the script draws.
func data(r *Report) any {
	all := make([]drawn, len(r.Variants))
	for i, v := range r.Variants {
		all[i] = drawn{
			Name: shown(v.Name), Calls: v.Run.Calls, Width: v.Run.Width.Seconds(), Bins: v.Run.Bins,
			Ok: percents(v.Run.Succeeded), Bad: percents(v.Run.Unsuccessful), Curve: v.Curve,
		}
		if at := v.Run.Drain; !math.IsNaN(at) {
			all[i].DrainsAt = &at
		}
	}
	return map[string]any{"variants": all, "phases": r.Phases, "seconds": r.Duration.Seconds()}
}

func percents(sorted []time.Duration) latencies {
	l := latencies{Count: len(sorted)}
	for i := range min(100, len(sorted)) {
		l.Times = append(l.Times, sorted[(i+1)*len(sorted)/min(100, len(sorted))-1].Seconds())
	}
	return l
}
