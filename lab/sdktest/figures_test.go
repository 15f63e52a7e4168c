//go:build long

package sdktest

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/awsretry/awsretry"
	"github.com/awsretry/awsretry/awssdk"
	"github.com/awsretry/awsretry/lab/pictures"
	"github.com/awsretry/awsretry/modes/standard"
	"github.com/awsretry/awsretry/retry"
)

const (
	readme = "../../README.md"
	// The figures of the SDK differ from run to run, so the README has the median and the quartiles, and the SDK has more
	// runs than these where they are written.
	readmeRuns = 31
	// The runs of awsretry are alike, so that a few show whether the README is right.
	checkRuns = 7
)

// quartiles are the lower quartile, the median and the upper quartile of a figure of several runs.
type quartiles [3]float64

func quartilesOf(figures []float64) (q quartiles) {
	slices.Sort(figures)
	for i := range q {
		q[i] = figures[(i+1)*(len(figures)+1)/4-1]
	}
	return q
}

// text writes one figure where all look the same.
func (q quartiles) text(decimals int, unit string) string {
	var figures [3]string
	for i, figure := range q {
		figures[i] = strconv.FormatFloat(figure, 'f', decimals, 64)
	}
	if figures[0] == figures[2] {
		return figures[1] + unit
	}
	return fmt.Sprintf("%s%s (%s to %s)", figures[1], unit, figures[0], figures[2])
}

var quartilesPattern = regexp.MustCompile(`^([\d.]+)[^(]*(?:\(([\d.]+) to ([\d.]+)\))?`)

// quartilesIn reads what text has written.
func quartilesIn(t *testing.T, cell string) (q quartiles) {
	t.Helper()
	match := quartilesPattern.FindStringSubmatch(cell)
	require.NotNil(t, match, cell)
	if match[2] == "" {
		match[2], match[3] = match[1], match[1]
	}
	for i, figure := range []string{match[2], match[1], match[3]} {
		var err error
		q[i], err = strconv.ParseFloat(figure, 64)
		require.NoError(t, err)
	}
	return q
}

// down is a service in which table A is down, and one request in a hundred to table B fails.
type down struct{}

func (down) Do(r *http.Request) (*http.Response, error) {
	body := bodyOf(r)
	pause(latency)
	if twoTables.isA(r, body) || rand.Float64() < 0.01 {
		return jsonError(http.StatusInternalServerError, ""), nil
	}
	return response(http.StatusOK, `{}`), nil
}

// TestTablesOfTheReadme plays the tables and the picture of README.md. With -update it writes them.
func TestTablesOfTheReadme(t *testing.T) {
	type row struct {
		title    string
		decimals int
		unit     string
		figure   func(a, b *crew) float64
	}
	var lines []string
	for _, table := range []struct {
		rivals  [2]rival
		runs    int // of the SDK, for the README
		service func() aws.HTTPClient
		rows    []row
		draw    bool
	}{
		{[2]rival{rivals[0], rivals[2]}, 2 * readmeRuns, func() aws.HTTPClient { return down{} }, []row{
			{"A is down, standard mode, the default: calls to B that fail", 2, " %", func(_, b *crew) float64 { return 100 * b.failedShare() }},
		}, false},
		{[2]rival{rivals[1], rivals[3]}, 4 * readmeRuns, func() aws.HTTPClient { return newMeter(twoTables) }, []row{
			{"A allows 5/s, adaptive mode: calls to A that succeed", 1, "/s", func(a, _ *crew) float64 { return perSecond(a.succeeded) }},
			{"the same: calls to B that succeed, of 80/s", 1, "/s", func(_, b *crew) float64 { return perSecond(b.succeeded) }},
			{"the same: p99 of a call to B", 2, " s", func(_, b *crew) float64 { return b.p99().Seconds() }},
		}, true},
	} {
		rows := make([]string, len(table.rows))
		for i, row := range table.rows {
			rows[i] = "| " + row.title + " |"
		}
		var first [2]played
		var figures [2][][]float64 // by rival and row
		t.Run(table.rows[0].title, func(t *testing.T) {
			for of, rival := range table.rivals {
				runs := readmeRuns
				switch {
				case *update && !rival.ours:
					runs = table.runs
				case !*update && rival.ours:
					runs = checkRuns
				}
				figures[of] = make([][]float64, len(rows))
				t.Run(rival.name, func(t *testing.T) {
					t.Parallel()
					for run := range runs {
						synctest.Test(t, func(t *testing.T) {
							cfg := rival.config(t, table.service())
							cfg.Credentials = aws.AnonymousCredentials{} // a signature takes time and says nothing here
							a, b := twoTables.drive(t, cfg, true)
							for i, row := range table.rows {
								figures[of][i] = append(figures[of][i], row.figure(a, b))
							}
							if run == 0 {
								first[of] = played{name: strings.Replace(rival.name, "v2", "v2 v"+aws.SDKVersion, 1), a: a.ends, b: b.ends}
							}
						})
					}
				})
			}
		})
		for _, of := range figures {
			for i, row := range table.rows {
				rows[i] += " " + quartilesOf(of[i]).text(row.decimals, row.unit) + " |"
			}
		}
		lines = append(lines, rows...)
		if *update && table.draw {
			picture(first).Require(t, readme, 0, true)
		}
	}
	t.Log("\n" + strings.Join(lines, "\n"))
	requireInReadme(t, lines)
}

