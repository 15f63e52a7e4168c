package page

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
)

// Figure is one of the figures that compare variants.
type Figure struct {
	// Key is its name in JSON and CSV, Name its name in tables, and Note explains it.
	Key, Name, Note string
	// More is true for a figure of the second table.
	More  bool
	Value func(r *sim.Result) float64
	Text  func(s sim.Spread) string
}

// Figures returns all figures, in order. within is the time in which a call must succeed.
func Figures(within time.Duration) []Figure {
	short := within.String() // 1m for 1m0s
	for _, zeros := range []struct{ end, cut string }{{"m0s", "0s"}, {"h0m", "0m"}} {
		if strings.HasSuffix(short, zeros.end) {
			short = strings.TrimSuffix(short, zeros.cut)
		}
	}
	return []Figure{
		{
			"failed_share", "failed", "The share of the calls that end with an error.", false,
			func(r *sim.Result) float64 { return r.FailedShare }, Percents,
		},
		{
			"throttled_share", "throttled", "The share of the attempts that the service refuses for their rate.", false,
			func(r *sim.Result) float64 { return r.ThrottledShare }, Percents,
		},
		{
			"latency_p50_s", "p50", "Half of the calls that succeed take this long at most, from their beginning to their end, waits included.", false,
			func(r *sim.Result) float64 { return r.LatencyP50 }, Times,
		},
		{
			"latency_p99_s", "p99", "The same of 99 % of the calls that succeed.", false,
			func(r *sim.Result) float64 { return r.LatencyP99 }, Times,
		},
		{
			"within_share", "within " + short, "The share of all calls that callers want to make that begin and succeed within this time. " +
				"Where workers wait, calls that they do not get to count too; undecided ones do not.", false,
			func(r *sim.Result) float64 { return r.WithinShare }, Percents,
		},
		{
			"offered_per_s", "offered/s", "The calls a second that callers want to make.", false,
			func(r *sim.Result) float64 { return r.Offered }, Numbers,
		},
		{
			"begun_per_s", "begun/s", "The calls a second that begin. A worker that waits begins none.", false,
			func(r *sim.Result) float64 { return r.Begun }, Numbers,
		},
		{
			"goodput_per_s", "goodput/s", "The calls a second that succeed.", false,
			func(r *sim.Result) float64 { return r.Goodput }, Numbers,
		},
		{
			"goodput_of_limit", "of limit", "The goodput as a share of what the service allows. What was left of its burst comes on top.", false,
			func(r *sim.Result) float64 { return r.OfLimit }, shares,
		},
		{
			"goodput_of_possible", "of possible", "The goodput as a share of what callers want or the service allows at each time, whichever is less. What was left of a burst, and " +
				"calls that have waited since a time of more load, come on top.", false,
			func(r *sim.Result) float64 { return r.OfPossible }, possible,
		},
		{
			"waiting_calls", "waiting", "The calls that have begun and not ended at the end of the run.", false,
			func(r *sim.Result) float64 { return float64(r.Waiting) }, Counts,
		},
		{
			"oldest_waiting_s", "oldest", "How long ago the first of the calls began that wait at the end.", false,
			func(r *sim.Result) float64 {
				if r.Waiting == 0 {
					return math.NaN()
				}
				return r.Oldest
			}, Times,
		},

		{
			"done_s", "done", "When the last of the calls of --calls has ended.", false,
			func(r *sim.Result) float64 { return r.Done }, Times,
		},

		{
			"failed_for_quota", "failed for quota", "The share of the calls that fail because the retry quota is empty.", true,
			func(r *sim.Result) float64 { return r.NoQuotaShare }, Percents,
		},
		{
			"failed_for_attempts", "failed for attempts", "The share of the calls that fail because all their attempts have.", true,
			func(r *sim.Result) float64 { return r.NoAttemptsShare }, Percents,
		},
		{
			"failed_for_time", "failed for time", "The share of the calls that a deadline or max_elapsed ends.", true,
			func(r *sim.Result) float64 { return r.NoTimeShare }, Percents,
		},
		{
			"undecided_calls", "undecided", "The calls that are open at the end of the run, and may still succeed in time.", true,
			func(r *sim.Result) float64 { return float64(r.Undecided) }, Counts,
		},
		{
			"attempts_per_call", "attempts/call", "All attempts, the first one included.", true,
			func(r *sim.Result) float64 { return r.AttemptsPerCall }, Numbers,
		},
		{
			"delay_per_call_s", "delay/call", "How much of its time a call waits for backoff and for send tokens, on average.", true,
			func(r *sim.Result) float64 { return r.DelayPerCall }, Times,
		},
		{
			"latency_max_s", "max", "The longest time of any call.", true,
			func(r *sim.Result) float64 { return r.LatencyMax }, Times,
		},
		{
			"failed_p50_s", "failed p50", "Half of the calls that fail take this long at most.", true,
			func(r *sim.Result) float64 { return r.FailedP50 }, Times,
		},
		{
			"failed_p99_s", "failed p99", "The same of 99 % of the calls that fail.", true,
			func(r *sim.Result) float64 { return r.FailedP99 }, Times,
		},
		{
			"recover_s", "recover", "The time from the last change of the service or the load until the successes come to 90 % of what they " +
				"were in the ten seconds before the first change, or of what is possible if that is less, for 5 s.", true,
			func(r *sim.Result) float64 { return r.Recover }, Times,
		},
		{
			"lowest_quota", "lowest quota", "The fewest tokens that the retry quota of any client has in the whole run.", true,
			func(r *sim.Result) float64 { return float64(r.LowestQuota) }, Counts,
		},
	}
}

