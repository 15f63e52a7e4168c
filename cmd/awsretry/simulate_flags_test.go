package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateRefusesBadFlags(t *testing.T) {
	t.Parallel()
	const few = "--calls 5 --limit 20 --offered 20 --seed 1 "
	const variants = "must be one of standard, adaptive, cut-per-throttle, debt-limit, v2.0, v2.1, max_attempts=N, max_backoff=D, " +
		"min_delay=D, max_elapsed=D, quota_capacity=N, send_limit=RATE:BURST, deadline=D, timeout=D"
	for args, want := range map[string]string{
		"--phase 30s:limit=2x;burst=0.1;offered=9":      `--phase 30s:limit=2x;burst=0.1;offered=9: burst: must be from 1 to 1000000, not 0.1`,
		"--phase 30s:latency=2s..1s":                    `--phase 30s:latency=2s..1s: latency: must be from 0s to 1h, with the shorter time first`,
		"--phase 30s:clients=2":                         `--phase 30s:clients=2: "clients=2": the key must be offered, workers, limit, burst, fail, throttle, latency or timeout`,
		"--phase 2562047h:fail=1":                       `--phase 2562047h:fail=1: the change at 2562047h0m0s must come before the end of the run at 24h0m0s`,
		"--outage 23h59m50s":                            `--outage 23h59m50s: the change at 24h0m20s must come before the end of the run at 24h0m0s`,
		"--outage 4h --calls 5":                         `--outage 4h0m0s: the change at 4h0m30s must come before the end of the run at 4h0m0s`,
		"--phase 31s:workers=5 --workers 0":             `--phase 31s: workers need --workers above 0`,
		"--clients 2 --phase 31s:workers=150x":          `--clients and --workers: at most 20000 workers in all, not 30000`,
		"-o -":                                          `--output: must be a file, such as report.html`,
		"--clients 600":                                 `--clients and --workers: at most 20000 workers in all, not 60000`,
		"--calls 100000000":                             `--calls: must be from 1 to 2000000, as all runs together have at most 20000000`,
		"--latency 5":                                   `invalid argument "5" for "--latency" flag: must be a time such as 10ms, or two such as 5ms..20ms`,
		"--fail 0.5..0.5":                               `invalid argument "0.5..0.5" for "--fail" flag: must be a share such as 0.1 or 10%, or two such as 0..0.5, with the smaller one first`,
		"--fail 0..0.5 --outage 5s":                     `--fail 0..0.5: the picture of failures is for a run without --phase and --outage`,
		"--vs adaptve":                                  `--vs adaptve: "adaptve": ` + variants + `; did you mean adaptive?`,
		"--limit 5/year":                                `invalid argument "5/year" for "--limit" flag: must be a rate such as 50, 50/s, 3000/min or 1000/h`,
		"--offered 9/":                                  `invalid argument "9/" for "--offered" flag: must be a rate such as 50, 50/s, 3000/min or 1000/h`,
		"--burst 0.5":                                   `--burst: must be from 1 to 1000000, not 0.5`,
		"--phase 30s:limit=-1x":                         `--phase 30s:limit=-1x: "limit=-1x": must be a number from 0 to 1000000 before the x`,
		"--workers 1.5":                                 `invalid argument "1.5" for "--workers" flag: must be a whole number such as 100`,
		"--lose 40s --lose 90s":                         `--lose: must be above 0s and before the end of the run at 1m30s, such as 45s`,
		"--duration 48h":                                `--duration: must be above 30s, where the figures begin to count, and at most 24h0m0s, such as 2m`,
		"--vs min_delay=30s":                            `--vs min_delay=30s: min_delay: "30s": must be at most max_backoff, which is 20s (built-in default)`,
		"--vs adaptive,debt-limit=":                     `--vs adaptive,debt-limit=: "debt-limit=": takes no value`,
		"--vs legacy":                                   `--vs legacy: "legacy": ` + variants,
		"--vs v2.0,":                                    `--vs v2.0,: "": ` + variants,
		"--vs v2.0,v2.1":                                `--vs v2.0,v2.1: "v2.1": there is another behavior`,
		"--vs standard,cut-per-throttle":                `--vs standard,cut-per-throttle: standard mode has no send rate`,
		"--vs send_limit=NaN:5":                         `--vs send_limit=NaN:5: "send_limit=NaN:5": must be a rate from 0.01 to 1000000 and a burst from 1, such as 20:100`,
		few + "--outage 1m":                             `--calls 5: all calls are done at 1s, and nothing changes before 30s`,
		few + "--phase 1s:fail=1":                       `--calls 5: all calls are done at 1s, and nothing changes before 1s`,
		"--vs v2.0 --vs v2.0":                           `--vs v2.0: was given before`,
		"--duration 24h --offered 1000":                 `--offered, --outage, --phase and --duration: at most 20000000 calls in all runs, not 864000000; --seed plays one run`,
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
