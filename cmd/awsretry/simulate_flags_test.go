package main

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/awsretry/awsretry/internal/command/sim"
)

// FuzzSimulateFlags holds that what a flag accepts can be played.
func FuzzSimulateFlags(f *testing.F) {
	f.Add("50", "5ms..20ms", "0..1", "v2.0,max_attempts=10", "60s", "30s:offered=4x;fail=0.5")
	f.Add("0.5", "1h", "0.25", "adaptive,deadline=1s", "24h", "0s:limit=0;burst=1;workers=2x")
	f.Add("1e6", "0s..0s", "1", "max_backoff=1ns,min_delay=0", "31s", "1h:latency=10x;timeout=1s;throttle=1")
	f.Add("50/", "..", "1..0", ",", "30s", "30s:")
	f.Add("NaN", "20ms..5ms", "NaN..1", "sdk-adaptive,quota_capacity=14", "-1s", "30s:offered=NaN")
	f.Add("1e400", "-1ms", "-0", "standard,adaptive", "", ":;=x")
	f.Fuzz(func(t *testing.T, limit, latency, fail, vs, duration, phase string) {
		fs := &flags{FlagSet: flag.NewFlagSet("", flag.ContinueOnError)}
		s := newSimulation(fs)
		for name, text := range map[string]string{"limit": limit, "latency": latency, "fail": fail, "vs": vs, "duration": duration, "phase": phase} {
			// What is refused has an error, and leaves nothing that cannot be played either.
			if err := fs.Set(name, text); err != nil {
				require.NotEmpty(t, err.Error())
			}
		}
		played := s.scenario()
		require.Greater(t, played.Rate, 0.0)
		require.GreaterOrEqual(t, played.Burst, 1.0)
		require.Positive(t, played.Offered)
		require.GreaterOrEqual(t, played.Latency[0], time.Duration(0))
		require.LessOrEqual(t, played.Latency[0], played.Latency[1])
		require.Greater(t, played.Duration, played.Measured.From)
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
		for _, p := range played.Phases {
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
		took, _ := sim.NewService(played, 1, time.Time{}).Take(time.Time{}.Add(time.Second))
		require.GreaterOrEqual(t, took, played.Latency[0])
	})
}