// Shown returns the figures that apply to at least one of the variants.
func Shown(all []Figure, variants [][]*sim.Result) (shown []Figure) {
	for _, f := range all {
		for _, runs := range variants {
			if known(sim.SpreadOf(runs, f.Value).Median) {
				shown = append(shown, f)
				break
			}
		}
	}
	return shown
}

// Percents formats a share.
func Percents(s sim.Spread) string { return spread(s, 100, " %", 1, Percent) }

// Numbers formats a number or a rate.
func Numbers(s sim.Spread) string { return spread(s, 1, "", 0, Number) }

// Counts formats a number of things.
func Counts(s sim.Spread) string {
	return spread(s, 1, "", 1, func(v float64) string { return count(int(math.Round(v))) })
}

// shares formats a share that only the rest of a burst brings above 100 %.
func shares(s sim.Spread) string { return above(s, "100 % + burst") }

// possible formats a share that calls left over from higher load can also bring above 100 %.
func possible(s sim.Spread) string { return above(s, "100 % + burst or waits") }

func above(s sim.Spread, text string) string {
	if known(s.Median) && s.Median > 1.0005 {
		return text
	}
	return Percents(sim.Spread{Median: s.Median, Low: min(s.Low, 1), High: min(s.High, 1)})
}

// Times formats a time in seconds.
func Times(s sim.Spread) string {
	switch {
	case s.Median < 0.9995 && s.High < 1:
		return spread(s, 1e3, " ms", 0, Seconds)
	case s.Median < 59.95:
		return spread(s, 1, " s", 0, Seconds)
	default:
		return spread(s, 1.0/60, " min", 0, Seconds)
	}
}

// spread writes a median with no more digits than the range of the runs allows, and the range if it is wide: more
// than a tenth of the median, and more than least.
func spread(s sim.Spread, scale float64, unit string, least float64, plain func(v float64) string) string {
	width := (s.High - s.Low) * scale
	if !known(s.Median) || !known(width) || width <= 0 {
		return plain(s.Median)
	}
	digits := max(0, -int(math.Floor(math.Log10(width))))
	if v := math.Abs(s.Median * scale); v > 0 {
		digits = min(digits, max(0, 2-int(math.Floor(math.Log10(v)))))
	}
	text := func(v float64) string {
		whole, fraction, _ := strings.Cut(strconv.FormatFloat(v*scale, 'f', min(digits, 3), 64), ".")
		if fraction != "" {
			fraction = "." + fraction
		}
		return grouped(whole) + fraction
	}
	median, low, high := text(s.Median), text(s.Low), text(s.High)
	switch {
	case low == high && scale == 100, strings.Trim(median, "0.") == "" && s.Median > 0: // barely above 0
		return plain(s.Median)
	case width > least && width > 0.1*math.Abs(s.Median*scale) && low != high:
		return median + " (" + low + "–" + high + ")" + unit
	}
	return median + unit
}
