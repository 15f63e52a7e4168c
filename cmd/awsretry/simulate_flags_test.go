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
	for args, want := range map[string]string{
		"--limit x":                             `invalid argument "x" for "--limit" flag: must be a number from 0.001 to 1000000`,
		"--limit 0":                             `invalid argument "0" for "--limit" flag: must be a number from 0.001 to 1000000`,
		"--burst 0.5":                           `invalid argument "0.5" for "--burst" flag: must be a number from 1 to 1000000`,
		"--within 0s":                           `invalid argument "0s" for "--within" flag: must be above 0s`,
		"--phase 30s":                           `invalid argument "30s" for "--phase" flag: must be TIME:KEY=VALUE;KEY=VALUE, such as 30s:offered=4x;fail=0.5`,
		"--phase x:fail=1":                      `invalid argument "x:fail=1" for "--phase" flag: "x": must be a time from 0s to 24h0m0s`,
		"--phase 30s:fail":                      `invalid argument "30s:fail" for "--phase" flag: "fail": must be a number from 0 to 1, or a multiple of the base such as 4x`,
		"--phase 30s:fail=2":                    `invalid argument "30s:fail=2" for "--phase" flag: "fail=2": must be a number from 0 to 1, or a multiple of the base such as 4x`,
		"--phase 30s:limit=-1x":                 `invalid argument "30s:limit=-1x" for "--phase" flag: "limit=-1x": must be a number from 0 to 1000000 before the x`,
		"--phase 30s:workers=1.5":               `invalid argument "30s:workers=1.5" for "--phase" flag: "workers=1.5": must be a whole number`,
		"--phase 30s:latency=2s..1s":            `invalid argument "30s:latency=2s..1s" for "--phase" flag: "latency=2s..1s": the first of the two times must not be above the second one`,
		"--phase 30s:timeout=soon":              `invalid argument "30s:timeout=soon" for "--phase" flag: "timeout=soon": must be a time from 0s to 1h, where 0s is none`,
		"--phase 30s:clients=2":                 `invalid argument "30s:clients=2" for "--phase" flag: "clients=2": the key must be offered, workers, limit, burst, fail, throttle, latency or timeout`,
		"--phase 30s:fail=1;fail=0":             `invalid argument "30s:fail=1;fail=0" for "--phase" flag: "fail=0": there is another fail`,
		"--phase 30s:fail=1 --phase 30s:fail=0": `invalid argument "30s:fail=0" for "--phase" flag: there is another phase at 30s`,
		"--phase 50s:fail=1 --duration 40s":     `--phase 50s: begins at the end of the run, which is at 40s, or after it`,
		"--phase 31s:workers=5 --workers 0":     `--phase 31s: workers need --workers above 0`,
		"--clients 2 --phase 31s:workers=150x":  `--phase 31s: at most 20000 workers in all`,
		"--vs quota_capacity=0":                 `invalid argument "quota_capacity=0" for "--vs" flag: "quota_capacity=0": must be a whole number from 1 to 1000000`,
		"--limit NaN":                           `invalid argument "NaN" for "--limit" flag: must be a number from 0.001 to 1000000`,
		"--workers -1":                          `invalid argument "-1" for "--workers" flag: must be a whole number from 0 to 20000`,
		"--clients 0":                           `invalid argument "0" for "--clients" flag: must be a whole number from 1 to 20000`,
		"--clients 600":                         `--clients and --workers: at most 20000 workers in all, not 60000`,
		"--offered -5":                          `invalid argument "-5" for "--offered" flag: must be a number from 0.001 to 1000000`,
		"--latency 5":                           `invalid argument "5" for "--latency" flag: must be a time such as 10ms, or two such as 5ms..20ms, from 0s to 1h`,
		"--latency 2s..1s":                      `invalid argument "2s..1s" for "--latency" flag: the first of the two times must not be above the second one`,
		"--fail 1.5":                            `invalid argument "1.5" for "--fail" flag: must be a share from 0 to 1, or two such as 0..0.5`,
		"--fail 0.5..0.5":                       `invalid argument "0.5..0.5" for "--fail" flag: the first of the two shares must be below the second one`,
		"--fail 10%":                            `invalid argument "10%" for "--fail" flag: must be a share from 0 to 1, or two such as 0..0.5`,
		"--outage -1s":                          `invalid argument "-1s" for "--outage" flag: must be from 0s to 24h0m0s`,
		"--outage 60":                           `invalid argument "60" for "--outage" flag: must be a time such as 60s`,
		"--duration 30s":                        `invalid argument "30s" for "--duration" flag: must be longer than 30s: the figures count from there`,
		"--duration 48h":                        `invalid argument "48h" for "--duration" flag: must be from 0s to 24h0m0s`,
		"--seed -1":                             `invalid argument "-1" for "--seed" flag: must be a whole number from 1 to 18446744073709551615`,
		"-o -":                                  `invalid argument "-" for "-o, --output" flag: must be the name of a file`,
		"--vs min_delay=30s":                    `--vs min_delay=30s: min_delay: "30s": must be at most max_backoff, which is 20s (built-in default)`,
		"--vs legacy":                           `invalid argument "legacy" for "--vs" flag: "legacy": must be standard, adaptive, hold, v2.0, v2.1, max_attempts=N, max_backoff=D, min_delay=D, max_elapsed=D, quota_capacity=N, send_limit=RATE:BURST, deadline=D or timeout=D`,
		"--vs v2.0,":                            `invalid argument "v2.0," for "--vs" flag: "": must be standard, adaptive, hold, v2.0, v2.1, max_attempts=N, max_backoff=D, min_delay=D, max_elapsed=D, quota_capacity=N, send_limit=RATE:BURST, deadline=D or timeout=D`,
		"--vs v2.0,v2.1":                        `invalid argument "v2.0,v2.1" for "--vs" flag: "v2.1": there is another behavior`,
		"--vs adaptive,hold":                    `invalid argument "adaptive,hold" for "--vs" flag: "hold": there is another retry_mode`,
		"--vs send_limit=20":                    `invalid argument "send_limit=20" for "--vs" flag: "send_limit=20": must be a rate from 0.01 to 1000000 and a burst from 1, such as 20:100`,
		"--vs send_limit=NaN:5":                 `invalid argument "send_limit=NaN:5" for "--vs" flag: "send_limit=NaN:5": must be a rate from 0.01 to 1000000 and a burst from 1, such as 20:100`,
		"--vs standard,send_limit=20:100":       `invalid argument "standard,send_limit=20:100" for "--vs" flag: send_limit: standard mode has no send rate`,
		"--vs max_attempts=0":                   `invalid argument "max_attempts=0" for "--vs" flag: "max_attempts=0": must be a decimal integer from 1 to 2147483647`,
		"--vs timeout=0s":                       `invalid argument "timeout=0s" for "--vs" flag: "timeout=0s": must be a duration above zero, such as 2s`,
		"--vs v2.0 --vs v2.0":                   `invalid argument "v2.0" for "--vs" flag: was given before`,
		"--duration 24h --offered 1000":         `--offered, --phase and --duration: at most 20000000 calls in all runs, not 864000000; --seed plays one run`,
		"--behavior v3":                         `invalid argument "v3" for "--behavior" flag: must be v2.0 or v2.1`,
		strings.Repeat("--vs v2.0,max_attempts=%d ", 8): `invalid argument "v2.0,max_attempts=8" for "--vs" flag: at most 7`,
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
}

