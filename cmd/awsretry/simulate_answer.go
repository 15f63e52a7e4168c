package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// answer returns the result in a few sentences, first about variants that do not keep up.
func (res *result) answer() []string {
	first := res.variants[0]
	all := append(res.onWaits(), res.onCalls(first), onQuota(first), res.onOthers(first))
	switch {
	case res.service == "":
	case knownService(res.service):
		all = append(all, fmt.Sprintf("The defaults are those of the service %s.", res.service))
	default:
		all = append(all, fmt.Sprintf("The service %s is not known, so the defaults are those that all services share.", res.service))
	}
	return all
}

const noCall = "no call has ended in the time that counts"

// with names a variant.
func with(v *variant) string {
	if v.Name == "settings" {
		return "With the settings, "
	}
	return "With " + v.Name + ", "
}

// onWaits returns sentences on the variants that do not keep up.
func (res *result) onWaits() (all []string) {
	for _, v := range res.variants {
		late, kept := v.of(func(r *sim.Result) float64 { return r.Ended }), 0
		for _, r := range v.runs {
			if r.KeepsUp() {
				kept++
			}
		}
		if v.same != "" || 2*kept >= len(v.runs) {
			continue
		}
		wanted := v.of(func(r *sim.Result) float64 { return r.Offered })
		said := fmt.Sprintf("%scalls do not keep up: callers want %s a second, and %s end.", with(v), page.Numbers(wanted), page.Numbers(late))
		waiting := v.of(func(r *sim.Result) float64 { return float64(r.Waiting) })
		oldest := page.Times(v.of(func(r *sim.Result) float64 { return r.Oldest }))
		switch waiting.High {
		case 0:
		case 1:
			said += fmt.Sprintf(" At the end %s waits, for %s.", page.Counts(waiting), oldest)
		default:
			said += fmt.Sprintf(" At the end %s wait, the oldest for %s.", page.Counts(waiting), oldest)
		}
		all = append(all, said)
	}
	return all
}

// onCalls returns the sentence on the calls with the settings.
func (res *result) onCalls(v *variant) string {
	if v.ended() == 0 {
		return with(v) + noCall + "."
	}
	r := v.result()
	reached := fmt.Sprintf(" of %s that callers want", page.Brief(r.Offered))
	if limit := r.Goodput / r.OfLimit; !math.IsNaN(limit) && limit < r.Offered {
		reached += "; the service allows " + page.Brief(limit)
	}
	said := fmt.Sprintf("%s%s of the calls fail, and %s a second succeed%s.", with(v),
		page.Percents(v.of(failed)), page.Numbers(v.of(func(r *sim.Result) float64 { return r.Goodput })), reached)
	if res.calls > 0 {
		said = fmt.Sprintf("%sthe %d calls are not done after %s.", with(v), res.calls, page.Seconds(res.scenario().Duration.Seconds()))
		if done := v.of(func(r *sim.Result) float64 { return r.Done }); !math.IsNaN(done.Median) {
			said = fmt.Sprintf("%s%d calls are done after %s, and %s of them fail.", with(v), res.calls, page.Times(done), page.Percents(v.of(failed)))
		}
	}
	return said + onReasons(v)
}

