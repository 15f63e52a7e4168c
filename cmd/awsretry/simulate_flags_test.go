package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/cmd/awsretry/sim"
	"github.com/awsretry/awsretry/modes/adaptive"
	"github.com/awsretry/awsretry/ratelimit"
	"github.com/awsretry/awsretry/retry"
)

func TestSimulateRefusesBadFlags(t *testing.T) {
	t.Parallel()
	const few = "--calls 5 --limit 20 --offered 20 --seed 1 "
	const variants = "must be standard, adaptive, cut-per-throttle, v2.0, v2.1, max_attempts=N, max_backoff=D, " +
		"min_delay=D, max_elapsed=D, quota_capacity=N, send_limit=RATE:BURST, deadline=D or timeout=D"
	for args, want := range map[string]string{
		"--limit -1":            `--limit: must be from 0 to 1000000, not -1`,
		"--burst 0.5":           `--burst: must be from 1 to 1000000, not 0.5`,
		"--within 0s":           `--within: must be above 0s`,
		"--phase 30s":           `--phase 30s: must be TIME:KEY=VALUE;KEY=VALUE, such as 30s:offered=4x;fail=0.5`,
		"--phase 30s:fail":      `--phase 30s:fail: "fail": must be a share such as 0.05 or 5%`,
		"--phase 30s:fail=2":    `--phase 30s:fail=2: "fail=2": must be a share such as 0.05 or 5%`,
		"--phase 30s:limit=-1x": `--phase 30s:limit=-1x: "limit=-1x": must be a number from 0 to 1000000 before the x`,
		"--phase 30s:limit=2x;burst=0.1;offered=9": `--phase 30s:limit=2x;burst=0.1;offered=9: burst: must be from 1 to 1000000, not 0.1`,
		"--phase 30s:latency=2s..1s":               `--phase 30s:latency=2s..1s: latency: must be from 0s to 1h, with the shorter time first`,
		"--phase 30s:clients=2":                    `--phase 30s:clients=2: "clients=2": the key must be offered, workers, limit, burst, fail, throttle, latency or timeout`,
		"--phase 2562047h:fail=1":                  `--phase 2562047h:fail=1: the change at 2562047h0m0s must come before the end of the run at 24h0m0s`,
		"--outage 23h59m50s":                       `--outage 23h59m50s: the change at 24h0m20s must come before the end of the run at 24h0m0s`,
		"--outage 4h --calls 5":                    `--outage 4h0m0s: the change at 4h0m30s must come before the end of the run at 4h0m0s`,
		"--phase 31s:workers=5 --workers 0":        `--phase 31s: workers need --workers above 0`,
		"--clients 2 --phase 31s:workers=150x":     `--clients and --workers: at most 20000 workers in all, not 30000`,
		"--workers -1":                             `--workers: must be from 0 to 20000, not -1`,
		"--clients 0":                              `--clients: must be from 1 to 20000`,
		"--seed 0":                                 `--seed: must be above 0`,
		"--duration 0s":                            `--duration: must be above 0`,
		"-o -":                                     `--output: must be the name of a file`,
		"--vs controller=foo":                      `--vs controller=foo: "controller=foo": must be cut-per-throttle`,
		"--vs behavior=v9":                         `--vs behavior=v9: "behavior=v9": must be v2.0 or v2.1`,
		"--clients 600":                            `--clients and --workers: at most 20000 workers in all, not 60000`,
		"--calls 100000000":                        `--calls: at most 20000000 calls in all runs, not 1000000000; --seed plays one run`,
		"--calls -4":                               `--calls: must be at least 0`,
		"--latency 5":                              `invalid argument "5" for "--latency" flag: must be a time such as 10ms, or two such as 5ms..20ms`,
		"--fail 0.5..0.5":                          `--fail 0.5..0.5: the second share must be above the first one, and at most 1`,
		"--fail 0..0.5 --outage 5s":                `--fail 0..0.5: the picture of failures is for a run without --phase and --outage`,
		"--fail 110%":                              `--fail 110%: must be a share such as 0.1 or 10%, or two such as 0..0.5`,
		"--vs adaptve":                             `--vs adaptve: "adaptve": ` + variants + `; did you mean adaptive?`,
		"--limit abc":                              `invalid argument "abc" for "--limit" flag: must be a rate such as 50, 50/s, 3000/min or 1000/h`,
		"--limit 5/year":                           `invalid argument "5/year" for "--limit" flag: must be a rate such as 50, 50/s, 3000/min or 1000/h`,
		"--offered 9/":                             `invalid argument "9/" for "--offered" flag: must be a rate such as 50, 50/s, 3000/min or 1000/h`,
		"--burst x":                                `invalid argument "x" for "--burst" flag: must be a number such as 100`,
		"--workers 1.5":                            `invalid argument "1.5" for "--workers" flag: must be a whole number such as 100`,
		"--calls many":                             `invalid argument "many" for "--calls" flag: must be a whole number such as 100`,
		"--outage 5":                               `invalid argument "5" for "--outage" flag: must be a time such as 30s, 1m30s or 250ms`,
		"--lose 5":                                 `invalid argument "5" for "--lose" flag: must be a time such as 30s, 1m30s or 250ms`,
		"--duration soon":                          `invalid argument "soon" for "--duration" flag: must be a time such as 30s, 1m30s or 250ms`,
		"--lose 0s":                                `--lose: must be above 0s and before the end of the run at 1m30s`,
		"--lose 40s --lose 90s":                    `--lose: must be above 0s and before the end of the run at 1m30s`,
		"--outage -1s":                             `--outage: must be from 0s to 24h0m0s`,
		"--duration 48h":                           `--duration: must be above 30s, where the figures begin to count, and at most 24h0m0s`,
		"--vs min_delay=30s":                       `--vs min_delay=30s: min_delay: "30s": must be at most max_backoff, which is 20s (built-in default)`,
		"--vs legacy":                              `--vs legacy: "legacy": ` + variants,
		"--vs v2.0,":                               `--vs v2.0,: "": ` + variants,
		"--vs v2.0,v2.1":                           `--vs v2.0,v2.1: "v2.1": there is another behavior`,
		"--vs standard,cut-per-throttle":           `--vs standard,cut-per-throttle: standard mode has no send rate`,
		"--vs send_limit=NaN:5":                    `--vs send_limit=NaN:5: "send_limit=NaN:5": must be a rate from 0.01 to 1000000 and a burst from 1, such as 20:100`,
		"--vs quota_capacity=0":                    `--vs quota_capacity=0: "quota_capacity=0": must be a whole number from 1 to 1000000`,
		"--vs max_attempts=0":                      `--vs max_attempts=0: "max_attempts=0": must be a decimal integer from 1 to 2147483647`,
		"--vs timeout=0s":                          `--vs timeout=0s: "timeout=0s": must be a duration above zero, such as 2s`,
		few + "--outage 1m":                        `--calls 5: all calls are done at 1s, and nothing changes before 30s`,
		few + "--phase 1s:fail=1":                  `--calls 5: all calls are done at 1s, and nothing changes before 1s`,
		"--vs v2.0 --vs v2.0":                      `--vs v2.0: was given before`,
		"--duration 24h --offered 1000":            `--offered, --outage, --phase and --duration: at most 20000000 calls in all runs, not 864000000; --seed plays one run`,
		strings.Repeat("--vs v2.0,max_attempts=%d ", 8): `--vs: at most 7`,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(args, "%d") {
				args = fmt.Sprintf(args, 1, 2, 3, 4, 5, 6, 7, 8)
			}
			out, errs, status := runSimulate(t, strings.Fields(args)...)
			require.Empty(t, out)
			require.Equal(t, "awsretry simulate: "+want+"; awsretry simulate -h shows the flags\n", errs)
			require.Equal(t, exitUsage, status)
		})
	}
	for _, args := range []string{few + "--phase 0s:fail=1 --outage 1m", few + "--outage 1m --duration 2m"} {
		_, errs, status := runSimulate(t, strings.Fields(args)...)
		require.Zero(t, status, errs)
	}
}

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
		var s simulation
		s.define(fs)
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

// completed is the simulation of some flags.
func completed(t *testing.T, args ...string) *simulation {
	t.Helper()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	var s simulation
	s.define(fs)
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
