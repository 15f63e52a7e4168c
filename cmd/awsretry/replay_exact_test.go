package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplayKeepsTheNanosecondsOfEpochTimes(t *testing.T) {
	t.Parallel()
	trace := `{"start_s": 1795300000.000000001, "operations": [
		{"start_s": 1795300000.000000003, "latency_s": 0.000000004, "responses": [{"status": 500}, {"status": 200}]}]}`
	out, errs, status := runReplay(t, strings.NewReader(trace), "replay", "--json", "-")
	require.Empty(t, errs)
	require.Zero(t, status)
	require.Contains(t, out, `"sent_at_s":[1795300000.000000003,1795300000.050000007],"send_wait_s":[0,0],"end_t_s":1795300000.050000011,`)
}

func TestReplayOfOutcomesAtEpochTimesIsThatOfTheSameOutcomesEarly(t *testing.T) {
	t.Parallel()
	rates := func(second string) string {
		out, errs, status := runReplay(t, strings.NewReader(strings.ReplaceAll(`{"start_s": S.000000000, "steps": [
			{"t_s": S.100000001, "throttled": true}, {"t_s": S.499999999}, {"t_s": S.999999999, "throttled": true}]}`, "S", second)),
			"replay", "--json", "-")
		require.Empty(t, errs)
		require.Zero(t, status)
		return out
	}
	// Half a second ends a window of the measured rate, and a nanosecond less does not.
	require.Equal(t, rates("4"), rates("1795300004"))
}