// FuzzSimulateFlags holds that what a flag accepts can be played.
func FuzzSimulateFlags(f *testing.F) {
	f.Add("50", "5ms..20ms", "0..1", "v2.0,max_attempts=10", "60s", "30s:offered=4x;fail=0.5")
	f.Add("0.5", "1h", "0.25", "adaptive,deadline=1s", "24h", "0s:limit=0;burst=1;workers=2x")
	f.Add("1e6", "0s..0s", "1", "max_backoff=1ns,min_delay=0", "31s", "1h:latency=10x;timeout=1s;throttle=1")
	f.Add("50/", "..", "1..0", ",", "30s", "30s:")
	f.Add("NaN", "20ms..5ms", "NaN..1", "adaptive,quota_capacity=14", "-1s", "30s:offered=NaN")
	f.Add("1e400", "-1ms", "-0", "standard,adaptive", "", ":;=x")
	f.Fuzz(func(t *testing.T, limit, latency, fail, vs, duration, phase string) {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		s := newSimulation()
		s.define(fs)
		for name, text := range map[string]string{"limit": limit, "latency": latency, "fail": fail, "vs": vs, "duration": duration, "phase": phase} {
			// What is refused has an error, and leaves nothing that cannot be played either.
			if err := fs.Set(name, text); err != nil {
				require.NotEmpty(t, err.Error())
			}
		}
		scenario := s.scenario()
		require.Greater(t, scenario.Rate, 0.0)
		require.GreaterOrEqual(t, scenario.Burst, 1.0)
		require.Positive(t, scenario.Offered)
		require.GreaterOrEqual(t, scenario.Latency[0], time.Duration(0))
		require.LessOrEqual(t, scenario.Latency[0], scenario.Latency[1])
		require.Greater(t, scenario.Duration, scenario.Measured.From)
		last := -1.0
		for _, share := range s.fail.shares() {
			require.Greater(t, share, last)
			require.LessOrEqual(t, share, 1.0)
			last = share
		}
		for _, text := range s.vs {
			c, err := parseChange(text)
			require.NoError(t, err)
			for _, given := range c.given {
				require.NoError(t, given.Check())
			}
			require.GreaterOrEqual(t, c.timeout, time.Duration(0))
		}
		for _, p := range scenario.Phases {
			require.GreaterOrEqual(t, p.From, time.Duration(0))
			require.GreaterOrEqual(t, p.Burst, 1.0)
			require.GreaterOrEqual(t, p.Workers, 0)
			require.LessOrEqual(t, p.Latency[0], p.Latency[1])
			for _, share := range []float64{p.Fail, p.Throttle} {
				require.True(t, share >= 0 && share <= 1, "%v", share)
			}
			for _, rate := range []float64{p.Offered, p.Rate} {
				require.True(t, rate >= 0 && rate <= 5*fastest, "%v", rate)
			}
		}
		took, _ := sim.NewService(scenario, 1, time.Time{}).Take(time.Time{}.Add(time.Second))
		require.GreaterOrEqual(t, took, scenario.Latency[0])
	})
}

func TestVariantsOfTheSendRateAreInAdaptiveMode(t *testing.T) {
	t.Parallel()
	known := adaptive.SendLimit{Ceiling: 0.2, Burst: 3}
	for text, want := range map[string]adaptive.Config{
		"hold":                      {Controller: ratelimit.Hold},
		"send_limit=0.2:3":          {SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return known }},
		"send_limit=0.2:3,hold":     {Controller: ratelimit.Hold, SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return known }},
		"adaptive,send_limit=0.2:3": {SendLimit: func(retry.ScopeKey) adaptive.SendLimit { return known }},
	} {
		c, err := parseChange(text)
		require.NoError(t, err)
		require.Len(t, c.given, 1)
		require.Equal(t, "adaptive", c.given[0].Raw, text)
		got := c.strategy()
		require.Equal(t, want.Controller, got.Controller)
		require.Equal(t, want.SendLimit == nil, got.SendLimit == nil)
		if got.SendLimit != nil {
			require.Equal(t, known, got.SendLimit(retry.ScopeKey{}))
		}
	}
}
