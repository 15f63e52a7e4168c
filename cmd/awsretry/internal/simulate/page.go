package simulate

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the template, its styles and scripts
	"encoding/base64"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/words"
)

// The page works offline: uPlot, which draws its charts, is part of it, and it loads nothing from the network.
var (
	//go:embed page.html
	layout string
	//go:embed page.css
	styles string
	//go:embed page.js
	script string
	//go:embed uplot/uPlot.min.css
	plotStyles string
	//go:embed uplot/uPlot.iife.min.js
	plot string
	//go:embed uplot/LICENSE
	license string
)

// page returns the report as one HTML page. The same result gives the same bytes.
func (res *result) page() ([]byte, error) {
	parsed, err := template.New("page").Funcs(template.FuncMap{"shown": shown}).Parse(layout)
	if err != nil {
		return nil, err
	}
	library, phases, answer := "/*\n"+license+"*/\n"+plot, res.spans(), res.answer()
	for i, line := range answer {
		answer[i] = strings.ReplaceAll(line, " %", "\u00a0%") // a line must not end between them
	}
	var b bytes.Buffer
	err = parsed.Execute(&b, map[string]any{
		"Command": res.command(), "Version": res.version, "Answer": answer, "Played": res.played(), "Phases": phases,
		"Variants": res.variants, "Results": res.table(), "Settings": res.settings(), "Curve": len(res.variants[0].curve) > 0,
		"Data":  map[string]any{"variants": res.drawn(), "phases": phases, "seconds": res.Duration.Seconds()},
		"Rates": []string{"offered", "begun", "sent", "throttled", "accepted", "limit"},
		"Style": template.CSS(plotStyles + styles), "Plot": template.JS(library), "Script": template.JS(script),
		"Allowed": hashOf(library) + " " + hashOf(script),
	})
	return b.Bytes(), err
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

// setting is a setting and where it came from.
type setting struct{ Name, Value, Origin string }

// settings returns a row for each setting, with a cell for each variant. A cell is short if the variant has the same as the first one.
func (res *result) settings() (rows [][]setting) {
	for i, v := range res.variants {
		for _, s := range v.settings {
			at := slices.IndexFunc(rows, func(row []setting) bool { return row[0].Name == s.Name })
			if at < 0 {
				at, rows = len(rows), append(rows, slices.Repeat([]setting{{Name: s.Name, Value: "—"}}, len(res.variants)))
			}
			if rows[at][i] = s; i > 0 && s == rows[at][0] {
				rows[at][i] = setting{Value: "same"}
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

// drawn is what the script draws.
func (res *result) drawn() []drawn {
	all := make([]drawn, len(res.variants))
	for i, v := range res.variants {
		run := sim.Median(v.runs)
		all[i] = drawn{
			Name: shown(v.Name), Calls: run.Calls, Width: run.Width.Seconds(), Bins: run.Bins,
			Ok: percents(run.Succeeded), Bad: percents(run.Unsuccessful), Curve: v.curve,
		}
		if !math.IsNaN(run.Drain) {
			all[i].DrainsAt = &run.Drain
		}
	}
	return all
}

func percents(sorted []time.Duration) latencies {
	l := latencies{Count: len(sorted)}
	for i := range min(100, len(sorted)) {
		l.Times = append(l.Times, sorted[(i+1)*len(sorted)/min(100, len(sorted))-1].Seconds())
	}
	return l
}

// Drains is the share of failing attempts at which the quota empties, as text; empty if nothing is retried.
func (v *variant) Drains() string {
	if at := sim.Median(v.runs).Drain; at > 0 {
		return number(100*at) + " %"
	}
	return ""
}

// fact is a flag with its value.
type fact struct{ Name, Value string }

// played returns the flags of the scenario that have a value.
func (res *result) played() (all []fact) {
	for _, name := range []string{"limit", "burst", "queue", "clients", "workers", "offered", "calls", "latency", "timeout", "fail", "outage", "lose", "phase", "duration", "within", "seed"} {
		f := res.flags.Lookup(name)
		value := strings.Trim(f.Value.String(), "[]")
		if slices.Contains([]string{"", "false"}, value) || value == "0" && name != "workers" {
			continue
		}
		if unit, _ := pflag.UnquoteUsage(f); f.Value.Type() == "rate" || f.Value.Type() == "number" {
			value += " " + unit
		}
		all = append(all, fact{name, value})
	}
	return all
}

// span is a part of a run with a short text.
type span struct {
	From, To time.Duration
	Label    string
}

// spans returns the parts of the run that differ from the start, each with what was changed.
func (res *result) spans() (all []span) {
	for i, p := range res.Phases {
		to := res.Duration
		if i+1 < len(res.Phases) {
			to = min(to, res.Phases[i+1].From)
		}
		if p.Conditions != res.Conditions && p.From < to {
			all = append(all, span{p.From, to, strings.ReplaceAll(res.changes[i], ";", ", ")})
		}
	}
	return all
}
