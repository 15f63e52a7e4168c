//go:build !race

package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/page"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

var update = flag.Bool("update", false, "write the golden files")

func inStandardMode(config standard.Config) func(p sim.Parts) (retry.Strategy, error) {
	return func(p sim.Parts) (retry.Strategy, error) {
		config := config
		config.Clock, config.Random, config.Observer = p.Clock, p.Random, p.Observer
		return standard.New(config)
	}
}

func inAdaptiveMode(p sim.Parts) (retry.Strategy, error) {
	return adaptive.New(adaptive.Config{Standard: standard.Config{Clock: p.Clock, Random: p.Random, Observer: p.Observer}})
}

// usual is the scenario that `awsretry simulate` plays by default.
func usual() sim.Scenario {
	return sim.Scenario{
		Conditions: sim.Conditions{
			Rate: 50, Burst: 50, Latency: [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond},
			Workers: 100, Offered: 250,
		},
		Clients: 1, Within: 5 * time.Second,
		Duration: 90 * time.Second, Measured: sim.Window{From: 30 * time.Second, To: 90 * time.Second},
	}
}

// withResults plays a scenario with some variants, and adds their results to a report.
func withResults(t *testing.T, s sim.Scenario, r *page.Report, variants ...sim.Variant) *page.Report {
	t.Helper()
	var shares []float64
	for i := range 21 {
		shares = append(shares, float64(i)/20)
	}
	for i, v := range variants {
		var err error
		r.Variants[i].Name = v.Name
		r.Variants[i].Result, err = sim.Play(t.Context(), s, v, 1, nil)
		require.NoError(t, err)
		r.Variants[i].Curve, err = sim.Sweep(t.Context(), v, 1, shares, nil)
		require.NoError(t, err)
	}
	return r
}

// fromProfile are the settings of a profile, with the drain points of v2.1.
func fromProfile() page.Variant {
	return page.Variant{
		Settings: []page.Setting{
			{"mode", "standard", "default"},
			{"behavior", "v2.1", "default"},
			{"max attempts", "3", "/home/me/.aws/config:12 [profile prod]"},
		},
		Drain: []page.Drain{{"transient", 0.215}, {"timeout", 0.215}, {"throttling", 0.321}},
	}
}

func overload(t *testing.T) *page.Report {
	t.Helper()
	r := &page.Report{
		Command: "awsretry simulate --profile prod --vs v2.0 --vs adaptive -o report.html",
		Answer: []string{
			"The service is offered five times what it allows.",
			"With these settings 79.5 % of the calls fail, most of them for lack of quota.", "In adaptive mode none fails.",
		},
		Played: []page.Fact{
			{"limit", "50 a second, bursts of 50"},
			{"workers", "100"},
			{"offered", "250 calls a second"},
			{"latency", "5 ms to 20 ms"},
			{"measured", "from 30 s to 90 s"},
		},
		Variants: []page.Variant{fromProfile(), fromProfile(), fromProfile()},
	}
	r.Variants[1].Settings[1] = page.Setting{"behavior", "v2.0", "--vs v2.0"}
	r.Variants[1].Drain = []page.Drain{{"transient", 0.321}, {"timeout", 0.246}, {"throttling", 0.321}}
	r.Variants[2].Settings[0] = page.Setting{"mode", "adaptive", "--vs adaptive"}
	return withResults(t, usual(), r,
		sim.Variant{Name: "settings", New: inStandardMode(standard.Config{})},
		sim.Variant{Name: "v2.0", New: inStandardMode(standard.Config{Behavior: retry.V20})},
		sim.Variant{Name: "adaptive", New: inAdaptiveMode})
}

