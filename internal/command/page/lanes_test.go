//go:build !race

package page_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/page"
	"github.com/awsretry/awsretry/internal/command/sim"
	"github.com/awsretry/awsretry/retry"
)

// small is a report of one variant with two bins, of which the last one is half as long.
func small() *page.Report {
	return &page.Report{
		Command: "awsretry simulate", Limit: 50, Within: 5 * time.Second, Question: page.OfFailures,
		Variants: []page.Variant{{
			Name: "settings",
			Result: &sim.Result{
				Calls: 1, Offered: 100, Begun: 90, Goodput: 40, OfLimit: 0.8, OfPossible: 0.8, WithinShare: 0.4, FailedP50: math.NaN(), FailedP99: math.NaN(),
				Waiting: 7, Oldest: 12, AttemptsPerCall: 1.5, LatencyP50: 0.0128, LatencyP99: 2.16, LatencyMax: 72, DelayPerCall: 0,
				Recover: math.NaN(), Emptied: math.NaN(), LowestQuota: 1234, Duration: 15 * time.Second, Width: 10 * time.Second,
				Bins: []sim.Bin{
					{Offered: 120, Begun: 100, Allowed: 50, Waiting: 7, Failed: 5, Sent: 200, Accepted: 90, Throttled: 110, Quota: 500, SendRate: math.NaN()},
					{From: 10 * time.Second, Offered: 60, Begun: 35, Allowed: 50, Sent: 45, Accepted: 55, Throttled: 65, Quota: 400, SendRate: math.NaN()},
				},
				Longest: sim.Call{Began: time.Second, Ended: 61 * time.Second, Attempts: []sim.Attempt{
					{Sent: time.Second, Ended: 1005 * time.Millisecond, Throttled: true, Err: retry.ErrQuotaExhausted},
					{Sent: 31 * time.Second, Ended: 31005 * time.Millisecond, SendWait: 10 * time.Second, Err: retry.ErrQuotaExhausted},
					{Sent: 60990 * time.Millisecond, Ended: 61 * time.Second},
				}},
			},
			Curve: []sim.Point{{Share: 0, AttemptsPerCall: 1}, {Share: 1, AttemptsPerCall: 2, FailedShare: 1}},
			Drain: []page.Drain{{"transient", 0.215}},
		}},
	}
}

// sound is the page of a report that is sound, as all pages have to be.
func sound(t *testing.T, r *page.Report) string {
	t.Helper()
	text := written(t, r)
	requireSound(t, text)
	return text
}

func TestLastBinMayBeShorter(t *testing.T) {
	t.Parallel()
	text := sound(t, small())
	require.Contains(t, text, `<tr><th scope="row">0</th><td>12</td><td>10</td><td>20</td><td>11</td><td>9</td></tr>`)
	require.Contains(t, text, `<tr><th scope="row">10</th><td>12</td><td>7</td><td>9</td><td>13</td><td>11</td></tr>`)
}

func TestRowOfAVariantSaysWhatItCameTo(t *testing.T) {
	t.Parallel()
	cells := func(class string, pairs ...string) string {
		var row strings.Builder
		for i := 0; i < len(pairs); i += 2 {
			row.WriteString("<td" + class + ` data-label="` + pairs[i] + `">` + pairs[i+1] + "</td>")
		}
		return row.String()
	}
	const begin, end = `<tr><th scope="row">settings</th>`, "</tr>"
	seen := cells("", "failed", "0 %", "throttled", "0 %", "p50", "12.8 ms", "p99", "2.16 s", "within 5s", "40.0 %", "offered/s", "100",
		"begun/s", "90.0", "goodput/s", "40.0", "of limit", "80.0 %", "of possible", "80.0 %", "waiting", "7", "oldest", "12.0 s")
	behind := []string{"attempts/call", "1.50", "delay/call", "0 s", "max", "1 m 12 s", "lowest quota", "1,234"}
	text := sound(t, small())
	require.Contains(t, text, begin+cells("", behind...)+end, "what does not apply has no column")
	require.Contains(t, text, begin+seen+cells(` class="narrow"`, behind...)+end, "one block on a narrow screen")
}

