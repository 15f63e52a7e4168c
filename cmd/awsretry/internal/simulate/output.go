package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/words"
)

// result is a finished simulation.
type result struct {
	*Simulation
	args     []string
	version  string // of the command
	variants []*variant
}

// answer returns the result in a few lines: on the calls with the settings and the variants that do not keep up, on how each
// variant differs, and on those that do not.
func (res *result) answer() []string {
	of := map[string]sim.Row{}
	for _, row := range sim.Rows(res.variants[0].runs) {
		of[row.Key] = row
	}
	failed, done := of["failed_share"], of["done_s"]
	var said string
	switch {
	case math.IsNaN(failed.Median):
		said = "With the settings, no call has ended in the time that counts."
	case !math.IsNaN(done.Median):
		said = fmt.Sprintf("With the settings, %s calls are done after %s, and %s of them fail.", number(float64(res.Calls)), figure(done), figure(failed))
	case res.Calls > 0:
		said = fmt.Sprintf("With the settings, the %s calls are not done after %v, and %s of those that are fail.", number(float64(res.Calls)), res.Duration, figure(failed))
	default:
		said = fmt.Sprintf("With the settings, %s of the calls fail, and %s a second succeed of %s that callers want.",
			figure(failed), figure(of["goodput_per_s"]), figure(of["offered_per_s"]))
	}
	var wants []string
	for _, of := range []sim.Row{of["failed_for_quota"], of["failed_for_attempts"], of["failed_for_time"]} {
		if of.Median > 0 {
			wants = append(wants, strings.TrimPrefix(of.Name, "failed for ")+" ("+number(100*of.Median)+" %)")
		}
	}
	if len(wants) > 0 {
		said += " They fail for want of " + strings.Join(wants, " and of ") + "."
	}
	var late []string
	for i, v := range res.variants {
		name, kept := v.Name, 0
		if i == 0 {
			name = "the settings"
		}
		for _, r := range v.runs {
			if r.KeepsUp() {
				kept++
			}
		}
		if 2*kept < len(v.runs) {
			late = append(late, name)
		}
	}
	if len(late) > 0 {
		said += " Calls do not keep up with " + strings.Join(late, " and ") + ": fewer end than callers want."
	}
	lines := []string{said}
	var same []string
	for _, c := range res.compare() {
		if c.Better == nil {
			same = append(same, c.Variant)
		} else {
			lines = append(lines, c.String())
		}
	}
	if len(same) > 0 {
		lines = append(lines, strings.Join(same, " and ")+": no difference beyond that of the seeds.")
	}
	return lines
}

// table has a row for each figure that applies to at least one of the variants, and a column for each variant.
func (res *result) table() (rows [][]string) {
	of := make([][]sim.Row, len(res.variants))
	for i, v := range res.variants {
		of[i] = sim.Rows(v.runs)
	}
	for at, row := range of[0] {
		cells, applies := []string{row.Name}, false
		for i := range res.variants {
			cells = append(cells, figure(of[i][at]))
			applies = applies || !math.IsNaN(of[i][at].Median)
		}
		if applies {
			rows = append(rows, cells)
		}
	}
	return rows
}

// text returns the answer and the figures for people, in tables that fit a terminal of this width; zero is no limit.
func (res *result) text(width int) string {
	var all strings.Builder
	for _, line := range res.answer() {
		fmt.Fprintln(&all, words.Escaped(line))
	}
	rows := res.table()
	for from := 0; from < len(res.variants); {
		to := len(res.variants)
		drawn := res.columns(rows, from, to)
		for ; to > from+1 && width > 0 && text.LongestLineLen(drawn) > width; drawn = res.columns(rows, from, to) {
			to--
		}
		all.WriteString("\n" + drawn)
		from = to
	}
	return all.String()
}

// columns draws a part of the variants.
func (res *result) columns(rows [][]string, from, to int) string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	head := table.Row{""}
	for _, v := range res.variants[from:to] {
		head = append(head, strings.ReplaceAll(words.Escaped(v.Name), ",", ",\n"))
	}
	t.AppendHeader(head)
	for _, row := range rows {
		cells := table.Row{row[0]}
		for _, cell := range row[1+from : 1+to] {
			cells = append(cells, cell)
		}
		t.AppendRow(cells)
	}
	return t.Render() + "\n"
}

// json returns what --json prints: the medians of all runs, and the lowest and highest values where they differ.
func (res *result) json() any {
	var variants []any
	for _, v := range res.variants {
		one, ranges := map[string]any{"name": v.Name}, map[string]any{}
		for _, row := range sim.Rows(v.runs) {
			if one[row.Key] = plain(row.Median); row.Low < row.High {
				ranges[row.Key] = []any{plain(row.Low), plain(row.High)}
			}
		}
		one["ranges"] = ranges
		variants = append(variants, one)
	}
	return map[string]any{
		"version": res.version, "seeds": res.seeds(), "duration_s": plain(res.Duration.Seconds()), "limit_per_s": plain(res.Rate),
		"within_s": plain(res.Within.Seconds()), "answer": strings.Join(res.answer(), " "), "comparisons": res.compare(), "variants": variants,
	}
}

// plain returns a number for JSON with as many digits as processors agree on, or nil for NaN.
func plain(x float64) any {
	if math.IsNaN(x) {
		return nil
	}
	return math.Round(1e6*x) / 1e6
}

// figure returns the median with its unit, and where the runs differ by more than a tenth, and shares by more than 0.01, the
// lowest and the highest.
func figure(row sim.Row) string {
	scale, unit, wide := 1.0, "", 0.1*row.Median
	switch {
	case math.IsNaN(row.Median):
		return "—"
	case row.Unit == "%":
		scale, unit, wide = 100, " %", max(wide, 0.01)
	case row.Unit == "s" && row.High < 1:
		scale, unit = 1e3, " ms"
	case row.Unit == "s" && row.High < 600:
		unit = " s"
	case row.Unit == "s":
		scale, unit = 1.0/60, " min"
	}
	median, low, high := number(row.Median*scale), number(row.Low*scale), number(row.High*scale)
	if row.High-row.Low > wide && low != high {
		median += " (" + low + "–" + high + ")"
	}
	return median + unit
}

// number formats a number with three digits or, above 1000, all of those before the point.
func number(x float64) string {
	after := 2 - int(math.Floor(math.Log10(max(math.Abs(x), 0.01))))
	text := strconv.FormatFloat(x, 'f', max(after, 0), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	for at := len(text) - 3; at > 0 && after < 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