// onReasons returns the sentence on what calls failed for want of, with a space before it, or nothing.
func onReasons(v *variant) string {
	var parts []string
	for _, reason := range []struct {
		name  string
		share func(r *sim.Result) float64
	}{
		{"quota", func(r *sim.Result) float64 { return r.NoQuotaShare }},
		{"attempts", func(r *sim.Result) float64 { return r.NoAttemptsShare }},
		{"time", func(r *sim.Result) float64 { return r.NoTimeShare }},
	} {
		if s := v.of(reason.share); s.Median > 0 {
			parts = append(parts, reason.name+" ("+page.Percents(s)+")")
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " They fail for want of " + strings.Join(parts, " and of ") + "."
}

func failed(r *sim.Result) float64 { return r.FailedShare }

// ended returns how many calls ended in the time that counts, in all runs.
func (v *variant) ended() (n int) {
	for _, r := range v.runs {
		n += r.Calls
	}
	return n
}

// onQuota returns the sentence on the retry quota of a variant.
func onQuota(v *variant) string {
	lowest := v.of(func(r *sim.Result) float64 { return float64(r.LowestQuota) }).Low
	emptied := v.of(func(r *sim.Result) float64 { return r.Emptied })
	switch {
	case v.plan.MaxAttempts == 1:
		return "Nothing is retried, so that the retry quota stays full."
	case !math.IsNaN(emptied.Median):
		return fmt.Sprintf("From second %s on, retries are refused for lack of quota.", page.Number(emptied.Median))
	case lowest < float64(v.plan.ThrottlingCost):
		return fmt.Sprintf("The retry quota falls to %.0f of %d tokens, but no retry is refused for lack of it.", lowest, v.plan.QuotaCapacity)
	case v.ended() == 0:
		return fmt.Sprintf("The retry quota never falls below %.0f of %d tokens.", lowest, v.plan.QuotaCapacity)
	default:
		return fmt.Sprintf("The retry quota never falls below %.0f of %d tokens, and a call waits %s on average.",
			lowest, v.plan.QuotaCapacity, page.Times(v.of(func(r *sim.Result) float64 { return r.DelayPerCall })))
	}
}

// onOthers returns the sentence on the best of the other variants: the one with the most calls that succeed in
// time, and if several have, the one with the fewest failures. Without others it is about the drain points.
func (res *result) onOthers(first *variant) string {
	others := slices.Clone(res.variants[1:])
	ended := slices.DeleteFunc(others, func(v *variant) bool { return v.ended() == 0 })
	switch {
	case len(res.variants) == 1 && first.plan.MaxAttempts == 1:
		return "A call fails if its only attempt does."
	case len(res.variants) == 1:
		points := drainPoints(first.plan)
		return fmt.Sprintf("The retry quota starts to empty when %s of the attempts fail, or %s are throttled.",
			page.Percent(points[0].Share), page.Percent(points[2].Share))
	case len(ended) == 0:
		return "With the other variants, " + noCall + "."
	}
	inTime := func(v *variant) float64 { return v.of(func(r *sim.Result) float64 { return r.WithinShare }).Median }
	p99 := func(v *variant) float64 { return v.of(func(r *sim.Result) float64 { return r.LatencyP99 }).Median }
	best := slices.MinFunc(ended, func(a, b *variant) int {
		return cmp.Or(cmp.Compare(rounded(inTime(b)), rounded(inTime(a))), cmp.Compare(rounded(a.of(failed).Median), rounded(b.of(failed).Median)),
			cmp.Compare(p99(a), p99(b)))
	})
	said, same := res.compared(first, best)
	switch {
	case len(res.variants) == 2:
		return with(best) + said + "."
	case same:
		return fmt.Sprintf("No other variant fares better: with %s, %s.", best.Name, said)
	default:
		return fmt.Sprintf("Of the other variants %s fares best: %s.", best.Name, said)
	}
}

// rounded returns a share in whole percents; smaller differences are chance.
func rounded(share float64) float64 { return math.Round(100 * share) }

// compared describes the calls of another variant, and reports whether they are the same.
func (res *result) compared(settings, other *variant) (said string, same bool) {
	if settings.ended() == 0 {
		return page.Percents(other.of(failed)) + " of the calls fail", false
	}
	figures := map[string]page.Figure{}
	for _, f := range page.Figures(res.within) {
		figures[f.Key] = f
	}
	var parts []string
	for _, c := range []struct{ key, form string }{
		{"failed_share", "%s of the calls fail instead of %s"},
		{"within_share", "%s of all that callers want succeed " + figures["within_share"].Name + " instead of %s"},
		{"latency_p50_s", "a call takes %s instead of %s at the median"},
		{"latency_p99_s", "%s instead of %s at the 99th percentile"},
	} {
		f := figures[c.key]
		now, was := other.of(f.Value), settings.of(f.Value)
		if text, before := f.Text(now), f.Text(was); text != before && !now.Overlaps(was) && !math.IsNaN(now.Median) && !math.IsNaN(was.Median) {
			if c.key == "latency_p99_s" && !strings.Contains(strings.Join(parts, ""), "a call takes") {
				c.form = "a call takes " + c.form
			}
			parts = append(parts, fmt.Sprintf(c.form, text, before))
		}
	}
	if len(parts) == 0 {
		return "the calls fare the same", true
	}
	return listed(parts), false
}

// listed joins parts of a sentence.
func listed(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + ", and " + parts[last]
}
