package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateRequiresLimitsOfEachVariant(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--require p99<1h --require latency_p99_s<=3600 --require failed>=1% --require throttled>0.0": "",
		"--require failed<1%":  "settings: failed<1% does not hold: it is |max_attempts=1: failed<1% does not hold: it is 50.2 %",
		"--require recover<1s": "settings: recover<1s does not hold: it is —|max_attempts=1: recover<1s does not hold: it is —",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			out, errs, status := runSimulate(t, strings.Fields("--limit 20 --offered 40 --seed 1 --vs max_attempts=1 "+args)...)
			require.NotEmpty(t, out, "the figures are printed in any case")
			require.Equal(t, want == "", status == exitFine)
			require.Equal(t, want == "", errs == "")
			for i, line := range strings.Split(want, "|") {
				require.Contains(t, strings.Split(errs, "\n")[i], line)
			}
		})
	}
}

func TestSimulateRefusesARequirementThatSaysNothing(t *testing.T) {
	t.Parallel()
	const share, duration = "must be a share in percent such as 1%, or from 0 to 1", "must be a time such as 2s, or a number of seconds"
	for value, want := range map[string]string{
		"failed":      "must be a name, <, <=, > or >=, and a limit, such as failed<1%",
		"failed<soon": `"soon": ` + share,
		"failed<NaN":  `"NaN": ` + share,
		"failed<5":    `"5": ` + share,
		"p99<1%":      `"1%": ` + duration,
		"waiting<5s":  `"5s": must be a number`,
		"errors<1%":   `"errors" is no figure: failed_share, `,
	} {
		out, errs, status := runSimulate(t, "--require", value)
		require.Equal(t, exitUsage, status)
		require.Empty(t, out)
		require.Contains(t, errs, want)
	}
}