// hold says whether the median of other runs is within the quartiles, but for the last decimal.
func (q quartiles) hold(other quartiles, decimals int) bool {
	last := 1.01 * math.Pow10(-decimals)
	return q[0]-last <= other[1] && other[1] <= q[2]+last
}

// requireInReadme holds that of each figure the median is within the quartiles of the one in the README, or that one
// within the quartiles of this. With -update it writes the lines.
func requireInReadme(t *testing.T, lines []string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	require.Contains(t, string(text), "| | aws-sdk-go-v2 v"+aws.SDKVersion+" | awsretry |")
	require.Contains(t, string(text), fmt.Sprintf("of %d runs", readmeRuns))
	page := strings.Split(string(text), "\n")
	for _, line := range lines {
		cells := strings.Split(line, " | ")
		at := slices.IndexFunc(page, func(l string) bool { return strings.HasPrefix(l, cells[0]+" | ") })
		require.GreaterOrEqual(t, at, 0, "no line of the README begins with %q", cells[0])
		if *update {
			page[at] = line
			continue
		}
		was := strings.Split(page[at], " | ")
		require.Len(t, was, len(cells))
		for i := 1; i < len(cells); i++ {
			shown, played := quartilesIn(t, was[i]), quartilesIn(t, cells[i])
			decimals := 1
			if strings.Contains(cells[i], " ") && !strings.Contains(cells[i], "/s") { // in percent or seconds
				decimals = 2
			}
			require.True(t, shown.hold(played, decimals) || played.hold(shown, decimals), "%s\n%s\nmake readme writes the lines anew", page[at], line)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(readme, []byte(strings.Join(page, "\n")), 0o600))
	}
}

// played has the times at which the calls of a run succeeded.
type played struct {
	name string
	a, b []time.Duration
}

// picture is the one of README.md, of the two runs side by side.
func picture(runs [2]played) pictures.Picture {
	return pictures.Picture{
		Name: "two-tables", Height: 230,
		Alt: "Successful calls per second: the SDK slows B far below 80; awsretry keeps B at 80 and A at 5.",
		Draw: func(c pictures.Canvas) error {
			var row []*plot.Plot
			for _, run := range runs {
				p, err := run.plot(c)
				if err != nil {
					return err
				}
				row = append(row, p)
			}
			c.Tiles(row)
			c.Key([]string{"B, healthy", "A, allows 5 requests/s"}, []color.Color{c.Good, c.Bad})
			return nil
		},
	}
}

func (r played) plot(c pictures.Canvas) (*plot.Plot, error) {
	p := c.Axes(r.name, "seconds", "calls/s that succeed", []float64{0, 10, 20}, []float64{0, 40, 80})
	p.X.Max, p.Y.Max = (warmUp + measured).Seconds(), 90
	for _, line := range []struct {
		ends  []time.Duration
		color color.Color
	}{{r.b, c.Good}, {r.a, c.Bad}} {
		points := make(plotter.XYs, (warmUp+measured)/time.Second)
		for i := range points {
			points[i].X = float64(i) + 0.5
		}
		for _, end := range line.ends {
			if second := int(end / time.Second); second < len(points) {
				points[second].Y++
			}
		}
		drawn, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		drawn.Color, drawn.Width = line.color, 2
		p.Add(drawn)
	}
	return p, nil
}

// oldRetryer is that of the SDK with the costs and the backoff that it had before v1.48.0.
func oldRetryer() aws.Retryer {
	return sdkretry.NewStandard(func(o *sdkretry.StandardOptions) {
		o.RetryCost, o.Backoff = 5, sdkretry.NewExponentialJitterBackoff(sdkretry.DefaultMaxBackoff)
	})
}

