//go:build !race

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of a terminal has as many parts as it needs, folds inside no word, and has every cell.
func TestSimulateTableFitsTheTerminal(t *testing.T) {
	t.Parallel()
	args := strings.Fields("simulate --offered 10 --latency 5ms..3s --vs max_attempts=10,min_delay=10ms,max_backoff=200s,v2.0 " +
		"--vs adaptive --vs cut-per-throttle,deadline=5s --vs quota_capacity=14,timeout=2s")
	words := func(text string) (all []string) {
		_, table, _ := strings.Cut(text, "\n\n")
		all = slices.DeleteFunc(strings.Fields(table), func(word string) bool { return word == "failed" })
		slices.Sort(all)
		return slices.Compact(all)
	}
	wide, _, _ := invoke(t, world(nil, nil), args...)
	for _, width := range []int{80, 60} {
		var narrow bytes.Buffer
		require.Zero(t, run(t.Context(), args, system{out: &narrow, width: width, sources: world(nil, nil)}))
		requireWidth(t, width, narrow.String(), "simulate")
		require.Equal(t, words(wide), words(narrow.String()), "%d columns", width)
		require.Greater(t, strings.Count(narrow.String(), "\nfailed  "), 1)
	}
}

func TestSimulateAnswersInSentences(t *testing.T) {
	t.Parallel()
	const calls = "--calls 200 --limit 20 --seed 1 --offered "
	for args, want := range map[string]string{
		"--limit 20 --offered 10 --vs max_attempts=5": "With the settings, 0 % of the calls fail, and 10 a second succeed of 10 that callers want. " +
			"max_attempts=5: no difference beyond that of the seeds. ",
		"--fail 1 --limit 20 --offered 0.5 --workers 1 --vs max_attempts=10,min_delay=10s,max_backoff=200s": "of 0.5 that callers want. They fail for want of quota (93.9 %) and of attempts (3.57 %). " +
			"Calls do not keep up with max_attempts=10,min_delay=10s,max_backoff=200s: fewer end than callers want. max_attempts=10,min_delay=10s,max_backoff=200s: 100 % fewer requests. ",
		"--phase 0s:workers=0 --seed 1 --vs v2.0": "With the settings, no call has ended in the time that counts. Calls do not keep up with the settings and v2.0: fewer end than callers want. " +
			"v2.0: no difference beyond that of the seeds. ",
		"--seed 1 --offered 40 --vs timeout=1ms": "With the settings, 0 % of the calls fail, and 40.1 a second succeed of 40 that callers want. " +
			"timeout=1ms: 100 % of the calls fail, none with the settings. ",
		"--limit 500 --offered 100 --fail 20% --workers 0 --seed 1 --vs max_attempts=10": "They fail for want of attempts (0.678 %). " +
			"max_attempts=10: no call fails, 0.678 % with the settings; p99 21.7 ms longer. ",
		"--limit 6000/min --offered 100/s --seed 1 --fail 60% --vs max_attempts=1": "max_attempts=1: 60.5 % of the calls fail, 59.6 % with the settings; 5.02 % fewer requests; p99 491 ms shorter. ",
		"--seed 1 --offered 40 --timeout 1ms":                                      "They fail for want of quota (",
		calls + "20":                                                               "With the settings, 200 calls are done after ",
		calls + "20 --workers 0":                                                   "With the settings, 200 calls are done after ",
		calls + "1 --duration 60s":                                                 "With the settings, the 200 calls are not done after 1m0s, and 0 % of those that are fail.",
		calls + "20 --fail 1":                                                      "100 % of them fail. They fail for want of quota (",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			out, errs, status := runSimulate(t, strings.Fields(args)...)
			require.Zero(t, status, errs)
			require.Contains(t, strings.ReplaceAll(out, "\n", " "), want)
			require.True(t, strings.HasPrefix(out, "With "), "the answer comes first")
		})
	}
}
