//go:build !race

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateAnswersInSentences(t *testing.T) {
	t.Parallel()
	for args, want := range map[string][]string{
		"--limit 20 --offered 10": {
			"With the settings, 0 % of the calls fail, and 10.0 a second succeed of 10 that callers want.",
			"The retry quota never falls below 500 of 500 tokens, and a call waits 0 s on average.",
			"The retry quota starts to empty when 21.5 % of the attempts fail, or 32.1 % are throttled.",
		},
		"--limit 20 --offered 10 --vs max_attempts=5":                   {"With max_attempts=5, the calls fare the same."},
		"--limit 20 --offered 10 --vs max_attempts=5 --vs deadline=1ms": {"No other variant fares better: with max_attempts=5, the calls fare the same."},
		"--fail 1 --limit 20 --offered 0.5 --workers 1 --vs max_attempts=10,min_delay=10s,max_backoff=200s --vs v2.0": {
			"With max_attempts=10,min_delay=10s,max_backoff=200s, calls do not keep up: callers want 0.50 a second, and 0 end. At the end 1 waits, for 1.48 min.",
			"No other variant fares better: with v2.0, the calls fare the same.",
		},
		"--limit 20 --offered 10 --service dynamodb":  {"The defaults are those of the service dynamodb."},
		"--limit 20 --offered 10 --service dynamodbb": {"The service dynamodbb is not known, so the defaults are those that all services share."},
		"--phase 0s:workers=0 --seed 1":               {"With the settings, calls do not keep up: callers want 250 a second, and 0 end.\nWith the settings, no call"},
		"--seed 1 --offered 40 --vs timeout=1ms":      {"With timeout=1ms, 100 % of the calls fail instead of 0 %, and 0 % of all that callers want succeed within 5s instead of 100 %.\n"},
		"--latency 1h --vs v2.0": {
			"With the settings, no call has ended in the time that counts.",
			"The retry quota never falls below 500 of 500 tokens.",
			"With the other variants, no call has ended in the time that counts.",
		},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			out, errs, status := runSimulate(t, strings.Fields(args)...)
			require.Zero(t, status, errs)
			for _, sentence := range want {
				require.Contains(t, out, sentence)
			}
			require.True(t, strings.HasPrefix(out, "With "), "the answer comes first")
		})
	}
}