func TestVariantsWithTheSameResultsAreDrawnOnce(t *testing.T) {
	t.Parallel()
	r := small()
	twin := r.Variants[0]
	twin.Name, twin.Same = "twin", "settings"
	r.Variants = append(r.Variants, twin)
	text := sound(t, r)
	require.Contains(t, text, `<tr><th scope="row">twin (the same as settings)</th>`)
	require.Contains(t, text, "<b>settings, twin</b>")
	require.NotContains(t, text, `id="lanes-2"`)
}

func TestWhatDoesNotApplyIsASentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(r *page.Report)
		want   string
		never  string
	}{
		{"no send rate", func(*page.Report) {}, "No variant has a send rate", "state-2"},
		{"no limit", func(r *page.Report) { r.Limit = math.NaN() }, `class="line limit"`, `class="limit"`},
		{"no calls", func(r *page.Report) {
			r.Variants[0].Result = &sim.Result{Goodput: math.NaN(), FailedShare: math.Inf(1)}
		}, "No call ended", "lanes-1"},
		{"no bins", func(r *page.Report) { r.Variants[0].Result.Bins = nil }, "Nothing was counted over time.", "rates-1"},
		{"no curve", func(r *page.Report) { r.Variants[0].Curve = nil }, "No shares of failing attempts were played.", "curve-1"},
		{"no drain points", func(r *page.Report) { r.Variants[0].Drain = nil }, "Results", "<h3>Drain points</h3>"},
		{"no drain point", func(r *page.Report) { r.Variants[0].Drain[0].Share = math.NaN() }, `<td data-label="transient">—</td></tr>`, "drains at"},
		{"no variants", func(r *page.Report) { r.Variants = nil }, "What was played", "<svg class=\"large"},
		{"a limit far above", func(r *page.Report) { r.Limit = 5000 }, "limit 5000/s, above the picture", `class="limit"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := small()
			c.change(r)
			text := sound(t, r)
			require.Contains(t, text, c.want)
			require.NotContains(t, text, c.never)
		})
	}
}

func TestBinsWithoutAWidthHaveNoRate(t *testing.T) {
	t.Parallel()
	r := small()
	r.Variants[0].Result.Duration, r.Variants[0].Result.Width = 0, 0
	require.Contains(t, sound(t, r), `<tr><th scope="row">0</th><td>—</td>`)
}

func TestSettingsThatAreTheSameAreShort(t *testing.T) {
	t.Parallel()
	r := small()
	r.Variants = append(r.Variants, r.Variants[0])
	r.Variants[0].Settings = []page.Setting{{"mode", "standard", "default"}, {"max attempts", "3", "default"}}
	r.Variants[1].Settings = []page.Setting{{"mode", "standard", "default"}, {"max attempts", "3", "--vs"}, {"pause", "1 s", "--vs"}}
	text := sound(t, r)
	require.Contains(t, text, `<th scope="row">mode</th><td>standard<small>default</small></td><td>same</td></tr>`)
	require.Contains(t, text, `<th scope="row">max attempts</th><td>3<small>default</small></td><td>3<small>--vs</small></td></tr>`)
	require.Contains(t, text, `<th scope="row">pause</th><td>—</td><td>1 s<small>--vs</small></td></tr>`)
}

func TestOutageIsShaded(t *testing.T) {
	t.Parallel()
	r := small()
	require.NotContains(t, sound(t, r), `class="outage"`)
	r.Phases = []page.Phase{{Window: sim.Window{From: 3 * time.Second, To: 6 * time.Second}, Label: "outage"}}
	require.Equal(t, 5, strings.Count(sound(t, r), `class="outage"`), "in each picture over time")
}

// labels are the labels of the drain points, with their places.
func labels(t *testing.T, text string) (names []string, x, y []float64) {
	t.Helper()
	svg, _, _ := strings.Cut(text[strings.Index(text, `id="curve-1"`):], "</svg>")
	for _, m := range regexp.MustCompile(`<text class="label middle" x="([\d.]+)" y="([\d.]+)">([^<]*)<`).FindAllStringSubmatch(svg, -1) {
		left, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		top, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		names, x, y = append(names, m[3]), append(x, left), append(y, top)
	}
	return names, x, y
}

func TestLabelsOfDrainPointsDoNotOverlap(t *testing.T) {
	t.Parallel()
	r := small()
	for _, share := range []float64{0.2151, 0.321, 0.23, 0.2149, 0.9, 0.25} {
		v := r.Variants[0]
		v.Drain = []page.Drain{{"throttling", 0.5}, {"transient", share}}
		r.Variants = append(r.Variants, v)
	}
	names, x, y := labels(t, sound(t, r))
	require.Equal(t, []string{"21.5 %", "23.0 %", "25.0 %", "32.1 %", "90.0 %"}, names)
	for i := range names {
		for j := range i {
			require.True(t, math.Abs(x[i]-x[j]) >= 42 || math.Abs(y[i]-y[j]) >= 13, "%s and %s", names[i], names[j])
		}
	}
}

// blocks are the beginnings and ends of the blocks of a kind in the only lane.
func blocks(t *testing.T, text, kind string) [][2]float64 {
	t.Helper()
	svg, _, _ := strings.Cut(text[strings.Index(text, `id="lanes-1"`):], "</svg>")
	_, d, found := strings.Cut(svg, `class="block `+kind+`" d="`)
	if !found {
		return nil
	}
	d, _, _ = strings.Cut(d, `"`)
	var found2 [][2]float64
	for _, m := range regexp.MustCompile(`M([\d.]+) 12H([\d.]+)`).FindAllStringSubmatch(d, -1) {
		from, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		to, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		found2 = append(found2, [2]float64{from, to})
	}
	return found2
}

func TestLaneHasABlockForEachPartOfACall(t *testing.T) {
	t.Parallel()
	text := sound(t, small())
	require.Equal(t, [][2]float64{{8, 11}}, blocks(t, text, "throttled"))
	require.Equal(t, [][2]float64{{236, 239}}, blocks(t, text, "failed"))
	require.Equal(t, [][2]float64{{463.9, 466.9}}, blocks(t, text, "ok"))
	require.Equal(t, [][2]float64{{160, 236}}, blocks(t, text, "sendwait"))
	require.Equal(t, [][2]float64{{8, 160}, {236, 463.9}}, blocks(t, text, "backoff"))
	require.Empty(t, blocks(t, text, "rest"))
	require.Contains(t, text, "It succeeded after 1 m 0 s and 3 attempts.")
	require.Contains(t, text, `<tr><th scope="row">2</th><td>20.0 s</td><td>10.0 s</td><td>30.0 s</td><td>5.00 ms</td><td>failed</td></tr>`)
}

func TestCallWithoutAttemptsIsAllWait(t *testing.T) {
	t.Parallel()
	r := small()
	c := &r.Variants[0].Result.Longest
	c.Attempts, c.Err = nil, retry.ErrQuotaExhausted
	text := sound(t, r)
	require.Equal(t, [][2]float64{{8, 464}}, blocks(t, text, "rest"))
	require.Contains(t, text, "It failed after 1 m 0 s and 0 attempts.")
	require.Contains(t, text, "Its error: "+retry.ErrQuotaExhausted.Error())
}

func TestLaneOfManyAttemptsStaysSmall(t *testing.T) {
	t.Parallel()
	r := small()
	c := &r.Variants[0].Result.Longest
	c.Attempts, c.Ended = nil, 100_000*time.Second
	for i := range 100_000 {
		at := time.Duration(i) * time.Second
		c.Attempts = append(c.Attempts, sim.Attempt{Sent: at, Ended: at + time.Millisecond, Throttled: i%2 == 0, Err: retry.ErrQuotaExhausted})
	}
	text := sound(t, r)
	require.Less(t, len(text), 32_000)
	require.Contains(t, text, "and 99,975 more")
}
