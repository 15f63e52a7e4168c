//go:build !race

package simulate

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/internal/words"
)

var update = flag.Bool("update", false, "write the golden files")

// small is a result of two variants with two bins, of which the last one is half as long.
func small() *result {
	var s Simulation
	s.Define(pflag.NewFlagSet("", pflag.ContinueOnError))
	s.Duration = 15 * time.Second
	res := &result{Simulation: &s, args: []string{"simulate", "--vs", "v2.0", "-o", "report.html"}, version: "v1.2.3"}
	for i, name := range []string{"settings", "v2.0"} {
		res.variants = append(res.variants, &variant{
			Variant: sim.Variant{Name: name},
			settings: []setting{
				{"mode", "standard", "default"},
				{"max attempts", "3", "/home/me/.aws/config:12 [profile prod]"},
				{"behavior", "v2." + strconv.Itoa(1-i), "--vs"},
			},
			runs: []*sim.Result{{
				Figures: sim.Figures{FailedShare: 0.01 * float64(i), LatencyP99: 2.16, Drain: 0.215, Done: math.NaN()}, Calls: 4, Width: 10 * time.Second,
				Bins: []sim.Bin{
					{Offered: 120, Begun: 100, Allowed: 50, Waiting: 7, Failed: 5, Sent: 200, Accepted: 90, Throttled: 110, Quota: 500},
					{From: 10 * time.Second, Offered: 60, Begun: 35, Allowed: 50, Sent: 45, Accepted: 55, Throttled: 65, Quota: 400, SendRate: 9},
				},
				Succeeded: []time.Duration{time.Second, 2 * time.Second, 3 * time.Second},
			}},
			curve: []sim.Point{{Share: 0, AttemptsPerCall: 1}, {Share: 1, AttemptsPerCall: 2, FailedShare: 1}},
		})
	}
	return res
}

// largest has as much of everything as a report of eight variants can have.
func largest() *result {
	res := small()
	res.Duration, res.variants = 6*time.Hour-7*time.Second, nil
	for i := range 8 {
		run := &sim.Result{Calls: 100_000, Width: 216 * time.Second}
		v := &variant{Variant: sim.Variant{Name: "max_attempts=" + strconv.Itoa(i) + ",max_backoff=20s,retry_mode=adaptive"}, runs: []*sim.Result{run}}
		for j := range 1000 {
			run.Succeeded = append(run.Succeeded, time.Duration(j)*time.Second)
			run.Unsuccessful = append(run.Unsuccessful, time.Duration(j)*time.Minute)
			if n := 2_000_000 + (i*7919+j*104729)%1_000_000; j < 100 {
				run.Bins = append(run.Bins, sim.Bin{
					From: time.Duration(j) * run.Width, Offered: float64(n), Allowed: 1000, Begun: n, Failed: n, Waiting: n, Sent: n * 2, Accepted: n - 500_000,
					Throttled: n + 123_456, Quota: n % 500, SendRate: float64(n) / 300,
				})
			}
			if j <= 20 {
				v.settings = append(v.settings, setting{"setting " + strconv.Itoa(j), "value " + strconv.Itoa(i), "/home/someone-or-other/.aws/config:1234 [profile production]"})
				v.curve = append(v.curve, sim.Point{Share: float64(j) / 20, AttemptsPerCall: 1 + math.Abs(math.Sin(float64(i+j))), FailedShare: 0.1234})
			}
		}
		res.variants = append(res.variants, v)
	}
	return res
}

func written(t *testing.T, r *result) string {
	t.Helper()
	page, err := r.page()
	require.NoError(t, err)
	return string(page)
}

// sound is the page of a report that is sound, as all pages have to be.
func sound(t *testing.T, r *result) string {
	t.Helper()
	text := written(t, r)
	requireSound(t, text)
	return text
}

// scripts are those of the page, which its policy allows by their hashes, and numbers is what they draw.
var (
	scripts = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
	numbers = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)
)

// requireSound holds a page with any texts to what every page has to be: well-formed, with nothing that runs but its own
// scripts and nothing that loads, with ids that are unique and lead somewhere, and without a number that is none. What the
// template says is in the golden pages.
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
	require.Len(t, numbers.FindAllString(text, -1), 1)
	text = numbers.ReplaceAllString(scripts.ReplaceAllString(text, ""), "")
	decoder := xml.NewDecoder(strings.NewReader(text))
	ids, refers, styles := map[string]bool{}, []string{}, ""
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
		for _, a := range start.Attr {
			require.Empty(t, a.Name.Space)
			require.NotContains(t, a.Value, "url(")
			require.NotContains(t, []string{"src", "srcset", "href", "style", "action", "background"}, a.Name.Local)
			require.False(t, strings.HasPrefix(a.Name.Local, "on"), a.Name.Local)
			switch a.Name.Local {
			case "id":
				require.False(t, ids[a.Value] || a.Value == "", a.Value)
				ids[a.Value] = true
			case "aria-labelledby":
				refers = append(refers, a.Value)
			}
		}
	}
	for _, id := range refers {
		require.True(t, ids[id], id)
	}
	require.NotContains(t, styles, "url(")
	require.NotContains(t, styles, "@import")
	require.NotContains(t, text, "ZgotmplZ") // what the template writes for a value that it refuses
	require.Empty(t, regexp.MustCompile(`\b(NaN|Inf)\b`).FindString(text))
}