func outage(t *testing.T) *page.Report {
	t.Helper()
	s := usual()
	s.Offered, s.Workers = 40, 0
	window := sim.Window{From: 35 * time.Second, To: 55 * time.Second}
	failing := s.Conditions
	failing.Fail = 1
	s.Phases = []sim.Phase{{From: window.From, Conditions: failing}, {From: window.To, Conditions: s.Conditions}}
	r := &page.Report{
		Command:  "awsretry simulate --profile prod --workers 0 --offered 40 --outage 20s --vs max_attempts=10 -o report.html",
		Answer:   []string{"The service fails for 20 s.", "With these settings the quota is short of tokens 0.8 s later.", "Ten attempts do not change that."},
		Played:   []page.Fact{{"limit", "50 a second, bursts of 50"}, {"offered", "40 calls a second, at random instants"}, {"outage", "from 35 s to 55 s"}},
		Question: page.InChange,
		Phases:   []page.Phase{{Window: window, Label: "outage"}},
		Variants: []page.Variant{fromProfile(), fromProfile()},
	}
	r.Variants[1].Settings[2] = page.Setting{"max attempts", "10", "--vs max_attempts=10"}
	r.Variants[1].Drain = []page.Drain{{"transient", 0.211}, {"timeout", 0.211}, {"throttling", 0.308}}
	return withResults(t, s, r,
		sim.Variant{Name: "settings", New: inStandardMode(standard.Config{})},
		sim.Variant{Name: "max_attempts=10", New: inStandardMode(standard.Config{MaxAttempts: 10})})
}

// largest has as much of everything as a report of eight variants can have.
func largest() *page.Report {
	r := &page.Report{Command: "awsretry simulate", Question: page.OfFailures}
	for i := range 8 {
		v := page.Variant{
			Name: "max_attempts=" + strconv.Itoa(i) + ",max_backoff=20s,retry_mode=adaptive",
			Result: &sim.Result{
				Calls: 100_000, Goodput: 12345.6, FailedShare: 0.123, NoQuotaShare: 0.12, Duration: 6*time.Hour - 7*time.Second, Width: 216 * time.Second,
			},
		}
		for j := range 20 {
			v.Settings = append(v.Settings, page.Setting{"setting " + strconv.Itoa(j), "value " + strconv.Itoa(i), "/home/someone-or-other/.aws/config:1234 [profile production]"})
		}
		for j := range 41 {
			v.Curve = append(v.Curve, sim.Point{Share: float64(j) / 40, AttemptsPerCall: 1 + math.Abs(math.Sin(float64(i+j))), FailedShare: 0.1234})
		}
		for j := range 100 {
			n := 2_000_000 + (i*7919+j*104729)%1_000_000
			v.Result.Bins = append(v.Result.Bins, sim.Bin{
				From: time.Duration(j) * v.Result.Width, Offered: float64(n), Begun: n, Sent: n * 2, Accepted: n - 500_000, Throttled: n + 123_456,
				Quota: n % 500, SendRate: float64(n) / 200,
			})
		}
		for j := range 1000 {
			v.Result.Succeeded = append(v.Result.Succeeded, time.Duration(j)*time.Second)
			v.Result.Unsuccessful = append(v.Result.Unsuccessful, time.Duration(j)*time.Minute)
		}
		v.Drain = []page.Drain{{"transient", 0.2 + float64(i)/100}, {"timeout", 0.2}, {"throttling", 0.3}}
		r.Variants = append(r.Variants, v)
	}
	return r
}

func written(t *testing.T, r *page.Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, page.Write(&b, r))
	return b.String()
}

