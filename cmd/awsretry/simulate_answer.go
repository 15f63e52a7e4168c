package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/awsretry/awsretry/internal/command/page"
	"github.com/awsretry/awsretry/internal/command/sim"
)

// answer is what came out, in three sentences.
func (p *played) answer() []string {
	first := p.variants[0]
	return []string{p.onCalls(first.result), onQuota(first), p.onOthers(first)}
}

const noCall = "no call has ended in the time that counts"

// onCalls is the sentence on the calls of the settings.
func (p *played) onCalls(r *sim.Result) string {
	reached := ""
	switch played := p.scenario(); {
	case r.Calls == 0:
		return "With the settings, " + noCall + "."
	case p.trace != nil:
	case played.Offered < played.Rate:
		reached = fmt.Sprintf(" of %s that are offered", asGiven(played.Offered))
	default:
		reached = fmt.Sprintf(", which is %s of the limit", page.Percent(r.Goodput/p.limit()))
	}
	return fmt.Sprintf("With the settings, %s calls a second succeed%s, and %s of the calls fail.",
		page.Number(r.Goodput), reached, page.Percent(r.FailedShare))
}

// onQuota is the sentence on the retry quota of a variant.
func onQuota(v *variant) string {
	r := v.result
	switch {
	case v.plan.MaxAttempts == 1:
		return "Nothing is retried, so that the retry quota stays full."
	case !math.IsNaN(r.Emptied):
		return fmt.Sprintf("From second %s on, retries are refused for lack of quota, and %s of the calls fail for it.",
			page.Number(r.Emptied), page.Percent(r.NoQuotaShare))
	case r.LowestQuota < v.plan.ThrottlingCost:
		return fmt.Sprintf("The retry quota falls to %d of %d tokens, but no retry is refused for lack of it.",
			r.LowestQuota, v.plan.QuotaCapacity)
	case r.Calls == 0:
		return fmt.Sprintf("The retry quota never falls below %d of %d tokens.", r.LowestQuota, v.plan.QuotaCapacity)
	default:
		return fmt.Sprintf("The retry quota never falls below %d of %d tokens, and a call waits %s on average.",
			r.LowestQuota, v.plan.QuotaCapacity, page.Seconds(r.DelayPerCall))
	}
}

// onOthers is the sentence on the best of the other variants: the one in which the fewest calls
// fail, and of several such the fastest one. Without others it is on the drain points.
func (p *played) onOthers(first *variant) string {
	others := slices.Clone(p.variants[1:])
	ended := slices.DeleteFunc(others, func(v *variant) bool { return v.result.Calls == 0 })
	switch {
	case len(p.variants) == 1 && first.plan.MaxAttempts == 1:
		return "A call fails if its only attempt does."
	case len(p.variants) == 1:
		points := drainPoints(first.plan)
		return fmt.Sprintf("The retry quota starts to empty when %s of the attempts fail, or %s are throttled.",
			page.Percent(points[0].Share), page.Percent(points[2].Share))
	case len(ended) == 0:
		return "With the other variants, " + noCall + "."
	}
	best := slices.MinFunc(ended, func(a, b *variant) int {
		return cmp.Or(cmp.Compare(a.result.FailedShare, b.result.FailedShare), cmp.Compare(a.result.LatencyP99, b.result.LatencyP99))
	})
	begin := fmt.Sprintf("With %s, ", best.Name)
	if len(p.variants) > 2 {
		begin = fmt.Sprintf("Of the other variants %s fares best: ", best.Name)
	}
	return begin + compared(first.result, best.result) + "."
}

// compared says how the calls of another variant fare.
func compared(settings, other *sim.Result) string {
	if settings.Calls == 0 {
		return page.Percent(other.FailedShare) + " of the calls fail"
	}
	failed := page.Percent(other.FailedShare) + " of the calls fail"
	same := page.Percent(other.FailedShare) == page.Percent(settings.FailedShare)
	if same {
		failed = "as many calls fail"
	}
	p50, was50 := page.Seconds(other.LatencyP50), page.Seconds(settings.LatencyP50)
	p99, was99 := page.Seconds(other.LatencyP99), page.Seconds(settings.LatencyP99)
	switch {
	case p50 == was50 && p99 == was99 && same:
		return "the calls fare the same"
	case p50 == was50 && p99 == was99:
		return failed + ", in the same time"
	case p50 == was50:
		return fmt.Sprintf("%s, and a call takes %s instead of %s at the 99th percentile", failed, p99, was99)
	case p99 == was99:
		return fmt.Sprintf("%s, and a call takes %s instead of %s at the median", failed, p50, was50)
	default:
		return fmt.Sprintf("%s, and a call takes %s instead of %s at the median, and %s instead of %s at the 99th percentile",
			failed, p50, was50, p99, was99)
	}
}