func TestReportHasTheGoldenPage(t *testing.T) {
	t.Parallel()
	got := sound(t, small())
	got = regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(got, "<script>...</script>")
	got = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(got, "<style>...</style>")
	got = regexp.MustCompile(`sha256-(?:[^&"]|&#43;)*`).ReplaceAllString(got, "sha256-...")
	golden := filepath.Join("testdata", "report.golden.html")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestPictureOfTheQuestionComesFirst(t *testing.T) {
	t.Parallel()
	withCurve, limit, change := small(), small(), small()
	for _, v := range slices.Concat(limit.variants, change.variants) {
		v.curve = nil
	}
	change.Phases, change.changes = []sim.Phase{{From: 3 * time.Second, Conditions: sim.Conditions{Fail: 1}}}, []string{"fail=1"}
	for want, res := range map[string]*result{
		"curve latency rates troubles state": withCurve,
		"latency rates troubles state":       limit,
		"troubles rates latency state":       change,
	} {
		var ids []string
		for _, id := range regexp.MustCompile(`<h3 id="(\w+)"`).FindAllStringSubmatch(sound(t, res), -1) {
			ids = append(ids, id[1])
		}
		require.Equal(t, want, strings.Join(ids, " "))
	}
}

func TestSettingsThatAreTheSameAreShort(t *testing.T) {
	t.Parallel()
	r := small()
	r.variants[1].settings = []setting{r.variants[0].settings[0], {"max attempts", "3", "--vs"}, {"pause", "1 s", "--vs"}}
	text := sound(t, r)
	require.Contains(t, text, `<th scope="row">mode</th><td>standard<small>default</small></td><td>same</td></tr>`)
	require.Contains(t, text, `</small></td><td>3<small>--vs</small></td></tr>`)
	require.Contains(t, text, `<th scope="row">pause</th><td>—</td><td>1 s<small>--vs</small></td></tr>`)
}

// drawnBy is what the script of a page draws.
func drawnBy(t *testing.T, text string) (data struct {
	Phases   []struct{ From, To float64 }
	Variants []struct {
		Name     string
		DrainsAt *float64
		Ok, Bad  struct {
			Count int
			Times []float64
		}
	}
},
) {
	t.Helper()
	found := numbers.FindStringSubmatch(text)
	require.NotNil(t, found)
	require.NoError(t, json.Unmarshal([]byte(found[1]), &data))
	return data
}

func TestLargestPageIsBelow400KBWithAHundredLatencies(t *testing.T) {
	t.Parallel()
	v := drawnBy(t, written(t, small())).Variants[0]
	require.Equal(t, []float64{1, 2, 3}, v.Ok.Times)
	require.Zero(t, v.Bad.Count)
	text := sound(t, largest())
	require.Less(t, len(text), 400_000)
	require.Equal(t, text, written(t, largest()))
	v = drawnBy(t, text).Variants[0]
	require.Equal(t, 1000, v.Ok.Count)
	require.Len(t, v.Ok.Times, 100)
	require.InDeltaSlice(t, []float64{9, 999}, []float64{v.Ok.Times[0], v.Ok.Times[99]}, 0, "one percent are within nine seconds")
}

func TestWhatDoesNotApplyIsNotDrawn(t *testing.T) {
	t.Parallel()
	r := small()
	r.variants[1].runs[0].Drain = math.NaN()
	text := written(t, r)
	require.Equal(t, 1, strings.Count(text, "drains at"))
	require.Nil(t, drawnBy(t, text).Variants[1].DrainsAt)
	require.NotNil(t, drawnBy(t, text).Variants[0].DrainsAt)
}

// named is a result in which each text from outside is this one.
func named(text string) *result {
	r := small()
	r.args, r.version = []string{text}, text
	r.Phases, r.changes = []sim.Phase{{Conditions: sim.Conditions{Fail: 1}}}, []string{text}
	r.variants[1].Name, r.variants[0].settings = text, []setting{{text, text, text}}
	return r
}

// FuzzTextsFromOutsideStayTexts holds that a page is sound with any text, and shows it.
func FuzzTextsFromOutsideStayTexts(f *testing.F) {
	for _, text := range []string{
		"settings", "a<b", "\x00\xff", "v2.0", "</script><script>", `"><img src=x onerror=alert(1)>`, `</title></svg></style></details>`,
		`{{.}}`, `<!-- ' & "`, "a\x1b[31mb\n\u202ec", "a\ufffeb",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if regexp.MustCompile(`NaN|Inf|ZgotmplZ`).MatchString(text) {
			return // the text looks like what must not be there
		}
		shown := strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(words.Escaped(text)) // what XML cannot have
		require.Contains(t, html.UnescapeString(sound(t, named(text))), `<th scope="col">`+shown+"</th>")
	})
}
