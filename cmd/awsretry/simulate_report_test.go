//go:build !race

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateSaysThatTheReportCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "no-directory", "report.html"), t.TempDir()} {
		out, errs, status := runSimulate(t, "--trace", "testdata/traces/sequence.json", "-o", path)
		require.Equal(t, exitBad, status)
		require.Empty(t, out)
		require.Contains(t, errs, "awsretry simulate: -o: open "+path+": ")
		require.NotContains(t, errs, "shows the flags")
	}
}

// reported returns the text of a report without its tags.
func reported(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	_, errs, status := runSimulate(t, append(args, "-o", path)...)
	require.Zero(t, status, errs)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(text), " ")), " ")
}

func TestSimulateReportsWhatWasPlayed(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace.json")
	require.NoError(t, os.WriteFile(trace, []byte(`{"behavior": "v2.0",
		"given": {"service": "dynamodb", "initial_quota": 40, "quota_capacity": 50},
		"operations": [{"responses": [{"status": 500}, {"status": 500}]}, {"responses": [{"status": 200}, {"status": 200}]}]}`), 0o600))
	small := func(args ...string) []string { return append(args, "--limit", "20", "--offered", "1") }
	for name, c := range map[string]struct {
		args         []string
		want, absent string
	}{
		"the version of the command":   {small(), "Made by awsretry v0.0.0-test.", ""},
		"the default burst":            {[]string{"--limit", "7", "--offered", "1"}, "limit 7 requests a second, burst 7 ", ""},
		"the command without the file": {small("--o", os.DevNull, "--seed=3"), " awsretry simulate --seed=3 --limit 20 --offered 1 Settings", os.DevNull},
		"the outage":                   {small("--outage", "10s"), "outage 10.0 s, from second 30 ", ""},
		"shares that were asked for":   {small("--fail", "0.1..0.2"), "failing requests 10.0 %", " 25 % 1."},
		"nothing is retried":           {small("--vs", "max_attempts=1"), "max_attempts=1 — — — ", "drains at 100 %"},
		"beyond a trace":               {[]string{"--trace", trace, "--vs", "max_attempts=2"}, "settings, attempts beyond the trace 1; each gets what was recorded last", "max_attempts=2, attempts beyond"},
		"responses without an attempt": {[]string{"--trace", trace}, "settings, responses without an attempt 1", ""},
		"the service of a trace":       {[]string{"--trace", trace}, "service dynamodb trace " + trace, ""},
		"a flag before the trace":      {[]string{"--trace", trace, "--service", "s3"}, "service s3 option --service", "dynamodb trace"},
		"the trace before the default": {[]string{"--trace", trace}, "behavior v2.0 trace " + trace, ""},
		"a variant before the trace":   {[]string{"--trace", trace, "--vs", "v2.1"}, "behavior v2.0 trace " + trace + " v2.1 --vs v2.1", ""},
		"the quota of a trace":         {[]string{"--trace", trace}, "never falls below 30 of 50 tokens", ""},
		"a behavior for all":           {small("--behavior", "v2.0", "--vs", "adaptive"), "behavior v2.0 option --behavior same", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := reported(t, c.args...)
			require.Contains(t, text, c.want)
			if c.absent != "" {
				require.NotContains(t, text, c.absent)
			}
		})
	}
}

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
