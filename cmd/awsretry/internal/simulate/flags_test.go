package simulate

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/internal/lint"
	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/config"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

// FuzzSimulateFlags holds that what a flag accepts can be played.
func FuzzSimulateFlags(f *testing.F) {
	f.Add("50", "5ms..20ms", "0..1", "v2.0,max_attempts=10", "60s", "30s:offered=4x;fail=0.5")
	f.Add("0.5", "1h", "0.25", "adaptive,deadline=1s", "24h", "0s:limit=0;burst=1;workers=2x")
	f.Add("1e6", "0s..0s", "1", "max_backoff=1ns,min_delay=0", "31s", "1h:latency=10x;timeout=1s;throttle=1")
	f.Add("50/", "..", "1..0", ",", "30s", "30s:")
	f.Add("NaN", "20ms..5ms", "NaN..1", "adaptive,quota_capacity=14", "-1s", "30s:offered=NaN")
	f.Add("0", "0h", "0", "adaptive", "555550h", "0:workers=0")
	f.Add("1e400", "-1ms", "-0", "standard,adaptive", "", ":;=x")
	f.Fuzz(func(t *testing.T, limit, latency, fail, vs, duration, phase string) {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		var s Simulation
		s.Define(fs)
		for name, text := range map[string]string{"limit": limit, "latency": latency, "fail": fail, "duration": duration, "phase": phase} {
			_ = fs.Set(name, text) // it may be refused
		}
		v := variant{Variant: sim.Variant{Name: vs}}
		if v.parse() == nil {
			for _, given := range v.given {
				require.NoError(t, given.Check())
			}
			require.GreaterOrEqual(t, v.AttemptTimeout, time.Duration(0))
		}
		if s.complete() != nil {
			return
		}
		require.Positive(t, s.Duration-s.Measured.From)
		last := -1.0
		for _, share := range s.shares {
			require.Greater(t, share, last)
			require.LessOrEqual(t, share, 1.0)
			last = share
		}
		for _, p := range append(s.Phases, sim.Phase{Conditions: s.Conditions}) {
			require.GreaterOrEqual(t, p.From, time.Duration(0))
			require.GreaterOrEqual(t, p.Burst, 1.0)
			require.GreaterOrEqual(t, p.Workers, 0)
			require.GreaterOrEqual(t, p.Latency[0], time.Duration(0))
			require.LessOrEqual(t, p.Latency[0], p.Latency[1])
			for _, share := range []float64{p.Fail, p.Throttle} {
				require.True(t, share >= 0 && share <= 1, "%v", share)
			}
			for _, rate := range []float64{p.Offered, p.Rate} {
				require.True(t, rate >= 0 && rate <= 5*fastest, "%v", rate)
			}
		}
		took, _ := sim.NewService(s.Scenario, 1, time.Time{}).Take(time.Time{}.Add(time.Second))
		require.GreaterOrEqual(t, took, s.Latency[0])
	})
}

// nowhere is a program on a machine without settings.
func nowhere() *Program {
	sources := config.Sources{FS: fstest.MapFS{}, LookupEnv: func(string) (string, bool) { return "", false }}
	return &Program{Query: config.Query{Sources: sources}, Warn: func([]lint.Diagnostic) {}}
}

// completed is the simulation of some flags.
func completed(t *testing.T, args ...string) *Simulation {
	t.Helper()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	var s Simulation
	s.Define(fs)
	require.NoError(t, fs.Parse(args))
	require.NoError(t, s.complete())
	return &s
}

func TestPhasesChangeWhatEarlierOnesLeave(t *testing.T) {
	t.Parallel()
	s := completed(t, "--limit", "80", "--outage", "20s", "--phase", "40s:limit=0.5x;latency=3x;workers=0.333x", "--phase", "35s:offered=7;fail=0.5",
		"--timeout", "2s", "--phase", "70s:limit=0;timeout=4x;offered=2x")
	var froms []time.Duration
	for _, p := range s.Phases {
		froms = append(froms, p.From)
	}
	require.Equal(t, []time.Duration{30 * time.Second, 35 * time.Second, 40 * time.Second, 50 * time.Second, 70 * time.Second}, froms)
	require.Equal(t, []string{"fail=1", "offered=7;fail=0.5", "limit=0.5x;latency=3x;workers=0.333x", "fail=0", "limit=0;timeout=4x;offered=2x"}, s.changes)
	want := sim.Conditions{Rate: 80, Burst: 80, Offered: 400, Workers: 100, Latency: s.Latency, Timeout: 2 * time.Second}
	require.Equal(t, want, s.Conditions)
	want.Fail = 1
	require.Equal(t, want, s.Phases[0].Conditions)
	want.Fail, want.Offered = 0.5, 7
	require.Equal(t, want, s.Phases[1].Conditions)
	want.Rate, want.Latency, want.Workers = 40, [2]time.Duration{15 * time.Millisecond, 60 * time.Millisecond}, 33
	require.Equal(t, want, s.Phases[2].Conditions)
	want.Fail = 0
	require.Equal(t, want, s.Phases[3].Conditions)
	want.Rate, want.Timeout, want.Offered = 0, 8*time.Second, 800
	require.Equal(t, want, s.Phases[4].Conditions)
	require.Equal(t, 130*time.Second, s.Duration)
}

func TestVariantsOfTheSendRateAreInAdaptiveMode(t *testing.T) {
	t.Parallel()
	known := adaptive.SendLimit{Ceiling: 0.2, Burst: 3}
	for _, text := range []string{"cut-per-throttle", "send_limit=0.2:3", "send_limit=0.2:3,cut-per-throttle", "adaptive,send_limit=0.2:3"} {
		v := variant{Variant: sim.Variant{Name: text}}
		require.NoError(t, v.parse())
		require.Len(t, v.given, 1)
		require.Equal(t, "adaptive", v.given[0].Raw, text)
		require.Equal(t, strings.Contains(text, "cut"), v.strategy.Controller == ratelimit.CutPerThrottle)
		require.Equal(t, strings.Contains(text, "send"), v.strategy.SendLimit != nil)
		if v.strategy.SendLimit != nil {
			require.Equal(t, known, v.strategy.SendLimit(retry.ScopeKey{}))
		}
	}
}
