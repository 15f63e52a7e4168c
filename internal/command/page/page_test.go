//go:build !race

package page_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/page"
	"github.com/awsretry/awsretry/internal/command/sim"
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

// played is the report of a scenario with some variants, whose other texts it takes as they are.
func played(t *testing.T, s sim.Scenario, r *page.Report, variants ...sim.Variant) *page.Report {
	t.Helper()
	r.Limit = s.Rate
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
	return played(t, usual(), r,
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
	return played(t, s, r,
		sim.Variant{Name: "settings", New: inStandardMode(standard.Config{})},
		sim.Variant{Name: "max_attempts=10", New: inStandardMode(standard.Config{MaxAttempts: 10})})
}

// largest has as much of everything as a report of eight variants can have.
func largest() *page.Report {
	r := &page.Report{Limit: 12345.6, Command: "awsretry simulate", Question: page.OfFailures}
	for i := range 8 {
		v := page.Variant{
			Name: "max_attempts=" + strconv.Itoa(i) + ",max_backoff=20s,retry_mode=adaptive",
			Result: &sim.Result{
				Calls: 100_000, Goodput: 12345.6, FailedShare: 0.123, NoQuotaShare: 0.12, Duration: 6*time.Hour - 7*time.Second, Width: 216 * time.Second,
				Longest: sim.Call{Began: 1, Ended: time.Hour, Err: retry.ErrQuotaExhausted},
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
			at := time.Duration(j) * 3 * time.Second
			v.Result.Longest.Attempts = append(v.Result.Longest.Attempts, sim.Attempt{
				Sent: at + time.Second, Ended: at + 1020*time.Millisecond, SendWait: 200 * time.Millisecond, Throttled: j%3 == 0, Err: retry.ErrQuotaExhausted,
			})
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

func TestSimulatedRunsHaveTheGoldenPages(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(t *testing.T) *page.Report{"overload": overload, "outage": outage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := written(t, report(t))
			requireSound(t, got)
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