// small is a report of one variant with two bins, of which the last one is half as long.
func small() *page.Report {
	return &page.Report{
		Command: "awsretry simulate", Within: 5 * time.Second, Question: page.OfFailures,
		Variants: []page.Variant{{
			Name: "settings",
			Result: &sim.Result{
				Calls: 1, Offered: 100, Begun: 90, Goodput: 40, OfLimit: 0.8, OfPossible: 0.8, WithinShare: 0.4, FailedP50: math.NaN(), FailedP99: math.NaN(),
				Waiting: 7, Oldest: 12, AttemptsPerCall: 1.5, LatencyP50: 0.0128, LatencyP99: 2.16, LatencyMax: 72, DelayPerCall: 0,
				Recover: math.NaN(), Emptied: math.NaN(), Done: math.NaN(), LowestQuota: 1234, Duration: 15 * time.Second, Width: 10 * time.Second,
				Bins: []sim.Bin{
					{Offered: 120, Begun: 100, Allowed: 50, Waiting: 7, Failed: 5, Sent: 200, Accepted: 90, Throttled: 110, Quota: 500, SendRate: math.NaN()},
					{From: 10 * time.Second, Offered: 60, Begun: 35, Allowed: 50, Sent: 45, Accepted: 55, Throttled: 65, Quota: 400, SendRate: math.NaN()},
				},
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

// scripts are those of the page, which its policy allows by their hashes.
var scripts = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// requireSound holds a page to what every page has to be: well-formed, with nothing that runs but its own scripts and
// nothing that loads, with ids that are unique and lead somewhere, and without a number that is none.
func requireSound(t require.TestingT, text string) {
	allowed := regexp.MustCompile(`default-src 'none'; style-src 'unsafe-inline'; script-src ([^"]*)"`).FindStringSubmatch(html.UnescapeString(text))
	require.NotNil(t, allowed)
	var hashes []string
	for _, script := range scripts.FindAllStringSubmatch(text, -1) {
		sum := sha256.Sum256([]byte(script[1]))
		hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	require.Len(t, hashes, 2)
	require.Equal(t, strings.Join(hashes, " "), allowed[1])
	require.Contains(t, text, "The MIT License")
	text = scripts.ReplaceAllString(text, "")
	decoder := xml.NewDecoder(strings.NewReader(text))
	ids, refers, named := map[string]bool{}, []string{}, map[string]bool{}
	headings, styles := 0, ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		name := start.Name.Local
		if name == "style" {
			require.NoError(t, decoder.DecodeElement(&styles, &start))
			continue
		}
		require.NotContains(t, []string{"script", "link", "img", "image", "use", "iframe", "object", "embed", "base", "form", "a"}, name)
		if len(name) == 2 && name[0] == 'h' && name[1] != 'r' {
			level := int(name[1] - '0')
			require.LessOrEqual(t, level, headings+1)
			headings = level
		}
		attributes := map[string]string{}
		for _, a := range start.Attr {
			attributes[a.Name.Local] = a.Value
			require.Empty(t, a.Name.Space)
			require.NotContains(t, a.Value, "url(")
			require.NotContains(t, []string{"src", "srcset", "href", "style", "action", "background"}, a.Name.Local)
			require.False(t, strings.HasPrefix(a.Name.Local, "on"), a.Name.Local)
		}
		if id, ok := attributes["id"]; ok {
			require.NotEmpty(t, id)
			require.False(t, ids[id], id)
			ids[id] = true
		}
		if by, ok := attributes["aria-labelledby"]; ok {
			refers = append(refers, by)
		}
		if label, ok := attributes["aria-label"]; ok && name == "div" {
			require.NotEmpty(t, label)
			named[label] = true
		}
		switch name {
		case "th":
			require.NotEmpty(t, attributes["scope"])
		case "svg":
			require.True(t, attributes["aria-hidden"] == "true" || attributes["role"] == "img" && attributes["aria-labelledby"] != "")
		case "html":
			require.Equal(t, "en", attributes["lang"])
		}
	}
	for _, id := range refers {
		require.True(t, ids[id], id)
	}
	require.NotEmpty(t, named)
	require.NotEmpty(t, styles)
	require.NotContains(t, styles, "url(")
	require.NotContains(t, styles, "@import")
	require.NotContains(t, text, "ZgotmplZ") // what the template writes for a value that it refuses
	require.Empty(t, regexp.MustCompile(`\b(NaN|Inf)\b`).FindString(text))
}

func TestSimulatedRunsHaveTheGoldenPages(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(t *testing.T) *page.Report{"overload": overload, "outage": outage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sound(t, report(t))
			got = scripts.ReplaceAllString(got, "<script>...</script>")
			got = regexp.MustCompile(`sha256-[^&"]*`).ReplaceAllString(got, "sha256-...")
			golden := filepath.Join("testdata", name+".golden.html")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestLargestPageIsBelow400KB(t *testing.T) {
	t.Parallel()
	got := written(t, largest())
	requireSound(t, got)
	require.Less(t, len(got), 400_000)
	require.Equal(t, got, written(t, largest()))
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
	behind := []string{"failed for quota", "0 %", "failed for attempts", "0 %", "failed for time", "0 %", "undecided", "0", "attempts/call", "1.50", "delay/call", "0 s", "max", "1 m 12 s", "lowest quota", "1,234"}
	text := sound(t, small())
	require.Contains(t, text, begin+cells("", behind...)+end, "what does not apply has no column")
	require.Contains(t, text, begin+seen+cells(` class="narrow"`, behind...)+end, "one block on a narrow screen")
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

func TestVariantsWithTheSameResultsAreDrawnOnce(t *testing.T) {
	t.Parallel()
	r := small()
	twin := r.Variants[0]
	twin.Name, twin.Same = "twin", "settings"
	r.Variants = append(r.Variants, twin)
	text := sound(t, r)
	require.Contains(t, text, `<tr><th scope="row">twin (the same as settings)</th>`)
	require.Contains(t, text, "<b>settings, twin</b>")
	require.NotContains(t, text, "<b>twin</b>")
}

func TestWhatDoesNotApplyIsASentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(r *page.Report)
		want   string
		never  string
	}{
		{"no send rate", func(*page.Report) {}, "<b>Retry quota</b>", "<b>Send rate</b>"},
		{"no calls", func(r *page.Report) {
			r.Variants[0].Result = &sim.Result{Goodput: math.NaN(), FailedShare: math.Inf(1)}
		}, "No call ended", "Calls that fail"},
		{"no bins", func(r *page.Report) { r.Variants[0].Result.Bins = nil }, "Nothing was counted over time.", "<b>Pool</b>"},
		{"no curve", func(r *page.Report) { r.Variants[0].Curve = nil }, "No shares of failing attempts were played.", "share of attempts that fail"},
		{"no drain points", func(r *page.Report) { r.Variants[0].Drain = nil }, "Results", "<h3>Drain points</h3>"},
		{"no drain point", func(r *page.Report) { r.Variants[0].Drain[0].Share = math.NaN() }, `<td data-label="transient">—</td></tr>`, "drains at"},
		{"no variants", func(r *page.Report) { r.Variants = nil }, "What was played", "data-chart"},
		{"a limit far above", func(r *page.Report) {
			for i := range r.Variants[0].Result.Bins {
				r.Variants[0].Result.Bins[i].Allowed = 5000
			}
		}, "Rates over time of settings", `>limit</th>`},
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

func TestOutageIsShaded(t *testing.T) {
	t.Parallel()
	r := small()
	require.NotContains(t, sound(t, r), "outage")
	r.Phases = []page.Phase{{Window: sim.Window{From: 3 * time.Second, To: 6 * time.Second}, Label: "outage"}}
	require.Equal(t, 5, strings.Count(html.UnescapeString(sound(t, r)), `"spans":[{"from":3,"to":6,"label":"outage"}]`), "in each picture over time")
}

// named is a report in which each text from outside is this one.
func named(text string) *page.Report {
	r := small()
	r.Command, r.Answer, r.Played = text, []string{text}, []page.Fact{{text, text}}
	v := &r.Variants[0]
	v.Name, v.Settings = text, []page.Setting{{text, text, text}}
	v.Drain = append(v.Drain, page.Drain{Kind: text, Share: 0.5})
	return r
}

func TestTextsFromOutsideStayTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"script", `<script>alert(1)</script>`, `<script>alert(1)</script>`},
		{"attribute", `"><img src=x onerror=alert(1)>`, `"><img src=x onerror=alert(1)>`},
		{"end of a picture", `</title></svg></style></details>`, `</title></svg></style></details>`},
		{"template", `{{.}}`, `{{.}}`},
		{"comment", `<!-- ' & "`, `<!-- ' & "`},
		{"escape sequence", "a\x1b[31mb\n\u202ec", `a\x1b[31mb\n\u202ec`},
		{"no text", "a\xffb\x00", "a\ufffdb\\x00"},
		{"no character of XML", "a\ufffeb", `a\ufffeb`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := sound(t, named(c.text))
			text = scripts.ReplaceAllString(text, "")
			require.NotContains(t, text, "<script")
			require.NotContains(t, text, "<img")
			require.Contains(t, html.UnescapeString(text), "<b>"+c.want+"</b>")
		})
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestErrorOfTheWriterIsReturned(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, page.Write(failing{}, small()), io.ErrClosedPipe)
}
