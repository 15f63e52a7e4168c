package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateRequiresLimitsOfEachVariant(t *testing.T) {
	t.Parallel()
	const small = "--limit 20 --offered 40 --seed 1 --vs max_attempts=1 "
	for args, want := range map[string][]string{
		"--require p99<1h":                             nil,
		"--require latency_p99_s<=3600":                nil,
		"--require failed>=1% --require throttled>0.0": nil,
		"--require failed<1%":                          {"settings: failed<1% does not hold: it is ", "max_attempts=1: failed<1% does not hold: it is 50.2 %"},
		"--require recover<1s":                         {"settings: recover<1s does not hold: it is —", "max_attempts=1: recover<1s does not hold: it is —"},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			out, errs, status := runSimulate(t, strings.Fields(small+args)...)
			require.NotEmpty(t, out, "the figures are printed in any case")
			lines := strings.Split(strings.TrimSpace(errs), "\n")
			if want == nil {
				require.Zero(t, status, errs)
				require.Empty(t, errs)
				return
			}
			require.Equal(t, exitBad, status)
			require.Len(t, lines, len(want))
			for i := range want {
				require.Contains(t, lines[i], "awsretry simulate: "+want[i])
			}
		})
	}
}

func TestSimulateRefusesARequirementThatSaysNothing(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"failed":      "must be a name, <, <=, > or >=, and a limit, such as failed<1%",
		"failed<soon": `"soon": must be a share in percent such as 1%, or from 0 to 1`,
		"failed<NaN":  `"NaN": must be a share in percent such as 1%, or from 0 to 1`,
		"failed<5":    `"5": must be a share in percent such as 1%, or from 0 to 1`,
		"failed<5s":   `"5s": must be a share in percent such as 1%, or from 0 to 1`,
		"p99<1%":      `"1%": must be a time such as 2s, or a number of seconds`,
		"p99<1d":      `"1d": must be a time such as 2s, or a number of seconds`,
		"waiting<5s":  `"5s": must be a number`,
		"begun/s>1%":  `"1%": must be a number`,
		"errors<1%":   `"errors" is no figure: failed_share, `,
	} {
		out, errs, status := runSimulate(t, "--require", value)
		require.Equal(t, exitUsage, status)
		require.Empty(t, out)
		require.Contains(t, errs, want)
	}
}

func TestSimulateSaysWhenCallsAreDone(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--calls 200 --limit 20 --offered 20 --seed 1":               "With the settings, 200 calls are done after ",
		"--calls 200 --limit 20 --offered 20 --workers 0 --seed 1":   "With the settings, 200 calls are done after ",
		"--calls 200 --limit 20 --offered 1 --duration 60s --seed 1": "With the settings, the 200 calls are not done after 1m0s, and 0 % of those that are fail.",
		"--calls 50 --offered 20 --fail 1 --seed 1":                  "100 % of them fail. They fail for want of quota (",
	} {
		out, errs, status := runSimulate(t, strings.Fields(args)...)
		require.Zero(t, status, errs)
		require.Contains(t, out, want, args)
	}
}

func TestSimulateRefusesAChangeAfterTheLastCall(t *testing.T) {
	t.Parallel()
	const few = "--calls 5 --limit 20 --offered 20 --seed 1 "
	for args, want := range map[string]string{
		few + "--outage 1m":                   "--calls 5: all calls are done at 1s, and nothing changes before 30s",
		few + "--phase 1s:fail=1":             "--calls 5: all calls are done at 1s, and nothing changes before 1s",
		few + "--phase 0s:fail=1 --outage 1m": "",
		few + "--outage 1m --duration 2m":     "",
	} {
		out, errs, status := runSimulate(t, strings.Fields(args)...)
		if want == "" {
			require.Zero(t, status, errs)
			continue
		}
		require.Equal(t, exitUsage, status, args)
		require.Empty(t, out)
		require.Contains(t, errs, "awsretry simulate: "+want)
	}
}