// moves are the columns of the first table of docs/moving.md.
var moves = []struct {
	name    string
	prepare func(cfg *aws.Config) error
}{
	{"SDK before v1.48", func(cfg *aws.Config) error {
		cfg.Retryer = oldRetryer
		return nil
	}},
	{"SDK since v1.48", func(*aws.Config) error { return nil }},
	{"awsretry, v2.1 (default)", func(cfg *aws.Config) error { return awssdk.Install(cfg, hermetic()) }},
	{"awsretry, v2.0", func(cfg *aws.Config) error {
		return awssdk.Install(cfg, hermetic(awsretry.WithStandard(standard.Config{Behavior: retry.V20})))
	}},
}

// movingRow returns the cells of a row of that table.
func movingRow(t *testing.T, title string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/moving.md")
	require.NoError(t, err)
	_, row, found := strings.Cut(string(page), "\n| "+title+" | ")
	require.True(t, found, "docs/moving.md has no row %q", title)
	row, _, _ = strings.Cut(row, " |\n")
	cells := strings.Split(row, " | ")
	require.Len(t, cells, len(moves), title)
	return cells
}

// TestNumbersOfTheMovingPage checks the delays and attempts of docs/moving.md, with Install and
// without. The jitter is random, so the longest of many delays is close to the longest possible
// one.
func TestNumbersOfTheMovingPage(t *testing.T) {
	const calls = 200
	serverError, throttled := fail(500, ""), fail(400, "ThrottlingException")
	dynamo := func(ctx context.Context, cfg aws.Config) error { return describeWith(ctx, cfg) }
	for _, c := range []struct {
		delays, attempts string // the rows
		answer           answerFunc
		call             func(ctx context.Context, cfg aws.Config) error
	}{
		{"first delay after a throttle", "attempts, the first included", throttled, listQueues},
		{"first delay after any other failure", "attempts, the first included", serverError, listQueues},
		{"first delay after a throttle", "attempts in DynamoDB and DynamoDB Streams", throttled, dynamo},
		{"first delay after any other failure, in DynamoDB and DynamoDB Streams", "attempts in DynamoDB and DynamoDB Streams", serverError, dynamo},
	} {
		delays, attempts := movingRow(t, c.delays), movingRow(t, c.attempts)
		for i, move := range moves {
			t.Run(c.delays+"/"+move.name, func(t *testing.T) {
				want, err := time.ParseDuration(strings.ReplaceAll(delays[i], " ", ""))
				require.NoError(t, err)
				synctest.Test(t, func(t *testing.T) {
					longest := time.Duration(0)
					for range calls {
						s := newScript(c.answer)
						cfg := configFor(s)
						require.NoError(t, move.prepare(&cfg))
						require.Error(t, c.call(t.Context(), cfg))
						require.Equal(t, attempts[i], strconv.Itoa(s.requests()))
						longest = max(longest, s.gaps()[0])
					}
					require.LessOrEqual(t, longest, want)
					require.Greater(t, longest, want*9/10)
				})
			})
		}
	}
}

// TestOutageOfTheMovingPage checks the row about an outage. With v2.0 the quota lasts for about the
// outage, so that minutes differ most.
func TestOutageOfTheMovingPage(t *testing.T) {
	row := movingRow(t, "calls that fail in a minute with an outage of 20 s")
	for i, move := range moves {
		t.Run(move.name, func(t *testing.T) {
			want, err := strconv.ParseFloat(strings.TrimSuffix(row[i], " %"), 64)
			require.NoError(t, err)
			minutes, spread := 1, 0.5
			if move.name == "awsretry, v2.0" {
				minutes, spread = 10, 0.5
			}
			sum := 0.0
			for range minutes {
				synctest.Test(t, func(t *testing.T) { sum += failedInAMinute(t, move.prepare) })
			}
			mean := sum / float64(minutes)
			t.Logf("%.1f %%", mean)
			require.InDelta(t, want, mean, spread, "percent of the calls")
		})
	}
}

// failedInAMinute returns how many percent of the calls fail that four workers make in a minute. A
// call takes 10 ms, and each worker makes the next 50 ms later. From second 10 to second 30 the
// server refuses connections.
func failedInAMinute(t *testing.T, prepare func(cfg *aws.Config) error) float64 {
	t.Helper()
	start := time.Now()
	cfg := configFor(answerFunc(func(*http.Request) (*http.Response, error) {
		if at := time.Since(start); at >= 10*time.Second && at < 30*time.Second {
			return nil, syscall.ECONNREFUSED
		}
		pause(10 * time.Millisecond)
		return response(200, `{}`), nil
	}))
	require.NoError(t, prepare(&cfg))
	client := sqs.NewFromConfig(cfg)
	all := &crew{workers: workers, between: 50 * time.Millisecond, call: func(ctx context.Context) error {
		_, err := client.ListQueues(ctx, &sqs.ListQueuesInput{})
		return err
	}}
	work(t, 0, time.Minute, func() {}, all)
	return 100 * all.failedShare()
}
